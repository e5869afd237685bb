"""The small systems of half-sweeps and Newton steps on the GPU: made by work items, then solved.

An item leaves a partial system, `item_size` numbers, see `kernels/grams.cu`. A group's system is
the sum of its items, taken in order. Groups are worked in runs, so that memory stays bounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco.arrays.kinds import contiguous, empty, on, zeros
from pygeco.arrays.linalg import mirror_lower
from pygeco.arrays.low_rank import Array
from pygeco.engines.cuda import single
from pygeco.engines.cuda.launch import Launcher, number, threads
from pygeco.engines.cuda.work_items import (
    WorkItems,
    append_zero,
    count_items,
    item_size,
    runs,
)
from pygeco.engines.values import Cells, Ridges, Solved

MAX_WHOLE_BLOCKS = 8  # blocks of eight columns whose whole Gram one warp keeps in its registers
PREFERRED_SHARED_BYTES = 32 << 10  # that a block takes at most, where it has a choice
MAX_SHARED_BYTES = 220 << 10  # that a block can have at all
MAX_SPARE_WARPS = 2048  # where systems do not fit in shared memory


def systems(
    launch: Launcher, cells: Cells, items: WorkItems, h: Array | None, y: Array, bias: Array | None,
    Q: Array, *, plain: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """Σ h q qᵀ and Σ h (y − bias_j) q of each group in full, in float64; if `plain`, Σ y q."""
    groups, s = len(items.first) - 1, Q.shape[1]
    blocks = max(1, -(-s // 8))
    Q = _pad_columns(Q, blocks)
    grams, sides = empty((groups, s, s), Q), empty((groups, s), Q)
    for part, run in runs(items, count_items(8, blocks)):
        parts = _parts(launch, cells, items, run, h, y, (bias, None), Q, None, np.float64, plain)
        count = part.stop - part.start
        if s:
            launch(
                "unpack<double>", threads(count * s * (s + 1)),
                np.int64(part.start), np.int64(count), items.first, np.int32(s),
                np.int32(blocks), parts, grams[part], sides[part],
            )  # fmt: skip
    return grams, sides


def half_sweep(
    launch: Launcher, cells: Cells, start: Array, ridges: Ridges, *, variances: bool
) -> Solved:
    """See `Engine.half_sweep`."""
    items, real, s = cells.blocks, start.dtype, ridges.partner.shape[1]
    blocks = max(1, -(-s // 8))
    in_registers = _fit_registers(blocks, real)
    if in_registers and not variances and single.is_plain(ridges):
        return single.sweep(launch, cells, start, ridges)
    Q = _pad(launch, ridges.partner, blocks, real)
    W = None if ridges.variance is None else _pad(launch, ridges.variance, blocks, real)
    biases = tuple(
        None if x is None else append_zero(x.astype(real, copy=False))
        for x in (ridges.bias, ridges.bias_variance)
    )
    ridge, noise, background = (
        None if x is None else contiguous(x, real)
        for x in (ridges.ridge, ridges.noise, ridges.background)
    )
    spectrum = None if ridges.spectrum is None else on(ridges.spectrum, Q, real)
    prior = on(mirror_lower(ridges.prior), Q, real)
    shift = on(ridges.shift, Q, real)
    stride = np.int64(0 if shift.ndim == 1 else shift.shape[1])
    out, uncertainty = start.copy(), empty(len(start), start)
    mean = None if noise is None else np.empty_like(out)
    variance = np.empty_like(out) if variances else None
    explained = None if background is None else empty(len(start), start)
    weights = cells.weights if len(cells.weights) else None
    offset = ridges.offsets or W is not None
    for part, run in runs(items, count_items(real.itemsize, blocks)):
        if in_registers:
            parts = single.make_parts(launch, cells, items, run, biases, Q, W, offset=offset)
        else:
            parts = _parts(
                launch, cells, items, run, weights, cells.values, biases, Q, W, real, offset=offset
            )
        _solve(
            launch, out,
            np.int64(part.start), np.int64(part.stop - part.start), items.first, np.int32(s),
            np.int32(blocks), np.int32(ridges.offsets), parts, ridge, prior, shift, stride,
            np.float64(ridges.tau), np.float64(ridges.jitter), noise, background, spectrum,
            results=(out, mean, variance, uncertainty, explained),
        )  # fmt: skip
    left = 0.0 if explained is None else _sum_squares(cells) - float(explained.sum())
    # Without variances nothing is uncertain, and nobody need wait.
    doubt = float(uncertainty.sum()) if variances or W is not None else 0.0
    return Solved(out, mean, variance, doubt, left)


def _sum_squares(cells: Cells) -> float:
    """Σ w y²."""
    y = cells.values.astype(float)
    return float(np.dot(y * cells.weights if len(cells.weights) else y, y))


def _parts(
    launch: Launcher, cells: Cells, items: WorkItems, run: slice, h: Array | None, y: Array,
    biases: tuple[Array | None, ...], Q: Array, W: Array | None, real: Any, plain: bool = False,
    offset: bool = False,
) -> Array:  # fmt: skip
    """The partial systems of a run of items; with `offset` what an offset needs too."""
    blocks, count = Q.shape[1] // 8, run.stop - run.start
    out = empty(count * item_size(blocks), Q, real)
    even, lines = blocks + blocks % 2, -(-blocks // 4)
    whole = blocks <= MAX_WHOLE_BLOCKS
    shape = f"{even}, {blocks}, true" if whole else "4, 4, false"
    shape += f", {_bool(h is not None)}, {_bool(offset)}"
    grid, block = threads(32 * count, 64)
    launch(
        f"grams<{number(y)}, {number(Q)}, {number(out)}, {shape}>",
        ((grid[0], 1 if whole else lines * (lines + 1) // 2), block),
        np.int64(run.start), np.int64(count), items.starts, cells.indices, h, y, *biases,
        np.bool_(plain), np.int32(blocks), np.int32(len(Q) - 1), Q, W, out,
    )  # fmt: skip
    return out


def _solve(
    launch: Launcher, out: Array, *given: Any, results: tuple[Array | None, ...]
) -> None:  # fmt: skip
    """One warp a system, in shared memory where it fits, else in a block of memory of its own."""
    groups, size = int(given[1]), out.dtype.itemsize
    room, warps = system_room(out.shape[1]), 4
    while warps > 1 and warps * room * size > PREFERRED_SHARED_BYTES:
        warps //= 2
    shared, grid, memory = warps * room * size, -(-groups // warps), None
    fits = shared <= MAX_SHARED_BYTES
    if not fits:
        shared, grid = 0, min(grid, MAX_SPARE_WARPS)
        memory = empty(grid * room, out, out.dtype)
    launch(
        f"solve<{number(out)}, {_bool(fits)}>", ((grid,), (32 * warps,)),
        *given, np.int64(room), memory, *results, shared=shared,
    )  # fmt: skip


def system_room(d: int) -> int:
    """Numbers of memory for one system of d unknowns while it is solved, as in the kernels."""
    ld, tall = (d + 4) // 4 * 4, (d + 3) // 4 * 4
    return tall * ld + 4 * tall


def _fit_registers(blocks: int, real: Any) -> bool:
    return bool(real == np.float32 and blocks <= single.MAX_LINES)


def _pad(launch: Launcher, factor: Array, blocks: int, real: Any) -> Array:
    """The rows as the kernels of such systems read them."""
    if _fit_registers(blocks, real):
        return single.arrange(launch, factor, blocks)
    return _pad_columns(factor.astype(real, copy=False), blocks)


def _pad_columns(factor: Array, blocks: int) -> Array:
    """The rows with zeros up to whole blocks of eight columns, and one more row of zeros."""
    out = zeros((len(factor) + 1, 8 * blocks), factor, factor.dtype)
    out[:-1, : factor.shape[1]] = factor
    return out


def _bool(x: bool) -> str:
    return "true" if x else "false"
