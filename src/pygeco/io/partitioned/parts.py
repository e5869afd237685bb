"""Parts of a table of ratings on their way to slabs: what each task of the shuffle computes.

A part is read once and kept as numbers: its ids, each once and sorted, and for each cell the place
of its column. Summaries of the parts, merged pairwise, say which ids there are and where to cut the
users into slabs; then each part is split at the cuts, and the pieces of a slab put together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu.cells import in_rows
from pygeco.engines.dask.slabs import Slab, slab_bounds
from pygeco.io.parquet_parts import Holdout, Rows, read_rows
from pygeco.io.tables import arrange_ids, as_arrow, join_ids, pyarrow, take_numbers
from pygeco.io.value_scale import are_marks
from pygeco.objectives.entries.observed import find_repeats, merge_repeats

MAX_SHOWN_VALUES = 1 << 16  # values that a summary shows, at most
MAX_SKETCH_USERS = 1 << 16  # users that a summary names, at most


class Part(NamedTuple):
    """The cells of a part, user after user, each user's in the order of the source.

    `users` and `items` are sorted Arrow arrays; user t has counts[t] cells, and cell e the column
    items[cols[e]]. `skipped` rows had no id or no rating; `infinite` are the places, in the source,
    of values that are not finite.
    """

    users: Any
    counts: NDArray[np.int64]
    items: Any
    cols: NDArray[np.int32]
    values: Array
    skipped: int
    infinite: NDArray[np.int64]


class Summary(NamedTuple):
    """What a number of parts hold.

    `users` are some of them, sorted; weights[t] counts the cells of users[t] and of those between
    it and the one before. `items` are all of them. `bad` of the values are infinite, the first of
    these at `first`.
    """

    users: Any
    weights: NDArray[np.int64]
    items: Any
    cells: int
    skipped: int
    dtype: str
    bad: int
    first: int
    values: Array  # some of them


class Piece(NamedTuple):
    """The cells of a part in one slab; columns are those of the whole matrix."""

    users: Any
    counts: NDArray[np.int64]
    cols: NDArray[np.int32]
    values: Array


class Account(NamedTuple):
    """What a slab holds: users, cells, and repeated cells, of which one is at (user, column)."""

    users: int
    cells: int
    repeats: int
    pair: tuple[Any, int] | None


class Built(NamedTuple):
    """A slab, the ids of its rows in Arrow, and its account."""

    slab: Slab
    users: Any
    account: Account


def make_part(
    table: Any, names: Sequence[str], marks: tuple[float, ...] = (), skipped: int = 0
) -> Part:
    """The part that a table of users, items and ratings is, without missing values and without
    ratings that are marks for "no rating", which are counted as skipped.
    """
    if marks:
        lost = are_marks(take_numbers(table.column(2), names[2]), marks)
        table, skipped = table.filter(~lost), skipped + int(lost.sum())
    users, items = (arrange_ids(table.column(k), names[k]) for k in (0, 1))
    values = take_numbers(table.column(2), names[2])
    order = np.argsort(users.codes, kind="stable")
    counts = np.bincount(users.codes, minlength=len(users.ids)).astype(np.int64)
    infinite = np.flatnonzero(~np.isfinite(values))
    return Part(users.ids, counts, items.ids, items.codes[order], values[order], skipped, infinite)


def summarize_part(part: Part) -> Summary:
    bad = part.infinite
    return Summary(
        *_sketch(part.users, part.counts),
        part.items,
        len(part.values),
        part.skipped,
        part.values.dtype.str,
        len(bad),
        int(bad[0]) if len(bad) else -1,
        _some_values(part.values),
    )


def _some_values(values: Array) -> Array:
    """At most VALUES of the values, spread evenly over all."""
    return values[:: -(-len(values) // MAX_SHOWN_VALUES) or 1]


def merge(summaries: Sequence[Summary], names: Sequence[str]) -> Summary:
    """One summary of several, in their order."""
    users = arrange_ids(join_ids([it.users for it in summaries], names[0]), names[0])
    weights = np.concatenate([it.weights for it in summaries])
    totals = np.bincount(users.codes, weights, len(users.ids)).astype(np.int64)
    items = arrange_ids(join_ids([it.items for it in summaries], names[1]), names[1]).ids
    before = np.cumsum([0, *(it.cells for it in summaries)])
    first = next(
        (int(b) + it.first for b, it in zip(before, summaries, strict=False) if it.bad), -1
    )
    return Summary(
        *_sketch(users.ids, totals),
        items,
        int(before[-1]),
        sum(it.skipped for it in summaries),
        np.result_type(*(it.dtype for it in summaries)).str,
        sum(it.bad for it in summaries),
        first,
        _some_values(np.concatenate([it.values for it in summaries])),
    )


def _sketch(users: Any, weights: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
    """At most SKETCH of the users, evenly by weight, the last one among them."""
    if len(users) <= MAX_SKETCH_USERS:
        return users, weights
    ends = np.cumsum(weights)
    marks = np.linspace(0, ends[-1], MAX_SKETCH_USERS + 1)[1:]
    at = np.unique(np.minimum(np.searchsorted(ends, marks), len(users) - 1))
    return users.take(pyarrow().array(at)), np.diff(ends[at], prepend=0)


def find_starts(summary: Summary) -> Any:
    """The users, in Arrow, at which slabs begin, but for the first slab.

    As `slab_bounds` cuts rows where the summary names every user; else within 1 / SKETCH of all
    cells.
    """
    bounds = slab_bounds(np.concatenate([[0], np.cumsum(summary.weights)]))
    return summary.users.take(pyarrow().array(bounds[1:-1]))


def split(part: Part, begin: Any, items: Any) -> tuple[Piece, ...]:
    """The part in pieces, one a slab; `items` are the columns of the whole matrix."""
    pa = pyarrow()
    users = part.users.cast(begin.type)
    place = pa.compute.index_in(part.items.cast(items.type), items).to_numpy().astype(np.int32)
    cols = place[part.cols]
    marks = [0, *(bisect_left(_Sorted(users), one) for one in begin), len(users)]
    ends = np.concatenate([[0], np.cumsum(part.counts)])
    pieces = []
    for one, other in pairwise(marks):
        at = slice(int(ends[one]), int(ends[other]))
        own = users.take(pa.array(np.arange(one, other)))  # a slice would travel with all of them
        pieces.append(Piece(own, part.counts[one:other], cols[at], part.values[at]))
    return tuple(pieces)


class _Sorted(Sequence[Any]):
    """A sorted Arrow array whose elements compare as Arrow compares them, to `bisect` in."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, at: Any) -> Any:
        return _Element(self.array[at])


