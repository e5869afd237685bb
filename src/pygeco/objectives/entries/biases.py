"""Offsets μ + b_i + c_j of observed cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import HOST, full, on, ones, zeros
from pygeco.arrays.low_rank import Array
from pygeco.arrays.newton import descend
from pygeco.arrays.short_repr import show_fields
from pygeco.engines import Cells
from pygeco.losses import Loss, Squared, robust_scale
from pygeco.objectives.entries.objective import Entries
from pygeco.objectives.entries.row_newton import minimize_side

PARTS = ("global", "row", "column")
MAX_ROUNDS = 100  # of the parts in turn
MIN_MOVE_SHARE = 1e-9  # a move of offsets, as a share of the data's spread, that ends their rounds


@dataclass(frozen=True, eq=False)
class Biases:
    """μ, b (m,) and c (n,); zero where switched off or without any observation."""

    mean: float
    row: Array
    col: Array

    def __repr__(self) -> str:
        return show_fields(self)

    @classmethod
    def none(cls, shape: tuple[int, int], like: Array = HOST) -> Biases:
        return cls(0.0, zeros(shape[0], like), zeros(shape[1], like))

    @property
    def T(self) -> Biases:
        """Those of the transposed matrix."""
        return Biases(self.mean, self.col, self.row)

    def at(self, rows: NDArray[Any], cols: NDArray[Any]) -> Array:
        return self.mean + self.row[on(rows, self.row)] + self.col[on(cols, self.col)]


def read_parts(biases: bool | str | tuple[str, ...]) -> tuple[str, ...]:
    """The switched-on parts: True is all, False none, else a name or several."""
    if isinstance(biases, (bool, np.bool_)):
        return PARTS if biases else ()
    is_one = isinstance(biases, str) or not isinstance(biases, Iterable)
    chosen: tuple[Any, ...] = (biases,) if is_one else tuple(biases)
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        raise ValueError(
            f"biases: unknown part {unknown[0]!r}; use True, False or some of {PARTS}."
        )
    return chosen


def fit_biases(entries: Entries, chosen: tuple[str, ...]) -> Biases:
    """Argmin Σ w ℓ(μ + b_i + c_j, y), the parts in turn until they rest. O(|E|) a round."""
    if not entries.squared:
        return _by_loss(entries, chosen)
    biases = Biases.none(entries.shape, entries.kind)
    by_row, by_col = entries.by_row, entries.by_col
    middle = entries.moments()[0] / entries.total_weight
    if "global" in chosen:
        biases = replace(biases, mean=middle)
    # No more than rounding allows: beside a large offset, that is all that moves in the end.
    away = np.abs(by_row.values.astype(float) - middle).max()
    least = max(MIN_MOVE_SHARE * float(away), 4 * np.finfo(float).eps * abs(middle), 1e-300)
    for _ in range(MAX_ROUNDS):
        before = biases
        if "column" in chosen:
            biases = replace(biases, col=_means(by_col, biases.mean, biases.row))
        if "row" in chosen:
            biases = replace(biases, row=_means(by_row, biases.mean, biases.col))
        moved = float(np.abs(biases.row - before.row).max() + np.abs(biases.col - before.col).max())
        if len(chosen) < 2 or moved <= least:
            break
    return biases


def settle_scale(entries: Entries, loss: Loss) -> Entries:
    """The entries under `loss` with its scale, where it leaves one open, taken from residuals.

    They are the residuals of the row and column means, or the values about their median where
    those spread less: gross outliers spoil means.
    """
    y, w = entries.by_row.values, entries.weights
    if not loss.regression or loss.fitted(y) is loss:
        return entries
    plain = entries.with_loss(Squared())
    biases = fit_biases(plain, PARTS)
    left = plain.shift(biases.mean + biases.row, biases.col).by_row.values
    smaller = left if 0 < robust_scale(left, w) < robust_scale(y, w) else y
    return entries.with_loss(loss.fitted(y, smaller, w))


def _by_loss(entries: Entries, chosen: tuple[str, ...]) -> Biases:
    """The parts by Newton steps on the loss itself.

    Where z is not on the scale of y (a logit, a logarithm), b and c have a standard normal prior:
    a row with one label only would send its offset to infinity.
    """
    regression = entries.loss.regression
    start = fit_biases(entries.with_loss(Squared()), chosen if regression else ())
    mean = _constant(entries) if "global" in chosen else 0.0
    row, col = start.row, start.col
    ridge = 0.0 if regression else 0.5
    middle = entries.moments()[0] / entries.total_weight
    variance = entries.moments(middle)[1] / entries.total_weight if regression else 1.0

    def side(start: Array, other: Array, columns: bool) -> Array:
        shift = (mean + other, 0 * start) if columns else (mean + 0 * start, other)
        here, constant = entries.shift(*shift), ones((len(other), 1), other)
        found = minimize_side(here, start[:, None], constant, columns=columns, ridge=ridge, steps=2)
        return found[:, 0]

    for _ in range(MAX_ROUNDS):
        before = row, col
        if "column" in chosen:
            col = side(col, row, True)
        if "row" in chosen:
            row = side(row, col, False)
        # The change of a prediction, root mean square over the cells.
        moved = float(entries.by_row.counts() @ (row - before[0]) ** 2)
        moved += float(entries.by_col.counts() @ (col - before[1]) ** 2)
        if moved <= MIN_MOVE_SHARE * variance * entries.size:
            break
    return Biases(mean, row, col)


def _constant(entries: Entries) -> float:
    """Argmin_μ Σ w ℓ(μ, y)."""
    m, n = entries.shape
    like = entries.kind
    constant = ones((n, 1), like)

    def value(mu: Array) -> float:
        return entries.total_loss(False, full((m, 1), mu[0], like), constant)

    def newton(mu: Array) -> tuple[Array, float]:
        found = entries.systems(False, full((m, 1), mu[0], like), constant)
        slope, bend = float(found.sides.sum()), float(found.grams.sum())
        step = np.array([-slope / bend if bend > 0 else 0.0])
        return step, -float(slope * step[0])

    return float(descend(value, newton, np.zeros(1), 50)[0][0])


def _means(cells: Cells, mean: float, other: Array) -> Array:
    """The weighted mean of y − μ − other over each group; zero for an empty group."""
    constant = ones(len(other), other)
    w = cells.weights if len(cells.weights) else np.ones_like(cells.values)
    left = cells.values.astype(float) - mean
    total, count, shift = (
        cells.engine.product(cells, data, 1.0, x)
        for data, x in ((left * w, constant), (w, constant), (w, other))
    )
    some = count > 0
    return np.where(some, (total - shift) / np.where(some, count, 1.0), 0.0)
