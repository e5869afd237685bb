"""Models of clicks judged by clicks that were held out of their fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import distant, foreign, host, on, parts
from pygeco.arrays.loops import run_in_turn, run_parts
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.engines import choose_local_engine
from pygeco.models.seen import (
    Positions,
    Seen,
    find_row_cells,
    hide_cells,
    keep_cells,
    sort_cells,
)
from pygeco.objectives import Entries

HELD_SHARE = 0.1  # of the clicks
ENOUGH_CLICKS = 500  # held out: with fewer, more tenths are
MAX_REPEATS = 4  # of these; ten chose no better
LIST_LENGTH = 20  # the lists that are judged, by their nDCG
TABLE_CELLS = 100_000_000  # scores that one judgement may take: its cost
MIN_JUDGED_ROWS, MAX_JUDGED_ROWS = 500, 3_000
BLOCK_CELLS = 1 << 21  # scores that a core holds at once: 8 MB, which are used again and again

SCORED_COLUMNS = 1024  # whose scores are found at once, on one core

# Scores (rows, n) of some rows, one table for each model that is compared. Blocks of rows are asked
# for by several threads at once.
Tables = Callable[[Positions], Iterable[Array]]


class Split(NamedTuple):
    """Most clicks, to be fitted, and the others with the rows that are judged by them."""

    fit: Entries
    judge: Judge


@dataclass(frozen=True, eq=False)
class Judge:
    """Held-out clicks of some rows, and the clicks of the fit, which lists leave out.

    Tables have the `columns`, by which `seen` counts them; all where None.
    """

    rows: Positions
    held: Seen
    seen: Seen
    shape: tuple[int, int]
    columns: Positions | None = None

    def leave_out(self, empty: NDArray[np.bool_]) -> Judge:
        """The same judge, for scores that are zero in these columns, which have no fitted click.

        Of equals the first are listed: with as many of them as a list has places, lists are whole.
        """
        kept = ~empty | (np.cumsum(empty) <= LIST_LENGTH)
        if kept.all():
            return self
        places = on(np.cumsum(kept) - 1, self.seen.indices)
        seen = self.seen._replace(indices=places[self.seen.indices].astype(np.int32))
        return replace(self, seen=seen, columns=np.flatnonzero(kept))

    def take(self, right: Array) -> Array:
        """The lines of the columns that tables have."""
        return right if self.columns is None else right[on(self.columns, right)]

    def compare(self, tables: Tables, count: int, weights: Array | None = None) -> list[float]:
        """The mean nDCG@20 of each of `count` models over the judged rows.

        With `weights`, one a held-out click in the order of `held`, only clicks above zero count.
        """
        held = self.held if weights is None else _keep_positive(self.held, weights)
        found = self._judge_blocks(tables, count, held)
        return [float(sum(map(np.sum, some)) / max(1, sum(map(len, some)))) for some in found]

    def measure_rows(self, tables: Tables, count: int) -> NDArray[np.float64]:
        """The nDCG@20 of each of `count` models in each judged row, (count, rows)."""
        found = self._judge_blocks(tables, count, self.held)
        return np.stack([np.concatenate([np.zeros(0), *some]) for some in found])

    def _judge_blocks(
        self, tables: Tables, count: int, held: Seen
    ) -> list[list[NDArray[np.float64]]]:
        """Of each model, its nDCG@20 in the rows of each block that have held-out clicks.

        A core has a block from its scores to its lists, while others have other blocks.
        """
        n = self.shape[1]
        names = np.arange(n) if self.columns is None else self.columns
        blocks = list(parts(len(self.rows), max(1, BLOCK_CELLS // len(names))))
        length = min(LIST_LENGTH, n)
        found: list[list[NDArray[np.float64]]]
        found = [[np.zeros(0)] * len(blocks) for _ in range(count)]

        def judge(k: int) -> None:
            rows = self.rows[blocks[k]]
            hidden: Array | None = None
            have = np.diff(held.pointers)[rows] > 0
            for t, table in enumerate(tables(rows)):
                if table is not hidden:  # a table that goes on to the next model keeps its −∞
                    hide_cells(table, on(rows, table), self.seen)
                    hidden = table
                best = host(choose_local_engine(table).top_k(table, length)[0])[have]
                best = np.where(best < 0, -1, names[best])
                found[t][k] = _measure_ndcg(best, rows[have], held, n)

        loop = run_in_turn if foreign(self.seen.indices) else run_parts
        loop(judge, len(blocks))
        return found


def score_rows(left: Array, rows: Positions, right: Array) -> Array:
    """left[rows] rightᵀ, by fixed blocks of columns on all cores: the same bits on any machine."""
    own = left[on(rows, left)]
    if foreign(own):
        return own @ right.T
    out = np.empty((len(own), len(right)), np.result_type(own, right))
    blocks = list(parts(len(right), SCORED_COLUMNS))

    def multiply(k: int) -> None:
        np.matmul(own, right[blocks[k]].T, out=out[:, blocks[k]])

    run_parts(multiply, len(blocks))
    return out


def hold_out_more(entries: Entries, seed: int, split: Split) -> tuple[Split, ...]:
    """Other tenths of the clicks, where that of `split` is too few for a steady choice."""
    held = max(1, len(split.judge.held.indices))
    count = min(MAX_REPEATS, -(-ENOUGH_CLICKS // held) - 1)
    found = (hold_out_clicks(entries, seed, again) for again in range(1, count + 1))
    return tuple(other for other in found if other is not None)


def average(told: list[list[float]]) -> list[float]:
    """What several judges say of the same models."""
    return [float(score) for score in np.mean(told, axis=0)]


def hold_out_clicks(entries: Entries, seed: int, again: int = 0) -> Split | None:
    """A tenth of the clicks for a judge; None where no row has enough of them."""
    rng = stream(Purpose.HELD_CLICKS, seed, *([again] if again else []))
    rows = host(entries.rows()).astype(np.int64)
    cols = host(entries.by_row.indices).astype(np.int64)
    held = rng.random(len(rows)) < HELD_SHARE
    m, n = entries.shape
    kept = np.bincount(rows[~held], minlength=m)
    held &= kept[rows] > 0  # a row that would lose every click keeps them
    if not held.any() or held.all():
        return None
    fit = entries.subset(~held)
    judged = np.unique(rows[held])
    most = int(np.clip(TABLE_CELLS // n, MIN_JUDGED_ROWS, MAX_JUDGED_ROWS))
    if len(judged) > most:
        judged = np.sort(rng.choice(judged, most, replace=False))
    values = host(entries.by_row.values)
    cells = sort_cells(rows[held], cols[held], values[held], (m, n))
    # Rows on a cluster are judged here.
    seen = (
        sort_cells(rows[~held], cols[~held], values[~held], (m, n))
        if distant(entries.kind)
        else keep_cells(fit)
    )
    return Split(fit, Judge(judged, cells, seen, (m, n)))


def _measure_ndcg(found: Positions, rows: Positions, held: Seen, n: int) -> NDArray[np.float64]:
    """The nDCG in each row of the columns found, best first, with a gain of one a click."""
    length = found.shape[1]
    discounts = 1 / np.log2(np.arange(length) + 2.0)
    counts = (held.pointers[rows + 1] - held.pointers[rows]).astype(np.int64)
    ideal = np.cumsum(discounts)[np.minimum(counts, length) - 1]
    owners, places = find_row_cells(held, rows)
    keys = owners * np.int64(n + 1) + held.indices[places]
    asked = np.arange(len(rows))[:, None] * np.int64(n + 1) + found
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)  # they ascend
    hits: NDArray[np.bool_] = (keys[at] == asked) & (found >= 0)
    return np.asarray((hits * discounts).sum(axis=1) / ideal)


def _keep_positive(cells: Seen, weights: Array) -> Seen:
    keep = weights > 0
    ends = np.concatenate([[0], np.cumsum(keep)])
    return Seen(ends[cells.pointers], cells.indices[keep], cells.values[keep])