class _Element(NamedTuple):
    value: Any

    def __lt__(self, other: Any) -> bool:
        return bool(pyarrow().compute.less(self.value, other).as_py())


def get_items(summary: Summary) -> Any:
    return summary.items


def take_piece(pieces: Sequence[Any], at: Any) -> Any:
    return pieces[at]


def assemble(
    pieces: Sequence[Piece], columns: int, dtype: str, duplicates: str, name: str
) -> Built:
    """The slab of these pieces: rows in the order of their ids, repeats merged as asked."""
    users = arrange_ids(join_ids([piece.users for piece in pieces], name), name)
    counts = np.concatenate([piece.counts for piece in pieces])
    rows = np.repeat(users.codes, counts)
    cols = np.concatenate([piece.cols for piece in pieces])
    values = np.concatenate([piece.values for piece in pieces]).astype(dtype, copy=False)
    shape = (len(users.ids), columns)
    pointers, indices, values = in_rows(rows, cols, values, shape)
    again = find_repeats(pointers, indices)
    pair = None
    if len(again):
        row = int(np.searchsorted(pointers, again[0], side="right")) - 1
        pair = users.ids[row].as_py(), int(indices[again[0]])
        pointers, indices, values = _drop_repeats(pointers, indices, values, again, duplicates)
    slab = Slab(pointers, indices, values, np.zeros(0, values.dtype))
    return Built(slab, users.ids, Account(shape[0], len(values), len(again), pair))


def _drop_repeats(
    pointers: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: Array,
    again: NDArray[np.int64],
    duplicates: str,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
    """The same cells with each once; as they are where repeats are an error."""
    if duplicates == "error":
        return pointers, indices, values
    first = np.ones(len(values), bool)
    first[again] = False
    at = np.flatnonzero(first)
    merged_values = merge_repeats(values, None, at, duplicates)[0]
    return np.searchsorted(at, pointers).astype(np.int64), indices[at], merged_values


def read_part(rows: Rows, holdout: Holdout | None = None, marks: tuple[float, ...] = ()) -> Part:
    table, skipped = read_rows(rows, holdout, held=False)
    return make_part(table, rows.names, marks, skipped)


def make_part_of_frame(
    frame: Any, at: Sequence[int], number: int, marks: tuple[float, ...] = ()
) -> Part:
    """A partition of a Dask DataFrame, held to what `fit` asks of any table."""
    try:
        table = as_arrow(frame.iloc[:, list(at)])
        table = table.select(table.column_names[:3])  # without an index
        return make_part(table, table.column_names, marks)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error
