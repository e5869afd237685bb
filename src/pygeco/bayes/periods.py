"""Time cut into periods, and the cells of a fit by line (a row or a column) and period.

A side has up to three ladders of periods. Their lengths follow from the data: as long as it takes
for a line to have 3, 10 and 30 cells in each on average, which is a minute, ten minutes and a day
for the users of MovieLens, and weeks to months for its films. The evidence says which of them
matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.objectives.entries.cell_views import CellViews

CELLS_PER_PERIOD = (3.0, 10.0, 30.0)  # of a line, on average
MIN_PERIODS_PER_LINE = 2.0  # on average; with fewer the offset of the line says much the same
SEARCH_STEPS = 15  # halvings of the logarithm of a width, from the whole span to a 10⁻⁹ of it: to 0.1 %
SMALLEST_SHARE = 1e-9  # of the span: times that are closer are one
NO_PERIOD = -1  # of a time that is not known
MAX_NUMBER = 1 << 40  # of a period, so that line and period fit one integer
SIDES = ("row", "column")


class Periods(NamedTuple):
    """Time cut into pieces of one width, for the lines of one side."""

    side: str
    origin: float
    width: float

    def number(self, times: Array) -> NDArray[np.int64]:
        """The period of each time, from 0 on; −1 before the first, or where there is no time."""
        given = np.asarray(times, dtype=float)
        with np.errstate(invalid="ignore"):
            found = np.floor((given - self.origin) / self.width)
        found = np.where(np.isfinite(found), found, NO_PERIOD)
        return np.clip(found, NO_PERIOD, MAX_NUMBER).astype(np.int64)


class PeriodGroups(NamedTuple):
    """The pairs (line, period) that have cells, ascending, and the pair of each cell, row by row.

    `sizes` are the weights of the cells of a pair, summed.
    """

    periods: Periods
    lines: NDArray[np.int64]
    numbers: NDArray[np.int64]
    codes: NDArray[np.int64]
    sizes: Array

    def sum_cells(self, values: Array) -> Array:
        """Sums of a value of each cell over the pairs."""
        return np.bincount(self.codes, values, minlength=len(self.sizes)).astype(float)


class CellPeriods(NamedTuple):
    """What the times of cells say: all ladders of periods, and the last time of all.

    `by_column` are the places of the cells, counted row by row, in the order column by column.
    """

    groups: tuple[PeriodGroups, ...]
    by_column: NDArray[np.int64]
    latest: float

    def match(self, kept: Sequence[Periods]) -> CellPeriods:
        """With these periods alone."""
        return self._replace(groups=tuple(g for g in self.groups if g.periods in kept))


def cut_times(entries: CellViews, times: Array, count: int | None = None) -> CellPeriods | None:
    """The periods of cells whose times are given row by row; None where all are of one period.

    With a `count`, each side has so many periods of one width, else those that the data suggest.
    """
    cells = entries.by_row
    weights = host(cells.weights).astype(float) if len(cells.weights) else None
    columns = host(cells.indices).astype(np.int64)
    sides = host(entries.rows()).astype(np.int64), columns
    origin, latest = float(np.min(times)), float(np.max(times))
    groups = []
    for side, lines in zip(SIDES, sides, strict=True):
        span = latest - origin
        widths = choose_widths(lines, times) if count is None else [span / count * (1 + 1e-9)]
        for width in widths if span > 0 else []:
            groups.append(group_cells(Periods(side, origin, width), lines, times, weights))
    if not groups:
        return None
    return CellPeriods(tuple(groups), np.argsort(columns, kind="stable"), latest)


def choose_widths(
    lines: NDArray[np.int64], times: Array, sizes: Sequence[float] = CELLS_PER_PERIOD
) -> list[float]:
    """Widths of periods in which a line has so many cells on average, where it has as many."""
    order = np.lexsort((times, lines))
    of_line, ascending = lines[order], times[order] - times.min()
    span = float(ascending.max(initial=0.0))
    if span <= 0:
        return []
    is_first = of_line[1:] != of_line[:-1]

    def count(width: float) -> int:
        number = np.floor(ascending / width)
        return 1 + int(np.count_nonzero(is_first | (number[1:] != number[:-1])))

    least = MIN_PERIODS_PER_LINE * (1 + int(np.count_nonzero(is_first)))
    widths: list[float] = []
    counts: list[int] = []
    for size in sizes:
        width = _find_width(count, len(lines) / size, span)
        found = count(width)
        if found >= least and found not in counts:
            widths.append(width)
            counts.append(found)
    return widths


def _find_width(count: Callable[[float], int], wanted: float, span: float) -> float:
    """The largest width with at least so many pairs, by halving; the smallest where none has."""
    low, high = np.log(SMALLEST_SHARE * span), np.log(span)
    for _ in range(SEARCH_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if count(float(np.exp(middle))) >= wanted else (low, middle)
    return float(np.exp(low))


def group_cells(
    periods: Periods, lines: NDArray[np.int64], times: Array, weights: Array | None = None
) -> PeriodGroups:
    """The pairs of line and period of cells."""
    numbers = periods.number(times)
    base = int(numbers.max(initial=0)) + 2
    keys, codes = np.unique(lines * base + numbers + 1, return_inverse=True)
    sizes = np.bincount(codes, weights, minlength=len(keys)).astype(float)
    return PeriodGroups(periods, keys // base, keys % base - 1, codes.reshape(-1), sizes)


def find_pairs(
    known: tuple[NDArray[np.int64], NDArray[np.int64]],
    lines: NDArray[Any],
    numbers: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Where pairs (line, period) are among known ones, which ascend; −1 where they are not."""
    base = int(known[1].max(initial=0)) + 2
    keys = known[0] * base + known[1] + 1
    asked = np.asarray(lines, dtype=np.int64) * base + numbers + 1
    possible = (np.asarray(lines) >= 0) & (numbers >= 0) & (numbers < base - 1)
    if not len(keys):
        return np.full(np.shape(asked), -1, np.int64)
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(possible & (keys[at] == asked), at, -1)


def order_times(entries: CellViews, rows: NDArray[Any], cols: NDArray[Any], times: Array) -> Array:
    """The times of the cells of `entries`, row by row, from times of cells in any order.

    Of a cell that is given more than once the last time counts.
    """
    width = np.int64(entries.shape[1])
    given = np.asarray(rows, dtype=np.int64) * width + np.asarray(cols, dtype=np.int64)
    order = np.argsort(given, kind="stable")
    wanted = host(entries.rows()).astype(np.int64) * width + host(entries.by_row.indices)
    return np.asarray(times, dtype=float)[order][np.searchsorted(given[order], wanted, "right") - 1]
