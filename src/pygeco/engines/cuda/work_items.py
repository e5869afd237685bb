"""How the GPU cuts cells into the items that a warp works on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import contiguous, empty, host, zeros

# An item has |E| / ITEM_COUNT cells, but at least and at most so many.
ITEM_COUNT, MIN_ITEM_CELLS, MAX_ITEM_CELLS = 1 << 16, 256, 1 << 14
# Bytes of the other side that a processor's cache holds, and the cells of a group that a range of
# so many needs to be worth its while.
RANGE_BYTES, MIN_RANGE_CELLS = 3 << 16, 64


class Ranges(NamedTuple):
    """Each group's cells by ranges of the other side, the first range of every group first: what a
    product gathers from one range stays in a processor's own cache. Columns of the matrix of cell
    numbers (parts, groups) are groups.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    parts: int


class WorkItems(NamedTuple):
    """Item p has the cells starts[p] … starts[p + 1] − 1, group i the items first[i] …
    first[i + 1] − 1, at least one; groups[p] is the group of item p. `split` says that some
    group has several; `known` keeps the runs that were asked for. `order` says where, in the other
    order of the same cells, each cell is.
    """

    starts: NDArray[np.int64]
    first: NDArray[np.int64]
    groups: NDArray[np.int32]
    total: int
    length: int
    split: bool
    known: dict[int, list[tuple[slice, slice]]]
    ranges: Ranges | None = None
    order: NDArray[Any] | None = None


def split_groups(pointers: NDArray[np.int64]) -> WorkItems:
    """Each group in items of equal length, but for its last one. Depends on the data alone."""
    size, groups = int(pointers[-1] - pointers[0]), len(pointers) - 1
    length = min(max(size // ITEM_COUNT, MIN_ITEM_CELLS), MAX_ITEM_CELLS) // 32 * 32
    each = np.maximum(-(-np.diff(pointers) // length), 1)
    first = zeros(groups + 1, pointers, np.int64)
    first[1:] = np.cumsum(each)
    count = int(first[-1])
    own = np.repeat(np.arange(groups, dtype=np.int32, like=pointers), each)
    starts = empty(count + 1, pointers, np.int64)
    starts[:count] = pointers[own] + (np.arange(count, like=pointers) - first[own]) * length
    starts[count] = pointers[-1]
    return WorkItems(starts, first, own, count, length, count > groups, {})


def ranges(
    major: NDArray[Any], minor: NDArray[Any], groups: int, others: int, itemsize: int
) -> Ranges | None:
    """The ranges of sorted cells; None where a range would have too few of a group's cells."""
    numbers = RANGE_BYTES // itemsize
    count = -(-others // numbers)
    if others * 4 <= 5 * numbers or len(major) < MIN_RANGE_CELLS * groups * count:
        return None
    keys = major.astype(np.int64) * others + minor
    edges = np.minimum(np.arange(count + 1, like=major) * numbers, others)
    bounds = edges[:, None] + np.arange(groups, like=major) * others
    at = np.searchsorted(keys, bounds.reshape(-1)).astype(np.int64).reshape(bounds.shape)
    return Ranges(contiguous(at[:-1]), contiguous(at[1:]), count)


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
