"""The gradient over observed cells: sparse, its numbers kept in both orders, in one, or in none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import scipy.sparse as sp

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.engines import Cells
from pygeco.engines.values import Residuals, Slopes
from pygeco.objectives.base import OfCells

if TYPE_CHECKING:
    from pygeco.objectives.entries.objective import Entries

# Numbers of the cells by column (else by row), and two sums over them if the second is true.
Pass = Callable[[bool, bool], Residuals | Slopes]


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
class OneOrderGradient(OfCells):
    """The residuals in one order, by column where `columns`; products the other way are scattered.

    Products of several columns at once take the other order too, which is made for the first.
    """

    objective: Entries
    columns: bool
    data: Array
    numbers: Pass
    scale: float
    value: float
    inner: float

    def matvec(self, x: Array) -> Array:
        return self._product(False, x)

    def rmatvec(self, y: Array) -> Array:
        return self._product(True, y)

    def matmat(self, X: Array) -> Array:
        return self._products(False, X)

    def rmatmat(self, Y: Array) -> Array:
        return self._products(True, Y)

    def to_sparse(self) -> sp.csr_array:
        own = self.objective.cells(self.columns)
        kind = sp.csc_array if self.columns else sp.csr_array
        parts = (self.scale * self.data, own.indices, own.pointers)
        return sp.csr_array(kind(parts, self.shape))

    @cached_property
    def other(self) -> Array:
        return self.numbers(not self.columns, False).data

    def _product(self, columns: bool, x: Array) -> Array:
        x = x.astype(self.data.dtype, copy=False)
        engine, own = self.objective.engine, self.objective.cells(self.columns)
        if columns == self.columns:
            return engine.product(own, self.data, self.scale, x)
        return engine.transposed_product(own, self.data, self.scale, x, self.shape[columns])

    def _products(self, columns: bool, X: Array) -> Array:
        data = self.data if columns == self.columns else self.other
        cells = self.objective.cells(columns)
        return self.objective.engine.products(cells, data, self.scale, X)


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


CellGradient = EntriesGradient | OneOrderGradient | FreshGradient


def kept(entries: Entries, numbers: Pass, factor: int) -> EntriesGradient | OneOrderGradient:
    """The gradient factor / Σ w · S, S the numbers of a pass, in as few orders as are needed."""
    columns = entries.engine.order_that_serves(entries.by_row, entries.by_col)
    if columns is None:
        return in_both_orders(entries, numbers, factor)
    data, value, inner = numbers(columns, True)
    scale, value = factor / entries.total_weight, value / entries.total_weight
    return OneOrderGradient(entries, columns, data, numbers, scale, value, scale * inner)


def in_both_orders(entries: Entries, numbers: Pass, factor: int) -> EntriesGradient:
    rows, value, inner = numbers(False, True)
    cols = entries.engine.reorder_by_column(entries.by_row, entries.by_col, rows)
    if cols is None:
        cols = numbers(True, False).data
    scale, value = factor / entries.total_weight, value / entries.total_weight
    return EntriesGradient(entries, rows, cols, scale, value, scale * inner)
