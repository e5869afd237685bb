"""The best columns of many rows by products of factors, exactly, on all cores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import parts
from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu.listing_columns import (
    MIN_LENGTH,
    Columns,
    measure_lengths,
    place_rows,
    prepare_columns,
)
from pygeco.engines.cpu.listing_kernels import finish, list_first, score_lines, screen
from pygeco.engines.cpu.parallel import lend
from pygeco.engines.cpu.threads import each
from pygeco.engines.values import Products

ROWS_AT_ONCE = 1 << 15  # whose candidates are kept at once: for lists of 20, 60 MB
BLOCK_ROWS, BLOCK_COLUMNS = 1024, 1024  # of a product that is screened while it is in the cache
FIRST_COLUMNS = 2048  # of the largest, by which floors are found and rows ordered
MIN_ROWS = 32  # for which it pays to prepare the columns
MIN_SHARE = 8  # of all columns to those listed, from which on screening spares anything
TRIAL_BLOCKS, TRIAL_ROWS = 4, 32  # how often it is tried whether that is enough, on which rows
SINGLE_COST = 30.0  # of a product of one row and one column, to one of many of both


class State(NamedTuple):
    """Of each row the k largest lower bounds, the least of them, and candidates."""

    heaps: Array
    filled: NDArray[np.int32]
    floors: Array
    found: NDArray[np.int32]
    tops: Array
    counts: NDArray[np.int32]


def list_best_products(asked: Products) -> tuple[NDArray[np.int64], Array]:
    """Columns and scores of the k best of each line, best first; −1 where there are fewer.

    Of equals the first column comes first. O(m n r) at most: columns that are too short to be
    among the best of a row are not looked at (|⟨u, v⟩| ≤ ‖u‖ ‖v‖).
    """
    asked = Products(*map(lend, asked))
    m = len(asked.rows)
    columns, values = np.empty((m, asked.k), np.int64), np.empty((m, asked.k))
    lines = np.arange(m)
    few = m < MIN_ROWS or MIN_SHARE * asked.k > len(asked.names)
    if few or not (np.isfinite(asked.left).all() and np.isfinite(asked.right).all()):
        _list_plainly(asked, lines, columns, values)
        return columns, values
    prepared = prepare_columns(asked)
    for part in parts(m, ROWS_AT_ONCE):
        left = _list_screened(asked, prepared, lines[part], columns, values)
        _list_plainly(asked, left, columns, values)
    return columns, values


def _list_screened(
    asked: Products,
    prepared: Columns,
    lines: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: Array,
) -> NDArray[np.int64]:
    """Fill the lists of some lines; those with too many candidates are given back."""
    count, n = len(lines), len(prepared.names)
    room = 8 * asked.k + 64
    state = State(
        np.empty((count, asked.k), np.float32),
        np.zeros(count, np.int32),
        np.full(count, -np.inf, np.float32),
        np.empty((count, room), np.int32),
        np.empty((count, room), np.float32),
        np.zeros(count, np.int32),
    )
    factors, lengths = place_rows(asked, prepared, lines)
    state.counts[lengths < MIN_LENGTH] = -1
    places = np.arange(count)
    _screen_columns(asked, prepared, lines, factors, places, state, (0, min(FIRST_COLUMNS, n)))
    order = np.argsort(state.floors, kind="stable")  # rows that need few more columns at the end
    _screen_columns(asked, prepared, lines[order], factors[order], order, state, (FIRST_COLUMNS, n))
    done = np.flatnonzero(state.counts >= 0)
    blocks = list(parts(len(done), BLOCK_ROWS))

    def job(t: int) -> None:
        own = done[blocks[t]]
        given = (asked.left, asked.right, asked.offsets, lines[own], own)
        finish(*given, state.floors, state.found, state.tops, state.counts, columns, values)

    each(job, len(blocks))
    level = (lengths == 0) & ~asked.left[lines].any(axis=1) & (not asked.offsets.any())
    list_first(
        lines[level], asked.rows, asked.names, asked.pointers, asked.indices, columns, values
    )
    return lines[(state.counts < 0) & ~level]


def _screen_columns(
    asked: Products,
    prepared: Columns,
    lines: NDArray[np.int64],
    factors: Array,
    places: NDArray[np.int64],
    state: State,
    ends: tuple[int, int],
) -> None:
    """Screen the columns from ends[0] to ends[1], a block of rows on a thread."""
    blocks = list(parts(len(lines), BLOCK_ROWS))
    rows, size = asked.rows[lines], factors.shape[1]
    row_tails = measure_lengths(factors[:, prepared.split :])
    none = np.zeros(max(len(lines), len(prepared.names)), np.float32)

    def job(t: int) -> None:
        part = blocks[t]
        own, at = factors[part], places[part]
        table = np.empty(len(own) * BLOCK_COLUMNS, np.float32)
        split = size
        for step, first in enumerate(range(*ends, BLOCK_COLUMNS)):
            last = min(first + BLOCK_COLUMNS, ends[1])
            margin = np.float32(prepared.margin * float(prepared.lengths[first]) + 1e-35)
            within = np.flatnonzero(state.floors[at] <= prepared.lengths[first] + margin)
            if not len(within):
                return
            active = int(within[-1]) + 1
            right = prepared.factors[first:last]
            tails = row_tails[part][:active], prepared.tails[first:last]
            if first and step % TRIAL_BLOCKS == 0:
                floors = state.floors[at[:active]] - margin
                split = _choose_split(own[:active], right, tails, floors, prepared.split)
            scores = table[: active * (last - first)].reshape(active, last - first)
            np.matmul(own[:active, :split], right[:, :split].T, out=scores)
            screen(
                scores, split, own, right, *(tails if split < size else (none, none)),
                at[:active], rows[part], prepared.names[first:last], margin,
                asked.pointers, asked.indices, *state,
            )  # fmt: skip

    each(job, len(blocks))


def _choose_split(
    left: Array, right: Array, tails: tuple[Array, Array], floors: Array, split: int
) -> int:
    """The coordinates to multiply first: `split`, where few cells need the others, or all."""
    some = slice(0, None, TRIAL_ROWS)
    bound = left[some, :split] @ right[:, :split].T + np.outer(tails[0][some], tails[1])
    needed = float(np.mean(bound >= floors[some, None]))
    size = left.shape[1]
    return split if needed * SINGLE_COST < 1 else size


def _list_plainly(
    asked: Products, lines: NDArray[np.int64], columns: NDArray[np.int64], values: Array
) -> None:
    """Fill the lists of some lines by all their scores."""
    n = len(asked.names)
    blocks = list(parts(len(lines), max(1, min(64, (1 << 24) // max(n, 1)))))

    def job(t: int) -> None:
        own = lines[blocks[t]]
        scores = np.empty((len(own), n))
        score_lines(
            asked.left, asked.right, asked.offsets, own, asked.names, asked.rows,
            asked.pointers, asked.indices, scores,
        )  # fmt: skip
        order = np.argsort(-scores, axis=1, kind="stable")[:, : asked.k]
        best = np.take_along_axis(scores, order, 1)
        columns[own] = np.where(best > -np.inf, asked.names[order], -1)
        values[own] = np.where(best > -np.inf, best, -np.inf)

    each(job, len(blocks), alone=len(lines) * n < 1 << 20)
