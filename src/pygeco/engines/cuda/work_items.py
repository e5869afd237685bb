"""How the GPU cuts cells into the items that a warp works on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import contiguous, empty, host, zeros

# An item has |E| / ITEM_COUNT cells, but at least and at most so many.
ITEM_COUNT, MIN_ITEM_CELLS, MAX_ITEM_CELLS = 1 << 16, 256, 1 << 14
# Bytes of the other side that a block keeps in its shared memory, and that the GPU's cache keeps;
# the cells of a group that such a range needs to be worth its while, and those of all groups.
RANGE_BYTES, WIDE_RANGE_BYTES, MIN_RANGE_CELLS, MIN_RANGED_CELLS = 3 << 15, 1 << 24, 64, 1 << 22
MAX_PIECE_CELLS = 1 << 11  # of a group's cells in a range that a warp takes at once
CHUNK_COUNT, MIN_CHUNK_CELLS = 1 << 10, 1 << 15  # at most so many blocks, of so many cells at least
PARTIAL_BYTES = 4 << 30  # of partial systems that are in memory at once


class Ranges(NamedTuple):
    """Each group's cells by ranges of `numbers` of the other side, the first range of every group
    first: what a product gathers from one range stays in a block's own memory, if `is_shared`, or
    in the GPU's cache.

    Piece p has the cells starts[p] … stops[p] − 1. Range r of group i has the pieces
    first[r groups + i] … first[r groups + i + 1] − 1; a block takes the pieces chunks[b] …
    chunks[b + 1] − 1, all of the range bases[b] / numbers.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    first: NDArray[np.int64]
    chunks: NDArray[np.int64]
    bases: NDArray[np.int64]
    parts: int
    numbers: int
    is_shared: bool


class WorkItems(NamedTuple):
    """Item p has the cells starts[p] … starts[p + 1] − 1, group i the items first[i] …
    first[i + 1] − 1, at least one; groups[p] is the group of item p. `split` says that some
    group has several; `known` keeps the runs that were asked for. `many` are the groups of several
    items, and places[p] counts the items before p that are theirs. `order` says where, in the other
    order of the same cells, each cell is.
    """

    starts: NDArray[np.int64]
    first: NDArray[np.int64]
    groups: NDArray[np.int32]
    total: int
    length: int
    split: bool
    known: dict[int, list[tuple[slice, slice]]]
    many: NDArray[np.int64]
    places: NDArray[np.int64]
    ranges: Ranges | None = None
    order: NDArray[Any] | None = None


def split_groups(pointers: NDArray[np.int64]) -> WorkItems:
    """Each group in items of equal length, but for its last one. Depends on the data alone."""
    size, groups = int(pointers[-1] - pointers[0]), len(pointers) - 1
    length = min(max(size // ITEM_COUNT, MIN_ITEM_CELLS), MAX_ITEM_CELLS) // 32 * 32
    first, own = _divide(np.diff(pointers), length)
    count = len(own)
    starts = empty(count + 1, pointers, np.int64)
    starts[:count] = pointers[own] + (np.arange(count, like=pointers) - first[own]) * length
    starts[count] = pointers[-1]
    several = np.diff(first) > 1
    places = zeros(count + 1, pointers, np.int64)
    places[1:] = np.cumsum(several[own])
    many = np.flatnonzero(several).astype(np.int64)
    own = own.astype(np.int32)
    return WorkItems(starts, first, own, count, length, count > groups, {}, many, places)


def ranges(
    major: NDArray[Any], minor: NDArray[Any], groups: int, others: int, itemsize: int
) -> Ranges | None:
    """The ranges of sorted cells; None where one is enough, or a range has few of a group's."""
    for size in (RANGE_BYTES, WIDE_RANGE_BYTES):
        numbers = size // itemsize
        count = -(-others // numbers)
        if 4 * others <= 5 * numbers or len(major) < MIN_RANGED_CELLS:
            return None
        if len(major) >= MIN_RANGE_CELLS * groups * count:
            return _cut(major, minor, groups, others, numbers, size == RANGE_BYTES)
    return None


def _cut(
    major: NDArray[Any],
    minor: NDArray[Any],
    groups: int,
    others: int,
    numbers: int,
    is_shared: bool,
) -> Ranges:
    """Sorted cells by ranges of so many numbers."""
    count = -(-others // numbers)
    keys = major.astype(np.int64) * others + minor
    edges = np.minimum(np.arange(count + 1, like=major) * numbers, others)
    bounds = edges[:, None] + np.arange(groups, like=major) * others
    at = np.searchsorted(keys, bounds.reshape(-1)).astype(np.int64).reshape(bounds.shape)
    begin, end = (contiguous(x).reshape(-1) for x in (at[:-1], at[1:]))
    first, own = _divide(end - begin, MAX_PIECE_CELLS)
    starts = begin[own] + (np.arange(len(own), like=own) - first[own]) * MAX_PIECE_CELLS
    stops = np.minimum(starts + MAX_PIECE_CELLS, end[own])
    part = own // groups
    each = max(MIN_CHUNK_CELLS, len(major) // CHUNK_COUNT)
    number = (np.cumsum(stops - starts) - 1) // each
    changes = (part[1:] != part[:-1]) | (number[1:] != number[:-1])
    chunks = zeros(int(changes.sum()) + 2, starts, np.int64)
    chunks[1:-1] = np.flatnonzero(changes) + 1
    chunks[-1] = len(own)
    return Ranges(
        starts, stops, first, chunks, part[chunks[:-1]] * numbers, count, numbers, is_shared
    )


def _divide(sizes: NDArray[np.int64], most: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The first piece of each, and which one each piece is of; of none there is one piece too."""
    each = np.maximum(-(-sizes // most), 1)
    first = zeros(len(sizes) + 1, sizes, np.int64)
    first[1:] = np.cumsum(each)
    return first, np.repeat(np.arange(len(sizes), like=sizes), each)


def runs(items: WorkItems, most: int) -> list[tuple[slice, slice]]:
    """Groups and their items in runs of at most `most` items (or of one group)."""
    if most not in items.known:
        items.known[most] = list(_runs(items, most))
    return items.known[most]


def _runs(items: WorkItems, most: int) -> Iterator[tuple[slice, slice]]:
    groups = len(items.first) - 1
    if items.total <= most:
        yield slice(0, groups), slice(0, items.total)
        return
    first = host(items.first)
    at = 0
    while at < groups:
        end = int(np.searchsorted(first, first[at] + most, "right")) - 1
        end = min(max(end, at + 1), groups)
        yield slice(at, end), slice(int(first[at]), int(first[end]))
        at = end


def item_size(blocks: int) -> int:
    """Numbers that a work item leaves for its group's system, as in the kernels."""
    return 32 * blocks * (blocks + 1) + 24 * blocks + 4


def count_items(itemsize: int, blocks: int) -> int:
    """Items whose partial systems, of numbers of so many bytes, are in memory at once."""
    return PARTIAL_BYTES // (itemsize * item_size(blocks))


def append_zero(x: NDArray[Any]) -> NDArray[Any]:
    """One more zero, for the row of zeros."""
    out = zeros(len(x) + 1, x, x.dtype)
    out[:-1] = x
    return out
