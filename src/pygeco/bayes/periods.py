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
import scipy  # its parts are imported when used
from numpy.typing import NDArray

from pygeco.arrays.grouped import Places, cut_lines, group_work
from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.objectives.entries.cell_views import CellViews

CELLS_PER_PERIOD = (3.0, 10.0, 30.0)  # of a line, on average
MIN_PERIODS_PER_LINE = 2.0  # on average; with fewer the offset of the line says much the same
# Halvings of the logarithm of a width, from the whole span to a 10⁻⁹ of it: to 0.1 %.
SEARCH_STEPS = 15
# Widths are chosen on all lines or, from twice so many cells on, on every second, third, … line.
MAX_SEARCHED_CELLS = 1 << 20
MIN_SEARCHED_LINES = 1000
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
    """The pairs (line, period) that have cells, ascending, and the pair of each cell, line by line:
    row by row, or column by column.

    `sizes` are the weights of the cells of a pair, summed. Cells of different `blocks` have no pair
    in common.
    """

    periods: Periods
    lines: NDArray[np.int64]
    numbers: NDArray[np.int64]
    codes: Places
    sizes: Array
    blocks: Places

    def sum_cells(self, values: Array, weights: Array | None = None) -> Array:
        """Sums of a value of each cell over the pairs."""
        return group_work().sum_groups(values, weights, self.codes, len(self.sizes), self.blocks)

    def take(self, mask: NDArray[np.bool_], weights: Array | None) -> PeriodGroups:
        """Those of some cells, which come in the same order, with their weights."""
        codes = self.codes[mask]
        there = np.bincount(codes, minlength=len(self.sizes)) > 0
        codes = (np.cumsum(there) - 1).astype(codes.dtype)[codes]
        lines, numbers = self.lines[there], self.numbers[there]
        sizes = np.bincount(codes, weights, minlength=len(lines)).astype(float)
        return PeriodGroups(self.periods, lines, numbers, codes, sizes, cut_lines(lines[codes]))


class CellPeriods(NamedTuple):
    """What the times of cells say: all ladders of periods, and the last time of all.

    `by_column` are the places of the cells, counted row by row, in the order column by column.
    """

    groups: tuple[PeriodGroups, ...]
    by_column: Places
    latest: float

    def take(self, mask: NDArray[np.bool_], part: CellViews) -> CellPeriods:
        """Those of the cells under a mask, row by row, which are the `part`."""
        masks = mask, mask[self.by_column]
        own = dict(zip(SIDES, zip(masks, read_weights(part), strict=True), strict=True))
        groups = tuple(group.take(*own[group.periods.side]) for group in self.groups)
        return CellPeriods(groups, order_by_column(part), self.latest)

    def match(self, kept: Sequence[Periods]) -> CellPeriods:
        """With these periods alone."""
        return self._replace(groups=tuple(g for g in self.groups if g.periods in kept))


class CellNumbers:
    """A number of each cell, in the order of one side at a time: row by row at first.

    The pairs of a ladder lie together in the order of its own side.
    """

    def __init__(self, periods: CellPeriods, values: Array) -> None:
        self.by_column, self.values, self.side = periods.by_column, values, "row"

    def turn(self, side: str) -> Array:
        """The numbers in the order of a side."""
        if side != self.side:
            work = group_work()
            turn = work.take if side == "column" else work.put
            self.values, self.side = turn(self.values, self.by_column), side
        return self.values

    def move(self, group: PeriodGroups, moves: Array) -> None:
        """Add a number for each pair to its cells."""
        values = self.turn(group.periods.side)
        group_work().move_groups(values, moves, group.codes, group.blocks)


def cut_times(entries: CellViews, times: Array, count: int | None = None) -> CellPeriods | None:
    """The periods of cells whose times are given row by row; None where all are of one period.

    With a `count`, each side has so many periods of one width, else those that the data suggest.
    """
    origin, latest = float(np.min(times)), float(np.max(times))
    span = latest - origin
    if span <= 0:
        return None
    cells, groups = see_cells_timed(entries, times), []
    for side, (lines, own, weights) in cells.sides.items():
        order = order_by_time(lines, own)
        widths = [span / count * (1 + 1e-9)] if count else choose_widths(lines, own, order=order)
        for width in widths:
            periods = Periods(side, origin, width)
            groups.append(group_cells(periods, lines, own, weights, order))
    return CellPeriods(tuple(groups), cells.by_column, latest) if groups else None


