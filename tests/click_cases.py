"""Clicks beside the same in dense arrays: every cell with its weight, target and background."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pygeco import Clicks


@dataclass(frozen=True, eq=False)
class Case:
    """W and Y are zero where there is no click; B is α ρ κᵀ."""

    objective: Clicks
    W: np.ndarray
    Y: np.ndarray
    B: np.ndarray

    def value(self, A) -> float:
        return float(np.sum(self.W * (A - self.Y) ** 2 + self.B * A * A) / self.W.sum())

    def gradient(self, A) -> np.ndarray:
        return 2 * (self.W * (A - self.Y) + self.B * A) / self.W.sum()

    def solve_columns(self, U, ridge) -> np.ndarray:
        """argmin over V of value(U Vᵀ) + Σ ridge_j ‖v_j‖², a column at a time."""
        ridge = np.broadcast_to(ridge, self.W.shape[1]) * self.W.sum()
        rows = []
        for w, y, b, r in zip(self.W.T, self.Y.T, self.B.T, ridge, strict=True):
            M = (U.T * (w + b)) @ U + r * np.eye(U.shape[1])
            rows.append(np.linalg.lstsq(M, U.T @ (w * y))[0])
        return np.array(rows)

    @property
    def T(self) -> Case:
        return Case(self.objective, self.W.T, self.Y.T, self.B.T)


def clicks(shape=(14, 9), share=0.4, seed=0, *, alpha=0.3, powers=(0.0, 0.0), plain=False, **more):
    """Random clicks, with a row and a column that have none."""
    rng = np.random.default_rng(seed)
    seen = rng.random(shape) < share
    seen[3], seen[:, 2], seen[0, 0] = False, False, True
    W = np.where(seen, 1.0 if plain else rng.uniform(0.2, 3.0, shape), 0.0)
    Y = np.where(seen, 1.0 if plain else rng.uniform(0.5, 2.0, shape), 0.0)
    i, j = np.nonzero(seen)
    objective = Clicks(
        sp.csr_array((W[i, j], (i, j)), shape),
        background=alpha,
        row_power=powers[0],
        column_power=powers[1],
        targets=1 if plain else Y[i, j],
        **more,
    )
    rho, kappa = (
        np.maximum(seen.sum(axis=axis), 1.0) ** power
        for axis, power in ((1, powers[0]), (0, powers[1]))
    )
    B = alpha * np.outer(rho / rho.mean(), kappa / kappa.mean())
    return Case(objective, W, Y, B)
