"""Products with numbers at the cells on the GPU: sums over work items, then over their groups."""

from __future__ import annotations

import numpy as np

from pygeco.arrays.kinds import contiguous, empty
from pygeco.arrays.low_rank import Array
from pygeco.engines.cuda.launch import Launcher, number, threads
from pygeco.engines.cuda.work_items import Ranges, WorkItems
from pygeco.engines.values import Cells, LineScales

BLOCK = 1024  # threads that share a range
WIDE = 2  # columns that a lane takes, where there are more than a warp's


def multiply_vector(
    launch: Launcher, cells: Cells, data: Array, scale: float, x: Array | None
) -> Array:
    """See `Engine.product`; without x the sums of the groups."""
    items: WorkItems = cells.blocks
    if x is not None:
        x = contiguous(x, data.dtype)
    if x is not None and items.ranges is not None:
        return _multiply_ranges(launch, cells, data, scale, x, items.ranges)
    out = empty(items.total, data)
    launch(
        f"matvec<{number(data)}>", threads(32 * items.total),
        np.int64(items.total), items.starts, items.starts[1:], cells.indices, data,
        np.float64(1.0 if items.split else scale), x, out,
    )  # fmt: skip
    return _sum_items(launch, items, out[:, None], scale)[:, 0] if items.split else out


def _multiply_ranges(
    launch: Launcher, cells: Cells, data: Array, scale: float, x: Array, ranges: Ranges
) -> Array:
    """The product, range by range."""
    partial, out = empty(len(ranges.starts), data), empty(cells.groups, data)
    if ranges.is_shared:
        launch(
            f"matvec_ranges<{number(data)}>", ((len(ranges.bases),), (BLOCK,)),
            np.int64(ranges.numbers), np.int64(len(x)), ranges.chunks, ranges.bases, ranges.starts,
            ranges.stops, cells.indices, data, x, partial,
            shared=ranges.numbers * data.dtype.itemsize,
        )  # fmt: skip
    else:
        launch(
            f"matvec<{number(data)}>", threads(32 * len(partial)),
            np.int64(len(partial)), ranges.starts, ranges.stops, cells.indices, data,
            np.float64(1.0), x, partial,
        )  # fmt: skip
    launch(
        "add_ranges", threads(len(out)),
        np.int64(ranges.parts), np.int64(len(out)), ranges.first, np.float64(scale), partial, out,
    )  # fmt: skip
    return out


def multiply(
    launch: Launcher, cells: Cells, data: Array | None, x: Array | None, X: Array
) -> Array:
    """Σ data x_j X_j over each group, in the precision of X."""
    out = _multiply_items(launch, cells, data, x, X)
    return _sum_items(launch, cells.blocks, out, 1.0) if cells.blocks.split else out


def multiply_scaled(
    launch: Launcher, cells: Cells, data: Array, X: Array, scales: LineScales
) -> Array:
    """See `Engine.scaled_products`."""
    given = (None if x is None else contiguous(x, data.dtype) for x in scales)
    own, other, pull, shift = given
    partial = _multiply_items(launch, cells, data, other, contiguous(X, data.dtype))
    return _sum_items(launch, cells.blocks, partial, 1.0, own, pull, shift)


def _multiply_items(
    launch: Launcher, cells: Cells, data: Array | None, x: Array | None, X: Array
) -> Array:
    """Σ data x_j X_j over each item."""
    items, k = cells.blocks, X.shape[1]
    out = empty((items.total, k), X, X.dtype)
    grid, block = threads(32 * items.total)
    wide = 1 if k <= 32 else WIDE
    if k:
        launch(
            f"matmat<{number(cells.values if data is None else data)}, {number(X)}, {wide}>",
            ((grid[0], -(-k // (32 * wide))), block),
            np.int64(items.total), items.starts, cells.indices,
            data, x, np.int32(k), X, out,
        )  # fmt: skip
    return out


def _sum_items(
    launch: Launcher,
    items: WorkItems,
    partial: Array,
    scale: float,
    own: Array | None = None,
    pull: Array | None = None,
    shift: Array | None = None,
) -> Array:
    """The items of each group, added in order; then scaled and shifted."""
    groups, k = len(items.first) - 1, partial.shape[1]
    out = empty((groups, k), partial, partial.dtype)
    if k:
        launch(
            f"add_pieces<{number(partial)}>", threads(groups * k),
            np.int64(groups), items.first, np.int32(k), np.float64(scale), own, pull, shift,
            partial, out,
        )  # fmt: skip
    return out
