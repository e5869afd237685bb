"""Observed cells in both orders, with a loss, and other sets made of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.checks import check_factors, check_offset
from pygeco.arrays.coded import Coded
from pygeco.arrays.grouped import group_work
from pygeco.arrays.kinds import full, on, runs, scaled, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.engines import Cells, Engine
from pygeco.engines.columns import device_steps_of
from pygeco.losses import Loss, Squared
from pygeco.losses.weighted_squares import Weighing

Product = Callable[[Array], Array]


def append_offsets(P: Array, Q: Array, own: Array, other: Array) -> tuple[Array, Array]:
    """P and Q with two more columns each, so that ⟨P_i, Q_j⟩ grows by own_i + other_j."""
    steps = device_steps_of(P)
    return steps.append_columns(P, own, None), steps.append_columns(Q, None, other)


def measure_residuals(cells: Cells, P: Array, Q: Array) -> Array:
    """⟨P_i, Q_j⟩ − y of each cell, whatever its weight."""
    return cells.engine.residuals(cells._replace(weights=cells.weights[:0]), P, Q).data


def multiply_weights(cells: Cells, weights: Array) -> Cells:
    """The cells with their weights multiplied by these."""
    weights = weights * cells.weights if len(cells.weights) else weights
    return cells._replace(weights=weights.astype(cells.values.dtype))


def _standardize(values: Any, mean: float, scale: float, dtype: type) -> Any:
    """(y − mean) / scale in another precision; codes stay, and their table changes."""
    if isinstance(values, Coded):
        return ((values.astype(float) - mean) / scale).astype(dtype)
    out: Array = np.empty_like(values, dtype=dtype)
    for part in runs(values):
        out[part] = (values[part].astype(float) - mean) / scale
    return out


class CellViews:
    """The cells of an m × n matrix by row and by column; what gives others shares their indices."""

    shape: tuple[int, int]
    by_row: Cells
    by_col: Cells
    loss: Loss
    offset: tuple[Array, Array] | None
    total_weight: float

    @property
    def engine(self) -> Engine:
        """Where the passes over the cells run."""
        return self.by_row.engine

    @property
    def kind(self) -> Array:
        """An array of the kind that the passes take."""
        return self.engine.kind

    @property
    def size(self) -> int:
        """|E|, the number of observed cells."""
        return self.by_row.size

    @property
    def squared(self) -> bool:
        """Whether the loss is the squared one, which has passes and a core of its own."""
        return isinstance(self.loss, Squared)

    @property
    def weighted(self) -> bool:
        return len(self.by_row.weights) > 0

    @property
    def weights(self) -> Array | None:
        """The weights of the cells, row by row; None where each counts once."""
        return self.by_row.weights if self.weighted else None

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.by_row.values.dtype

    def _changed(self) -> Self:
        """A copy that is about to get other values, weights or another loss."""
        other = copy.copy(self)
        other.__dict__.pop("value_at_zero", None)
        return other

    def _moved(self) -> Self:
        """A copy that is about to get other cells."""
        other = self._changed()
        other.__dict__.pop("islands", None)
        return other

    def counts(self) -> tuple[Array, Array]:
        """The number of observed cells in each row and in each column."""
        return self.by_row.counts().astype(float), self.by_col.counts().astype(float)

    def rows(self) -> NDArray[np.int32]:
        """The row of each cell, row by row."""
        return self.by_row.owners()

    def cells(self, columns: bool) -> Cells:
        """The cells grouped by column, or by row."""
        return self.by_col if columns else self.by_row

    def append_offset(self, columns: bool, P: Array, Q: Array) -> tuple[Array, Array]:
        """P and Q with the offset as two more columns; P goes with the columns, else the rows."""
        if self.offset is None:
            return P, Q
        return append_offsets(P, Q, *(self.offset[::-1] if columns else self.offset))

    def moments(self, center: float = 0.0) -> tuple[float, float]:
        """Σ w (y − center) and Σ w (y − center)², in float64."""
        first, second = 0.0, 0.0
        cells = self.by_row
        values: Any = cells.values
        if isinstance(values, Coded) and not self.weighted:
            y = values.table.astype(float) - center
            wy = values.counts * y
            return float(wy.sum()), float(np.dot(wy, y))
        for part in runs(cells.values):
            y = cells.values[part].astype(float)
            y -= center
            wy = y * cells.weights[part] if len(cells.weights) else y
            first += float(wy.sum())
            second += float(np.dot(wy, y))
        return first, second

    def group_moments(self, columns: bool, Q: Array) -> tuple[Array, Array]:
        """Σ w q qᵀ and Σ w y q of each column (else row), q the rows of Q that its cells have."""
        return self.engine.moments(self.cells(columns), Q)

    def cross_moments(self, columns: bool, Q: Array, q: Array) -> Array:
        """What another column q of Q adds to those Grams: Σ w q_i Q_i of each column (else row)."""
        return self.engine.cross_grams(self.cells(columns), Q, q)

    def target_products(self, flipped: bool) -> tuple[Product, Product]:
        """Y ↦ S y and x ↦ Sᵀ x for the weighted targets S (Sᵀ and S when flipped)."""

        def through(cells: Cells) -> Product:
            # In float64: rounded to float32, the core would miss the minimum by as much.
            w = cells.weights
            data = cells.values * w.astype(float) if len(w) else cells.values[:]
            return lambda x: self.engine.product(cells, data, 1.0, x)

        pair = through(self.by_row), through(self.by_col)
        return pair[::-1] if flipped else pair

    def shift(self, row: Array, col: Array) -> Self:
        """A ↦ R(A + row 1ᵀ + 1 colᵀ): the same cells seen from an offset, the indices shared."""
        check_offset(row, col, self.shape)
        moved = self._changed()
        if not self.squared:
            old = self.offset or (0.0, 0.0)
            moved.offset = (old[0] + row, old[1] + col)
            return moved
        nothing = zeros((len(row), 0), row), zeros((len(col), 0), col)
        left, right = append_offsets(*nothing, row, col)
        for name, P, Q in (("by_row", left, right), ("by_col", right, left)):
            cells: Cells = getattr(self, name)
            setattr(moved, name, cells._replace(values=-measure_residuals(cells, P, Q)))
        return moved

    def subtract(self, moves: Array, by_column: NDArray[np.integer]) -> Self:
        """The cells less a number each, given row by row; `by_column` orders them by column."""
        moved = self._changed()
        for name, own in (("by_row", moves), ("by_col", group_work().take(moves, by_column))):
            cells: Cells = getattr(self, name)
            less = on(own.astype(cells.values.dtype), cells.values)
            setattr(moved, name, cells._replace(values=cells.values - less))
        return moved

    def standardize(self, mean: float, scale: float, dtype: type) -> Self:
        """The same cells with (y − mean) / scale as targets, in another precision."""
        other = self._changed()
        for name in ("by_row", "by_col"):
            cells: Cells = getattr(self, name)
            values = _standardize(cells.values, mean, scale, dtype)
            setattr(other, name, cells._replace(values=values, weights=cells.weights.astype(dtype)))
        return other

    def scale_weights(self, factor: float) -> Self:
        """The same cells, all weights times a factor, where they have some."""
        if not self.weighted or factor == 1:
            return self
        other = self._changed()
        for name in ("by_row", "by_col"):
            cells: Cells = getattr(self, name)
            weights = (factor * cells.weights.astype(float)).astype(cells.weights.dtype)
            setattr(other, name, cells._replace(weights=weights))
        other.total_weight = factor * self.total_weight
        return other

    def subset(self, mask: NDArray[np.bool_]) -> Self:
        """Keep only the cells under a mask, which lists the cells row by row."""
        part = self._moved()
        cells = self.by_row
        mask = on(mask, cells.values)
        rows = self.rows()[mask]
        weights = cells.weights[mask] if len(cells.weights) else None
        part.by_row, part.by_col = self.engine.both_orders(
            rows, cells.indices[mask], cells.values[mask], weights, self.shape
        )
        w = part.by_row.weights
        part.total_weight = float(w.sum(dtype=float)) if len(w) else float(part.size)
        return part

    @property
    def T(self) -> Self:
        """The transposed matrix: the same cells, rows and columns exchanged."""
        other = self._moved()
        other.by_row, other.by_col, other.shape = self.by_col, self.by_row, self.shape[::-1]
        other.offset = None if self.offset is None else self.offset[::-1]
        return other

    def within(self, shape: tuple[int, int]) -> Self:
        """The same cells in a matrix with more rows or columns, which are empty."""
        if shape[0] < self.shape[0] or shape[1] < self.shape[1]:
            raise ValueError(f"shape: {shape} has no room for the cells of {self.shape}.")
        part = self._moved()
        cells = self.by_row
        part.shape = shape
        part.by_row, part.by_col = self.engine.both_orders(
            self.rows(),
            cells.indices,
            cells.values,
            cells.weights if len(cells.weights) else None,
            shape,
        )
        return part

    def take_rows(self, rows: NDArray[Any]) -> Self:
        """These rows alone, in this order; all columns stay."""
        part = self._moved()
        place = full(self.shape[0], -1, self.by_row.indices, np.int32)
        place[on(rows, place)] = np.arange(len(rows), dtype=np.int32, like=place)
        where = place[self.rows()]
        mask, cells = where >= 0, self.by_row
        weights = cells.weights[mask] if len(cells.weights) else None
        part.shape = (len(rows), self.shape[1])
        part.by_row, part.by_col = self.engine.both_orders(
            where[mask], cells.indices[mask], cells.values[mask], weights, part.shape
        )
        return part

    def reweigh(self, A: LowRank, row: Array, col: Array, given: Loss) -> tuple[Self, Weighing]:
        """Weighted squares in place of a robust loss, about z = A + row 1ᵀ + 1 colᵀ.

        The cells together count for as much as before.
        """
        check_factors(A, self.shape)
        check_offset(row, col, self.shape)
        left, right = append_offsets(scaled(A.U, A.s), A.V, row, col)
        other, weighing = self.with_loss(Squared()), None
        for name, P, Q in (("by_row", left, right), ("by_col", right, left)):
            cells: Cells = getattr(self, name)
            x = measure_residuals(cells, P, Q)
            if weighing is None:
                weighing = Weighing.settled(given, x, self.weights)
                total = float(multiply_weights(cells, weighing.weights(x)).weights.sum(dtype=float))
                weighing = weighing._replace(mean=total / self.total_weight)
            setattr(other, name, multiply_weights(cells, weighing.weights(x)))
        assert weighing is not None
        return other, weighing

    def with_loss(self, loss: Loss) -> Self:
        """The same cells and targets under another loss."""
        other = self._changed()
        other.loss = loss
        return other
