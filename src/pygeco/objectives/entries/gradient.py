"""The gradient over observed cells: sparse, its numbers kept in both orders, in one, or in none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pygeco.arrays.kinds import ones, zeros
from pygeco.arrays.low_rank import Array
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
        x = self.check(False, x, 1).astype(self.by_row.dtype, copy=False)
        return self.objective.engine.product(self.objective.by_row, self.by_row, self.scale, x)

    def rmatvec(self, y: Array) -> Array:
        y = self.check(True, y, 1).astype(self.by_col.dtype, copy=False)
        return self.objective.engine.product(self.objective.by_col, self.by_col, self.scale, y)

    def matmat(self, X: Array) -> Array:
        X = self.check(False, X, 2)
        return self.objective.engine.products(self.objective.by_row, self.by_row, self.scale, X)

    def rmatmat(self, Y: Array) -> Array:
        Y = self.check(True, Y, 2)
        return self.objective.engine.products(self.objective.by_col, self.by_col, self.scale, Y)


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

    @cached_property
    def other(self) -> Array:
        return self.numbers(not self.columns, False).data

    def _product(self, columns: bool, x: Array) -> Array:
        x = self.check(columns, x, 1).astype(self.data.dtype, copy=False)
        engine, own = self.objective.engine, self.objective.cells(self.columns)
        if columns == self.columns:
            return engine.product(own, self.data, self.scale, x)
        return engine.transposed_product(own, self.data, self.scale, x, self.shape[columns])

    def _products(self, columns: bool, X: Array) -> Array:
        X = self.check(columns, X, 2)
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
        return self._products(False, self.left, self.right, X)

    def rmatmat(self, Y: Array) -> Array:
        return self._products(True, self.right, self.left, Y)

    def _products(self, columns: bool, P: Array, Q: Array, X: Array) -> Array:
        X, cells = self.check(columns, X, 2), self.objective.cells(columns)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(float)
        return cells.engine.fresh_products(cells, P, Q, self.scale, X).data


CellGradient = EntriesGradient | OneOrderGradient | FreshGradient


def gradient_of_squares(entries: Entries, left: Array, right: Array) -> CellGradient:
    """The gradient of the squared loss at left rightᵀ."""
    if not entries.lean:
        return keep_numbers(entries, residuals_at(entries, left, right), 2)
    found = sum_residuals(entries, left, right)
    scale, value = 2.0 / entries.total_weight, found.squares / entries.total_weight
    return FreshGradient(entries, left, right, scale, value, scale * found.inner)


def gradient_of_loss(entries: Entries, left: Array, right: Array) -> CellGradient:
    """The gradient of any loss at left rightᵀ and the offset of the cells."""

    def slopes(columns: bool, sums: bool) -> Slopes:
        wide = entries.append_offset(columns, *((right, left) if columns else (left, right)))
        return entries.engine.slopes(entries.cells(columns), entries.loss, *wide, sums=sums)

    G = keep_numbers(entries, slopes, 1)
    return G if entries.offset is None else leave_out(G, *entries.offset)


def leave_out(G: CellGradient, row: Array, col: Array) -> CellGradient:
    """G with `inner` = ⟨G, A⟩, where the pass saw A + row 1ᵀ + 1 colᵀ."""
    by_row, by_col = G.matvec(ones(len(col), col)), G.rmatvec(ones(len(row), row))
    return replace(G, inner=G.inner - (float(row @ by_row) + float(col @ by_col)))


def residuals_at(entries: Entries, left: Array, right: Array) -> Pass:
    """The residuals at left rightᵀ in either order."""

    def residuals(columns: bool, sums: bool) -> Residuals:
        P, Q = (right, left) if columns else (left, right)
        return entries.engine.residuals(entries.cells(columns), P, Q)

    return residuals


def sum_residuals(entries: Entries, left: Array, right: Array) -> Residuals:
    """The sums over the residuals at left rightᵀ, of which none is kept."""
    nothing = zeros((entries.shape[1], 0), right)
    return entries.engine.fresh_products(entries.by_row, left, right, 1.0, nothing)


def keep_numbers(
    entries: Entries, numbers: Pass, factor: int
) -> EntriesGradient | OneOrderGradient:
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
