"""Observed cells in both orders, by numba, and the blocks in which its kernels work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.coded import Coded
from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu import products
from pygeco.engines.cpu.parallel import lend
from pygeco.engines.cpu.vectors import BYTES
from pygeco.engines.protocol import Engine
from pygeco.engines.values import Cells

BLOCK_COUNT = 256  # in which the kernels work, at most
SYSTEMS_AT_ONCE = BYTES // 4  # of half-sweeps, one a group, in single precision
MAX_BLOCK_SHARE = 1 / 24  # of all cells, in a block of whole vectors: more could keep cores waiting
MAX_CACHED_SUMS = 1 << 16  # that stay in the cache of a core, about
MIN_CELLS_PER_SUM = 256  # for sums to be scattered into
MAX_SCATTER_RUNS = 64  # that scatter side by side
RUN_CELLS_PER_SUM = (
    30  # of each run, at least: ten million cells have two runs for each of 16 threads
)
MAX_SORTING_RUNS = 32  # of cells that are sorted side by side
SORTED_CELLS_PER_PLACE = 8  # of all runs, at least: their places cost a byte a cell then


def both_orders(
    rows: NDArray[Any],
    cols: NDArray[Any],
    values: Array,
    weights: Array | None,
    shape: tuple[int, int],
    engine: Engine,
) -> tuple[Cells, Cells]:
    """Triplets in any order to (by row, by column), each group sorted. O(|E|)."""
    payloads = [values] if weights is None else [values, weights]
    orders = []
    for payload in payloads:
        by_row = in_rows(rows, cols, payload, shape)
        orders.append((by_row, _transpose(*by_row, shape[1])))
    none = np.zeros(0, dtype=values.dtype)
    both = []
    for side in (0, 1):
        pointers, indices, y = orders[0][side]
        w = none if weights is None else orders[1][side][2]
        both.append(Cells(pointers, indices, y, w, cut_blocks(pointers), engine, shape[1 - side]))
    return both[0], both[1]


def in_rows(
    rows: NDArray[Any], cols: NDArray[Any], values: Array, shape: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
    """Row pointers, columns and values, each row sorted; repeats stay in their order. O(|E|)."""
    return _transpose(*_group(cols, rows, values, shape[1]), shape[0])


def with_transpose(
    pointers: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: Array,
    weights: Array,
    n: int,
    engine: Engine,
) -> tuple[Cells, Cells]:
    """Cells that are grouped and sorted already, used where they are, and their other order."""
    other = _transpose(pointers, indices, values, n)
    heavy = _transpose(pointers, indices, weights, n)[2] if len(weights) else weights
    one = Cells(pointers, indices, values, weights, cut_blocks(pointers), engine, n)
    return one, Cells(*other, heavy, cut_blocks(other[0]), engine, one.groups)


def block_bounds(pointers: NDArray[np.int64], parts: int = BLOCK_COUNT) -> NDArray[np.int64]:
    """Boundaries of at most `parts` runs of groups with about equally many cells (and groups)."""
    groups = len(pointers) - 1
    load = pointers + np.arange(groups + 1)
    marks = np.searchsorted(load, np.linspace(0, load[-1], parts + 1))
    marks[0], marks[-1] = 0, groups
    return np.unique(marks).astype(np.int64)


def cut_blocks(pointers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The blocks of cells: those of `block_bounds`, or of whole vectors of groups.

    Half-sweeps solve as many systems at once as a vector has numbers. A block of fewer groups
    takes as long for its systems as a full one: with 10⁵ cells, up to four tenths of all time.
    """
    bounds = block_bounds(pointers)
    whole = np.minimum(-(-bounds // SYSTEMS_AT_ONCE) * SYSTEMS_AT_ONCE, bounds[-1])
    sizes = np.diff(pointers[whole])
    fair = MAX_BLOCK_SHARE * (pointers[-1] - pointers[0])
    return np.unique(whole) if len(sizes) and sizes.max() <= fair else bounds


def order_that_serves(by_row: Cells, by_col: Cells) -> bool | None:
    """Which order serves products both ways (true: that by column); None where both are needed.

    Products the other way are scattered into sums, which must be few enough for the cache, and
    far fewer than the cells.
    """
    for columns, (own, other) in enumerate(((by_row, by_col), (by_col, by_row))):
        if other.groups <= MAX_CACHED_SUMS and own.size >= MIN_CELLS_PER_SUM * other.groups:
            return bool(columns)
    return None


def scatter_runs(cells: Cells, size: int) -> NDArray[np.int64]:
    """Boundaries of runs of groups that scatter into `size` sums of their own each."""
    blocks = len(cells.blocks) - 1
    most = max(1, min(blocks, MAX_SCATTER_RUNS))
    count = min(max(cells.size // max(1, RUN_CELLS_PER_SUM * size), 1), most)
    return cells.blocks[np.arange(count + 1) * blocks // count]


def _group(
    major: NDArray[Any], minor: NDArray[Any], values: Array, groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
    """Triplets in any order, grouped by `major`, in their order within a group. O(|E|)."""
    runs = np.linspace(0, len(major), _count_runs(len(major), groups) + 1).astype(np.int64)
    pointers, places = _find_places(lend(major), runs, groups)
    indices = np.empty(len(values), np.int32)
    given = _carry(values)
    out = np.empty_like(given)
    products.put_triplets(major, minor, given, runs, places, indices, out)
    return pointers, indices, _bring(out, values)


def _transpose(
    from_pointers: NDArray[np.int64],
    from_indices: NDArray[np.int32],
    from_values: Array,
    groups: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
    indices = np.empty_like(from_indices)
    given = _carry(from_values)
    out = np.empty_like(given)
    pointers = transpose_into(indices, out, from_pointers, from_indices, given, groups)
    return pointers, indices, _bring(out, from_values)


def transpose_into(
    indices: NDArray[np.int32],
    values: NDArray[Any],
    from_pointers: NDArray[np.int64],
    from_indices: NDArray[np.int32],
    from_values: NDArray[Any],
    groups: int,
) -> NDArray[np.int64]:
    """The same cells in the other order, each group sorted; gives its pointers. O(|E|)."""
    bounds = block_bounds(from_pointers, _count_runs(int(from_pointers[-1]), groups))
    pointers, places = _find_places(from_indices, from_pointers[bounds], groups)
    given = from_pointers, from_indices, from_values
    products.put_transposed(*given, bounds, places, indices, values)
    return pointers


def _count_runs(cells: int, groups: int) -> int:
    """How many threads sort side by side: each has places of its own in all groups."""
    return int(np.clip(cells // (SORTED_CELLS_PER_PLACE * max(groups, 1)), 1, MAX_SORTING_RUNS))


def _find_places(
    major: NDArray[Any], runs: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each group begins, and in it the cells of each run."""
    places = np.zeros((len(runs) - 1, groups), np.int64)
    products.count_majors(major, runs, places)
    pointers = np.zeros(groups + 1, np.int64)
    np.cumsum(places.sum(axis=0), out=pointers[1:])
    begin = pointers[:-1].copy()
    for run in places:
        count = run.copy()
        run[:] = begin
        begin += count
    return pointers, places


def _carry(values: Any) -> NDArray[Any]:
    """What is moved for values: themselves, or their codes."""
    return values.codes if isinstance(values, Coded) else values


def _bring(moved: NDArray[Any], values: Any) -> Any:
    """What was moved, as values again."""
    return Coded(moved, values.table) if isinstance(values, Coded) else moved
