"""Half-sweeps in single precision on the GPU, of up to 64 unknowns: systems in a warp's registers.

Grams are made by matrix instructions of eleven bits, three for each product of numbers in two parts
(`kernels/tiles.cu`). A plain half-sweep solves a system where it was made, see `sweep_pieces`.
"""

from __future__ import annotations

import numpy as np

from pygeco.arrays.kinds import contiguous, empty, host, on
from pygeco.arrays.linalg import mirror_lower
from pygeco.arrays.low_rank import Array
from pygeco.engines.cuda.launch import Launcher, number, threads
from pygeco.engines.cuda.work_items import (
    WorkItems,
    append_zero,
    count_items,
    item_size,
    runs,
)
from pygeco.engines.values import Cells, Ridges, Solved

MAX_LINES = 8  # of eight unknowns: the system of so many is in one warp's registers
THREADS = 64  # of a block
STEPS_KEPT = 3  # of four rows a lane each, that a warp keeps in shared memory, as in the kernels


def arrange(launch: Launcher, factor: Array, lines: int) -> Array:
    """The rows as the kernels read them, in float32, and one more of zeros."""
    out = empty((len(factor) + 1, 8 * lines), factor, np.float32)
    launch(
        f"arrange<{number(factor)}>", threads(out.size),
        np.int64(len(factor)), np.int32(factor.shape[1]), np.int32(lines), contiguous(factor), out,
    )  # fmt: skip
    return out


def make_parts(
    launch: Launcher, cells: Cells, items: WorkItems, run: slice,
    biases: tuple[Array | None, ...], Q: Array, W: Array | None, *, offset: bool,
) -> Array:  # fmt: skip
    """The partial systems of a run of items; with `offset` what an offset needs too."""
    lines, count = Q.shape[1] // 8, run.stop - run.start
    h = cells.weights if len(cells.weights) else None
    out = empty(count * item_size(lines), Q, np.float32)
    flags = ", ".join("true" if x else "false" for x in (h is not None, offset))
    launch(
        f"single_grams<{number(cells.values)}, {lines}, {flags}>", threads(32 * count, THREADS),
        np.int64(run.start), np.int64(count), items.starts, cells.indices, h, cells.values, *biases,
        np.int32(len(Q) - 1), Q, W, out, shared=_ring_bytes(lines),
    )  # fmt: skip
    return out


def is_plain(ridges: Ridges) -> bool:
    """Whether factors alone are asked for: no offsets, variances, draws or background."""
    parts = (ridges.variance, ridges.bias_variance, ridges.noise, ridges.background)
    return not ridges.offsets and all(x is None for x in parts) and ridges.partner.shape[1] > 0


def sweep(launch: Launcher, cells: Cells, start: Array, ridges: Ridges) -> Solved:
    """A plain half-sweep, see `Engine.half_sweep`."""
    items, s = cells.blocks, start.shape[1]
    lines = -(-s // 8)
    Q, out = arrange(launch, ridges.partner, lines), start.copy()
    prior = np.zeros((8 * lines, 8 * lines), np.float32)
    prior[:s, :s] = mirror_lower(ridges.prior)
    shift = on(ridges.shift, Q, np.float32)
    ridge = (
        None if ridges.ridge is None else contiguous(ridges.ridge, np.float32), on(prior, Q), shift,
        np.int64(0 if shift.ndim == 1 else shift.shape[1]), np.float64(ridges.tau),
        np.float64(ridges.jitter), np.int32(s),
    )  # fmt: skip
    bias = None if ridges.bias is None else append_zero(ridges.bias.astype(np.float32, copy=False))
    h = cells.weights if len(cells.weights) else None
    kind = f"{number(cells.values)}, {lines}, {'false' if h is None else 'true'}"
    most = count_items(4, lines)
    left = int(items.places[-1]) if items.split else 0
    whole = [(slice(0, cells.groups), slice(0, items.total))]
    for part, run in whole if left <= most else runs(items, most):
        begin, count = np.int64(run.start), run.stop - run.start
        parts = empty(min(left, count) * item_size(lines), Q, np.float32)
        launch(
            f"sweep_pieces<{kind}>", threads(32 * count, THREADS),
            begin, np.int64(count), items.starts, items.groups, items.places, cells.indices, h,
            cells.values, bias, np.int32(len(Q) - 1), Q, *ridge, parts, out,
            shared=_ring_bytes(lines),
        )  # fmt: skip
        many = items.many if left <= most else _within(items.many, part)
        if len(many):
            shared = (begin, np.int64(len(many)), many, items.first, items.places)
            size = item_size(lines)
            launch("add_parts", threads(len(many) * size), *shared, np.int32(size), parts)
            solvers = threads(32 * len(many), THREADS)
            launch(f"solve_parts<{lines}>", solvers, *shared, *ridge, parts, out)
    return Solved(out, None, None, 0.0, 0.0)


def _ring_bytes(lines: int) -> int:
    return THREADS * STEPS_KEPT * 4 * 4 * lines


def _within(many: Array, part: slice) -> Array:
    """Those of some groups that are in a part of all."""
    first, last = np.searchsorted(host(many), [part.start, part.stop])
    return many[first:last]
