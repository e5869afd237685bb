"""Cells under every loss beside the same problem as dense arrays."""

import numpy as np
import pytest
import scipy.sparse as sp

from loss_cases import CASES, sample
from pygeco import Entries

EVERY = pytest.mark.parametrize("name", CASES)


def problem(name, shape=(9, 6), *, weights=True, offset=True, dtype=float, seed=0):
    """Entries with an empty row and column, and the same problem as dense arrays."""
    rng = np.random.default_rng(seed)
    seen = rng.random(shape) < 0.7
    seen[1], seen[:, 2] = False, False
    rows, cols = np.nonzero(seen)
    loss, _, y = sample(name, len(rows), seed)
    order = rng.permutation(len(rows))
    w = rng.uniform(0.5, 2, len(rows)) if weights else np.ones(len(rows))
    entries = Entries(
        rows[order],
        cols[order],
        y[order].astype(dtype),
        shape,
        loss=loss,
        sample_weight=w[order] if weights else None,
    )
    shift = np.zeros(shape)
    if offset:
        row, col = rng.standard_normal(shape[0]), rng.standard_normal(shape[1])
        shift = row[:, None] + col
        entries = entries.shift(row, col)
    return entries, Dense(loss, rows, cols, y, w, shift)


class Dense:
    """R(A) = Σ w ℓ(A + shift, y) / Σ w on a dense A."""

    def __init__(self, loss, rows, cols, y, w, shift):
        self.loss, self.at, self.y, self.w, self.shift = loss, (rows, cols), y, w, shift

    def value(self, A):
        z = (A + self.shift)[self.at]
        return np.sum(self.w * self.loss.value(z, self.y)) / self.w.sum()

    def gradient(self, A):
        z = (A + self.shift)[self.at]
        G = np.zeros_like(A)
        G[self.at] = self.w * self.loss.slope(z, self.y) / self.w.sum()
        return G

    def curvature(self, A, U, V):
        """Σ w ℓ″ vec(u vᵀ) vec(u vᵀ)ᵀ / Σ w."""
        z = (A + self.shift)[self.at]
        h = self.w * self.loss.stiffness(z, self.y) / self.w.sum()
        pairs = np.einsum("ek,ep->ekp", U[self.at[0]], V[self.at[1]]).reshape(len(h), -1)
        return (pairs * h[:, None]).T @ pairs


SHAPES = pytest.mark.parametrize("shape", [(9, 6), (5, 8)])


def sparse(seed: int = 0, dtype: type = np.float32, form: str = "csr") -> sp.sparray:
    rng = np.random.default_rng(seed)
    X = sp.random_array((37, 23), density=0.3, rng=rng, dtype=float).astype(dtype)
    return X.asformat(form)