class TimedSide(NamedTuple):
    """The cells of one side, line by line: their lines, times and weights, if they have some."""

    lines: NDArray[Any]
    times: Array
    weights: Array | None


class TimedCells(NamedTuple):
    """Both sides, and the places of the cells, counted row by row, in the order by column."""

    sides: dict[str, TimedSide]
    by_column: Places


def see_cells_timed(entries: CellViews, times: Array) -> TimedCells:
    """Cells whose times are given row by row, on the host."""
    by_column = order_by_column(entries)
    lines = host(entries.rows()), host(entries.by_row.indices)[by_column]
    both = zip(lines, (times, times[by_column]), read_weights(entries), strict=True)
    sides = dict(zip(SIDES, (TimedSide(*one) for one in both), strict=True))
    return TimedCells(sides, by_column)


def read_weights(entries: CellViews) -> tuple[Array | None, Array | None]:
    """The weights of the cells row by row and column by column, on the host; None without."""
    row, column = (
        host(cells.weights).astype(float) if len(cells.weights) else None
        for cells in (entries.by_row, entries.by_col)
    )
    return row, column


def order_by_column(entries: CellViews) -> Places:
    """The places of the cells, counted row by row, in the order column by column."""
    columns = host(entries.by_row.indices)
    return _sort_by_line(np.arange(len(columns), dtype=find_index_type(len(columns))), columns)


def order_by_time(lines: NDArray[Any], times: Array) -> Places:
    """The places of cells line by line, those of a line by their time."""
    order = np.argsort(times, kind="stable").astype(find_index_type(len(lines)))
    return _sort_by_line(order, lines[order])


def _sort_by_line(places: Places, lines: NDArray[Any]) -> Places:
    """Places with their lines, line by line, those of a line as they come. O(n)."""
    ends, shape = np.array([0, len(places)]), (1, int(lines.max(initial=0)) + 1)
    return scipy.sparse.csr_array((places, lines, ends), shape).tocsc().data


def choose_widths(
    lines: NDArray[Any],
    times: Array,
    sizes: Sequence[float] = CELLS_PER_PERIOD,
    order: Places | None = None,
) -> list[float]:
    """Widths of periods in which a line has so many cells on average, where it has as many.

    `order` is that of `order_by_time`, where it is at hand.
    """
    order = order_by_time(lines, times) if order is None else order
    of_line, ascending = lines[order], times[order]
    step = min(len(lines) // MAX_SEARCHED_CELLS, int(lines.max(initial=0)) // MIN_SEARCHED_LINES)
    if step > 1:
        some = of_line % step == 0
        of_line, ascending = of_line[some], ascending[some]
    ascending = ascending - times.min()
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
        width = _find_width(count, len(of_line) / size, span)
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
    periods: Periods,
    lines: NDArray[Any],
    times: Array,
    weights: Array | None = None,
    order: Places | None = None,
) -> PeriodGroups:
    """The pairs of line and period of cells, all of which have a time.

    `order` is that of `order_by_time`, where it is at hand.
    """
    order = order_by_time(lines, times) if order is None else order
    of_line, numbers = lines[order], periods.number(times)[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (of_line[1:] != of_line[:-1]) | (numbers[1:] != numbers[:-1])
    codes = np.empty(len(order), find_index_type(len(order)))
    codes[order] = np.cumsum(is_first) - 1
    pairs = of_line[is_first].astype(np.int64), numbers[is_first]
    sizes = np.bincount(codes, weights, minlength=len(pairs[0])).astype(float)
    return PeriodGroups(periods, *pairs, codes, sizes, cut_lines(lines))


def find_index_type(size: int) -> type[np.signedinteger[Any]]:
    """The smaller type that counts so many."""
    return np.int32 if size <= np.iinfo(np.int32).max else np.int64


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
    places = np.arange(len(cols), dtype=find_index_type(len(cols)))
    order = _sort_by_line(places, np.asarray(cols))
    order = _sort_by_line(order, np.asarray(rows)[order])
    given = np.asarray(rows, dtype=np.int64)[order] * width + np.asarray(cols)[order]
    wanted = host(entries.rows()).astype(np.int64) * width + host(entries.by_row.indices)
    return np.asarray(times, dtype=float)[order][np.searchsorted(given, wanted, "right") - 1]
