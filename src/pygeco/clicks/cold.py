"""How much attributes count: by lines held out whole, and by clicks held out of their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.clicks.attributes import Told, fit_map
from pygeco.clicks.informing import Wishes, move_lines
from pygeco.clicks.judging import HELD_SHARE, MAX_JUDGED_ROWS, Judge
from pygeco.clicks.search import MIN_GAIN, Search
from pygeco.clicks.settings import AttributeSettings, GivenAttributes
from pygeco.models.seen import Positions, Seen, sort_cells
from pygeco.objectives import Entries

SIDES = ("row", "column")
WEIGHTS = (0.0, 0.003, 0.03, 0.3, 3.0)  # zero stands for "not used"
PULLS = (0.0, 3.0, 10.0, 30.0, 100.0)  # in clicks
MIN_SURENESS = 2.0  # standard errors of the mean gain that attributes must bring to be used

# The factors of the chosen settings, fitted to these clicks.
Fit = Callable[[Entries], LowRank]
Tried = tuple[AttributeSettings, ...]
Given = tuple[GivenAttributes, GivenAttributes]  # of rows, and of columns
Scores = NDArray[np.float64]  # the nDCG of each try in each judged row


class ColdSplit(NamedTuple):
    """The clicks without some rows and columns, and which these are."""

    fit: Entries
    rows: NDArray[np.bool_]
    columns: NDArray[np.bool_]


def start_attributes(told: Told, given: Given) -> Wishes:
    """What is given for each side that has attributes, and elsewhere where a search starts."""
    rows, columns = (
        None if values is None else own.start(side)
        for side, values, own in zip(SIDES, told, given, strict=True)
    )
    return rows, columns


def choose_attributes(
    search: Search, entries: Entries, split_factors: LowRank, told: Told, fit: Fit, given: Given
) -> Wishes:
    """The weight of each side's attributes by lines that a fit does not see, then their pull.

    What is `given` stays as it is.
    """
    wishes = list(start_attributes(told, given))
    is_open = any(
        wish is not None and own.weight is None for wish, own in zip(wishes, given, strict=True)
    )
    split = hold_out_lines(entries, told, search.seed) if is_open else None
    if split is not None and not search.is_stopped:
        factors = fit(split.fit)
        for side, judge_side in enumerate((_try_rows, _try_columns)):
            wish, values = wishes[side], told[side]
            if wish is None or values is None or given[side].weight is not None:
                continue
            tried = tuple(replace(wish, weight=weight) for weight in WEIGHTS)
            scores = judge_side(entries, split, factors, told, tried)
            if scores is not None:
                for one, score in zip(tried, scores.mean(axis=1), strict=True):
                    search.note(f"new {SIDES[side]}s", one, float(score))
                wishes[side] = tried[pick_sure(scores)]
    return _choose_pulls(search, split_factors, told, (wishes[0], wishes[1]), given)


def hold_out_lines(entries: Entries, told: Told, seed: int) -> ColdSplit | None:
    """A tenth of the lines with clicks and attributes; None where clicks do not suffice."""
    rng = stream(Purpose.COLD_LINES, seed)
    held = []
    for values, counts in zip(told, entries.counts(), strict=True):
        known = np.zeros(len(counts), bool) if values is None else values.known
        held.append((rng.random(len(counts)) < HELD_SHARE) & known & (host(counts) > 0))
    rows, cols = host(entries.rows()), host(entries.by_row.indices)
    lost = held[0][rows] | held[1][cols]
    if not lost.any() or lost.all():
        return None
    return ColdSplit(entries.subset(~lost), held[0], held[1])


def _try_rows(
    entries: Entries, split: ColdSplit, factors: LowRank, told: Told, tried: Tried
) -> Scores | None:
    """The nDCG of lists of rows that were held out, by their attributes alone."""
    values, V = told[0], host(factors.V)
    assert values is not None
    rows, cols = host(entries.rows()), host(entries.by_row.indices)
    judge = _make_judge(entries, split.rows[rows] & ~split.columns[cols], cols, len(V))
    counts, left = host(split.fit.counts()[0]), host(factors.left)
    maps = [fit_map(values, counts, left, settings) for settings in tried]

    def tables(asked: Positions) -> Iterable[Array]:
        own = values.take(asked)
        return ((one.place(own) @ V.T).astype(np.float32) for one in maps)

    return None if judge is None else judge.measure_rows(tables, len(tried))


def _try_columns(
    entries: Entries, split: ColdSplit, factors: LowRank, told: Told, tried: Tried
) -> Scores | None:
    """The nDCG of lists of columns that were held out, and of no others."""
    values, left = told[1], host(factors.left)
    assert values is not None
    rows, cols = host(entries.rows()), host(entries.by_row.indices)
    new = np.flatnonzero(split.columns)
    place = np.cumsum(split.columns) - 1
    cells = split.columns[cols] & ~split.rows[rows]
    judge = _make_judge(entries, cells, place[cols], len(new))
    counts, V = host(split.fit.counts()[1]), host(factors.V)
    maps = [fit_map(values, counts, V, settings) for settings in tried]
    placed = [one.place(values.take(new)).T for one in maps]

    def tables(asked: Positions) -> Iterable[Array]:
        return ((left[asked] @ one).astype(np.float32) for one in placed)

    return None if judge is None else judge.measure_rows(tables, len(tried))


def _make_judge(
    entries: Entries, cells: NDArray[np.bool_], cols: Positions, width: int
) -> Judge | None:
    """A judge by these cells, whose columns are `cols` of so many; None where there are none."""
    if not cells.any():
        return None
    m, rows = entries.shape[0], host(entries.rows())[cells]
    judged = np.unique(rows)
    judged = judged[:: max(1, len(judged) // MAX_JUDGED_ROWS)]
    held = sort_cells(rows, cols[cells], np.ones(len(rows), np.float32), (m, width))
    nothing = Seen(np.zeros(m + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    return Judge(judged, held, nothing, (m, width))


def _choose_pulls(
    search: Search, factors: LowRank, told: Told, wishes: Wishes, given: Given
) -> Wishes:
    """How far attributes move lines that have clicks, by clicks held out of those."""
    counts = [host(own) for own in search.split.fit.counts()]
    lines = [host(factors.left), host(factors.V)]
    found = list(wishes)
    for side, (values, wish) in enumerate(zip(told, wishes, strict=True)):
        if values is None or wish is None or not wish.weight or search.is_stopped:
            continue
        pulls = PULLS if given[side].pull is None else (wish.pull,)
        tried = tuple(replace(wish, pull=pull) for pull in pulls)
        found_map = fit_map(values, counts[side], lines[side], wish)
        moved = [
            move_lines(found_map._replace(settings=one), values, counts[side], lines[side])
            for one in tried
        ]
        if len(tried) == 1:
            lines[side] = moved[0]
            continue
        scores = _judge_moved(search, lines, moved, side)
        for one, score in zip(tried, scores.mean(axis=1), strict=True):
            search.note(f"{SIDES[side]} attributes", one, float(score))
        at = pick_sure(scores)
        found[side], lines[side] = tried[at], moved[at]
    return found[0], found[1]


def _judge_moved(search: Search, lines: list[Array], moved: list[Array], side: int) -> Scores:
    def tables(asked: Positions) -> Iterable[Array]:
        for one in moved:
            left, right = (one, lines[1]) if side == 0 else (lines[0], one)
            yield (left[asked] @ right.T).astype(np.float32)

    return search.split.judge.measure_rows(tables, len(moved))


def pick_sure(scores: Scores) -> int:
    """The place of the first that is about as good as the best; 0 where no gain over it is sure.

    The gain of a try over the first one, row by row, has a mean and a standard error.
    """
    means = scores.mean(axis=1)
    enough = means.max() * (1 - MIN_GAIN)
    at = next(k for k, mean in enumerate(means) if mean >= enough)
    gains = scores[at] - scores[0]
    error = float(gains.std()) / max(1.0, float(np.sqrt(len(gains))))
    return at if gains.mean() > MIN_SURENESS * error else 0
