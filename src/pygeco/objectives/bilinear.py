"""Measurements by pairs of vectors, zᵢ = lᵢᵀ A rᵢ, seen from two spans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives import validation
from pygeco.objectives.measured import Product
from pygeco.objectives.risk import Curvature

ROWS_AT_ONCE = 8192  # of the design, formed together


def measure(left: validation.Matrix, right: validation.Matrix, A: LowRank) -> Array:
    """Zᵢ = lᵢᵀ A rᵢ, (N, 1). O(N (m + n) s)."""
    return np.sum((left @ (A.U * A.s)) * (right @ A.V), axis=1, keepdims=True)


def pull(left: validation.Matrix, right: validation.Matrix, g: Array) -> tuple[Product, Product]:
    """Products with Σ gᵢ lᵢ rᵢᵀ and its transpose, O(N (m + n)) a column."""

    def through(first: validation.Matrix, last: validation.Matrix) -> Product:
        def product(x: Array) -> Array:
            out = last.T @ (g * (first @ (x if x.ndim == 2 else x[:, None])))
            return out if x.ndim == 2 else out[:, 0]

        return product

    return through(right, left), through(left, right)


def reach(left: validation.Matrix, right: validation.Matrix, weights: Array) -> float:
    """Σ wᵢ(lᵢᵀ A rᵢ)² ≤ Σ wᵢ‖lᵢ‖²‖A rᵢ‖² ≤ σ₁(diag(√w ‖l‖) R)² ‖A‖²_F, or the other way round."""

    def one(first: validation.Matrix, last: validation.Matrix) -> float:
        norms = np.asarray((first * first).sum(axis=1)).reshape(-1, 1)
        return validation.find_top_square(validation.scale_rows(np.sqrt(weights * norms), last))

    return one(left, right) if left is right else min(one(left, right), one(right, left))


@dataclass(frozen=True, eq=False)
class BilinearFrame:
    """zᵢ = pᵢᵀ B qᵢ with P = L U (N, s) and Q = R V (N, t)."""

    left: validation.Matrix
    right: validation.Matrix
    P: Array
    Q: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.P.shape[1], self.Q.shape[1]

    def append(self, u: Array, v: Array) -> Self:
        return replace(
            self,
            P=np.column_stack([self.P, self.left @ u]),
            Q=np.column_stack([self.Q, self.right @ v]),
        )

    def rotate(self, P: Array, Q: Array) -> Self:
        return replace(self, P=self.P @ P, Q=self.Q @ Q)

    def forward(self, B: Array) -> Array:
        return np.sum((self.P @ B) * self.Q, axis=1, keepdims=True)

    def adjoint(self, g: Array) -> Array:
        return self.P.T @ (g * self.Q)

    def pack(self, B: Array) -> Array:
        return B.reshape(-1)

    def unpack(self, x: Array) -> Array:
        return x.reshape(self.shape)

    def design(self, rows: slice) -> Array:
        """The derivative of these rows of z in the free coordinates of B."""
        P, Q = self.P[rows], self.Q[rows]
        return (P[:, :, None] * Q[:, None, :]).reshape(len(P), -1)

    def gram(self, H: Curvature) -> Array:
        """Σ hᵢ (pᵢpᵢᵀ) ⊗ (qᵢqᵢᵀ). O(N s² t²), in blocks of rows."""
        M: Array = np.zeros(())
        for at in range(0, len(self.P), ROWS_AT_ONCE):
            part = slice(at, at + ROWS_AT_ONCE)
            D = self.design(part)
            M = M + D.T @ (H.diagonal[part] * D)
        return M
