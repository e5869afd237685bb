"""The gradient over observed cells: sparse, its numbers kept in both orders, or made anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import scipy.sparse as sp

from pygeco.arrays import host
from pygeco.engines import Cells
from pygeco.factors import Array
from pygeco.objectives.base import OfCells

if TYPE_CHECKING:
    from pygeco.objectives.entries import Entries


@dataclass(frozen=True, eq=False)
class EntriesGradient(OfCells):
    """The residuals in both orders, scaled when multiplied.

    A vector is rounded as the residuals are, so that more of it stays in the cache; sums are in
    float64.
    """

    objective: Entries
    by_row: Array
    by_col: Array
    scale: float
    value: float
    inner: float

    def matvec(self, x: Array) -> Array:
        return self.objective.engine.product(
            self.objective.by_row, self.by_row, self.scale, x.astype(self.by_row.dtype, copy=False)
        )

    def rmatvec(self, y: Array) -> Array:
        return self.objective.engine.product(
            self.objective.by_col, self.by_col, self.scale, y.astype(self.by_col.dtype, copy=False)
        )

    def matmat(self, X: Array) -> Array:
        return self.objective.engine.products(self.objective.by_row, self.by_row, self.scale, X)

    def rmatmat(self, Y: Array) -> Array:
        return self.objective.engine.products(self.objective.by_col, self.by_col, self.scale, Y)

    def to_sparse(self) -> sp.csr_array:
        cells = self.objective.by_row
        data, indices, pointers = (host(x) for x in (self.by_row, cells.indices, cells.pointers))
        return sp.csr_array((self.scale * data, indices, pointers), self.shape)


@dataclass(frozen=True, eq=False)
class FreshGradient(OfCells):
    """The residuals at left rightᵀ of the squared loss, made anew in every product.

    Nothing is kept for a cell; a product costs O(|E| s) instead of O(|E|).
    """

    objective: Entries
    left: Array
    right: Array
    scale: float
    value: float
    inner: float

    def matmat(self, X: Array) -> Array:
        return self._products(self.objective.by_row, self.left, self.right, X)

    def rmatmat(self, Y: Array) -> Array:
        return self._products(self.objective.by_col, self.right, self.left, Y)

    def _products(self, cells: Cells, P: Array, Q: Array, X: Array) -> Array:
        return cells.engine.fresh_products(cells, P, Q, self.scale, X).data
