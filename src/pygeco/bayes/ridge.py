"""Ridge regression on groups of attributes, for many right sides at once.

The unknowns are one array (F_g, k) for each group g of attributes; they may be of different kinds,
as the other side of a matrix on a cluster and a table on this machine are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pygeco.arrays.kinds import host, on
from pygeco.arrays.low_rank import Array
from pygeco.arrays.operators import Operator

PATTERN, TABLE = "pattern", "table"  # sources of groups: the known cells, or what was given
Blocks = tuple[Array, ...]  # one array (F_g, k) a group


class RidgeGroup(NamedTuple):
    """Attributes of one source: X (m, F), centered, zero where nothing is known of a row.

    `mean` is what was subtracted from each attribute, `diagonal` that of XᵀX over rows with data.
    A group that `stays` is not dropped, whatever it says.
    """

    name: str
    source: str
    X: Operator
    diagonal: Array
    mean: Array
    stays: bool = False

    @property
    def size(self) -> int:
        return self.X.shape[1]


def multiply(groups: Sequence[RidgeGroup], B: Blocks) -> Array:
    """Σ_g X_g B_g, (m, k)."""
    first, *rest = (group.X.matmat(b) for group, b in zip(groups, B, strict=True))
    for part in rest:
        first = first + part
    return first


def multiply_transposed(groups: Sequence[RidgeGroup], Y: Array) -> Blocks:
    """X_gᵀ Y of each group."""
    return tuple(group.X.rmatmat(Y) for group in groups)


def solve_ridge(
    groups: Sequence[RidgeGroup],
    weights: Sequence[float],
    right: Blocks,
    start: Blocks,
    *,
    there: Array,
    tolerance: float,
    max_iter: int = 30,
) -> Blocks:
    """(XᵀDX + diag(λ))⁻¹ times the right sides, by conjugate gradients from `start`.

    D is the diagonal `there` (m, 1): one for rows with data, else zero; or weights of the rows.

    Each column is preconditioned by the diagonal, and all are stepped together until the largest
    residual, by that measure, has fallen to `tolerance` of its right side. O(|X| k) a step.
    """
    scale = tuple(
        (1.0 / (group.diagonal + weight)).astype(np.float32)[:, None]
        for group, weight in zip(groups, weights, strict=True)
    )

    def apply(P: Blocks) -> Blocks:
        found = multiply_transposed(groups, there * multiply(groups, P))
        pairs = zip(found, P, weights, strict=True)
        return tuple((q + weight * p).astype(np.float32) for q, p, weight in pairs)

    def step(X: Blocks, sizes: Array, P: Blocks) -> Blocks:
        return tuple(x + on(sizes.astype(np.float32), p) * p for x, p in zip(X, P, strict=True))

    goal = tolerance**2 * _dot_columns(right, tuple(map(np.multiply, scale, right)))
    x: Blocks = start
    r: Blocks = tuple(b - a for b, a in zip(right, apply(x), strict=True))
    z: Blocks = tuple(map(np.multiply, scale, r))
    p, size = z, _dot_columns(r, z)
    for _ in range(max_iter):
        if np.all(size <= goal):
            break
        q = apply(p)
        length = size / np.maximum(_dot_columns(p, q), 1e-30)
        x, r = step(x, length, p), step(r, -length, q)
        z = tuple(map(np.multiply, scale, r))
        before, size = size, _dot_columns(r, z)
        p = step(z, size / np.maximum(before, 1e-30), p)
    return x


def _dot_columns(P: Blocks, Q: Blocks) -> Array:
    """Σ_g diag(P_gᵀ Q_g), on the host."""
    pairs = zip(P, Q, strict=True)
    return sum((host(np.sum(p * q, axis=0, dtype=float)) for p, q in pairs), np.zeros(1))
