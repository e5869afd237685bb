"""The gradient over a dense matrix, made again tile by tile in every product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pygeco.arrays.low_rank import Array
from pygeco.objectives.base import OfCells

if TYPE_CHECKING:
    from pygeco.objectives.dense.objective import Dense


@dataclass(frozen=True, eq=False)
class DenseGradient(OfCells):
    """∇R at left · rightᵀ. A product with k columns costs O(m n (s + k))."""

    objective: Dense
    left: Array
    right: Array
    value: float
    inner: float

    def matmat(self, X: Array) -> Array:
        X = self.check(False, X, 2)
        found = self.objective.lines(False, self.left, self.right, X)
        return found.sides / self.objective.total_weight

    def rmatmat(self, Y: Array) -> Array:
        Y = self.check(True, Y, 2)
        found = self.objective.lines(True, self.right, self.left, Y)
        return found.sides / self.objective.total_weight
