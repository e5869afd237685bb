"""Passes over every cell of a dense matrix.

The matrix is cut into tiles that fit in the cache. BLAS makes a tile of predictions, the loss
turns it into slopes, BLAS multiplies those: nothing of the matrix's own size is ever formed. Tiles
depend on the shape alone and each line of the result is summed by one thread, in order, so the
result has the same bits for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu import tile_kernels as kernels
from pygeco.engines.cpu.parallel import lend
from pygeco.engines.cpu.threads import each
from pygeco.engines.values import Deviations, Formulas, Lines, Table

TILE_ROWS, TILE_COLS = 256, 512  # of a tile that stays in the cache of a core, about
MIN_SORT_COLS = 16  # that are sorted at once: a row of them fills a line of the cache
MIN_PARTS = 4  # to share out among threads, where their lines are
MIN_PART_LINES = 128  # at least so many each
MAX_SERIAL_CELLS = 1 << 18  # that are done sooner than threads are started

# evaluate(z, y, value, stiffness): the predictions z become slopes, in place.
Evaluate = Callable[[Array, NDArray[Any], Array, Array], None]


def lines(
    table: Table, loss: Formulas, P: Array, Q: Array, X: Array, *, by_row: bool, curved: bool
) -> Lines:
    """Sums over the cells of each row (or column) at predictions P Qᵀ.

    P (m, s), Q (n, s); X (n, k) goes with the columns, or (m, k) with the rows when the lines are
    columns. O(m n (s + k)), and O(m n k²/2) more for the Grams.
    """
    if table.values.strides[0] < table.values.strides[1]:  # columns lie together in memory
        return lines(table.T, loss, Q, P, X, by_row=not by_row, curved=curved)
    P, Q, X = (np.ascontiguousarray(F, dtype=table.dtype) for F in (P, Q, X))
    evaluate = _evaluator(loss, table.dtype)
    rows, cols = grid(table.values.shape)
    along, across = (rows, cols) if by_row else (cols, rows)
    # Where the lines make few parts, the tiles across are shared out too, in fixed runs.
    runs = parts(len(across), -(-len(across) // (1 if len(along) >= MIN_PARTS else MIN_PARTS)))
    count, k = len(P) if by_row else len(Q), X.shape[1]
    low = _lower_triangle(k)
    sides, sums = np.zeros((len(runs), count, k)), np.zeros((len(runs), 2, count))
    packed = np.zeros((len(runs), count, len(low[0]) if curved else 0))
    add = kernels.add_row_sums if by_row else kernels.add_column_sums

    def run_part(task: int) -> None:
        run, part = divmod(task, len(along))
        line = along[part]
        tiles = _Buffers(table)
        for other in across[runs[run]]:
            i, j = (line, other) if by_row else (other, line)
            slope, value, stiffness = tiles.evaluate(evaluate, P, Q, i, j)
            x = X[other]
            sides[run, line] += (slope if by_row else slope.T) @ x
            add(value, sums[run, 0, line])
            add(stiffness, sums[run, 1, line])
            if curved:
                outer = x[:, low[0]] * x[:, low[1]]
                packed[run, line] += (stiffness if by_row else stiffness.T) @ outer

    each(run_part, len(runs) * len(along), alone=table.values.size <= MAX_SERIAL_CELLS)
    grams = _unpack(packed.sum(axis=0), k, low) if curved else np.zeros((count, 0, 0))
    value, stiffness = sums.sum(axis=0)
    return Lines(sides.sum(axis=0), value, stiffness, grams)


def residuals_beyond(
    table: Table, P: Array, Q: Array, threshold: float | Array
) -> tuple[Array, ...]:
    """Rows, columns and residuals y − z of the cells with |y − z| > threshold, one or one a column.

    Row by row, and in the order of the columns within a row.
    """
    P, Q = (np.ascontiguousarray(F, dtype=table.dtype) for F in (P, Q))
    limits = np.broadcast_to(np.asarray(threshold, table.dtype), len(Q))
    rows, cols = grid(table.values.shape)
    found: list[Any] = [None] * len(rows)

    def run_part(task: int) -> None:
        line = rows[task]
        flagged_tiles = []
        for j in cols:
            r = table.values[line, j] - P[line] @ Q[j].T
            flagged = np.abs(r) > limits[j]
            w = table.weight(line, j)
            if w is not None:
                flagged &= w > 0
            at, to = np.nonzero(flagged)
            flagged_tiles.append((at + line.start, to + j.start, r[at, to]))
        at, to, r = (np.concatenate(part) for part in zip(*flagged_tiles, strict=True))
        order = np.argsort(at, kind="stable")  # a row goes on in the next tile
        found[task] = at[order], to[order], r[order]

    each(run_part, len(rows), alone=table.values.size <= MAX_SERIAL_CELLS)
    i, j, r = (np.concatenate(part) for part in zip(*found, strict=True))
    return i, j, r


def medians(table: Table) -> Array:
    """The median of the observed cells of each column; zero where there is none."""
    _, cols = grid(table.values.shape)
    out = np.zeros(table.values.shape[1])

    def run_part(task: int) -> None:
        j = cols[task]
        lines = np.ascontiguousarray(table.values[:, j].T)
        w = table.weight(slice(None), j)
        if w is None and lines.dtype.kind != "f":
            out[j] = np.median(lines, axis=1)
            return
        lines = lines.astype(table.dtype)
        if w is not None:
            lines[w.T <= 0] = np.nan
        lines.sort(axis=1)  # NaN last
        out[j] = _middles(lines, np.count_nonzero(~np.isnan(lines), axis=1))

    each(run_part, len(cols), alone=table.values.size <= MAX_SERIAL_CELLS)
    return out


def deviations(table: Table, P: Array, Q: Array) -> Deviations:
    """Median and lower quartile of |y − z| of each column at z = P Qᵀ, and how many cells."""
    P, Q = (np.ascontiguousarray(F, dtype=table.dtype) for F in (P, Q))
    m, n = table.values.shape
    cols = parts(n, max(MIN_SORT_COLS, TILE_ROWS * TILE_COLS // m))
    found = Deviations(np.zeros(n), np.zeros(n), np.zeros(n, np.int64))

    def run_part(task: int) -> None:
        j = cols[task]
        rest = Q[j] @ P.T
        np.subtract(table.values[:, j].T, rest, out=rest)
        np.abs(rest, out=rest)
        w = table.weight(slice(None), j)
        if w is not None:
            rest[w.T <= 0] = np.nan
        rest.sort(axis=1)  # NaN last
        count = np.count_nonzero(~np.isnan(rest), axis=1)
        middle = _middles(rest, count)
        half = np.count_nonzero(rest <= middle[:, None], axis=1)
        found.medians[j], found.quartiles[j], found.counts[j] = middle, _middles(rest, half), count

    each(run_part, len(cols), alone=table.values.size <= MAX_SERIAL_CELLS)
    return found


def _middles(lines: Array, count: NDArray[np.int64]) -> Array:
    """The median of the first `count` numbers of each row, which is sorted; zero of none."""
    every = np.arange(len(lines))
    low, high = lines[every, np.maximum(count - 1, 0) // 2], lines[every, count // 2]
    return np.where(count > 0, 0.5 * (low + high), 0.0)


def census(table: Table) -> tuple[float, float, int]:
    """Σ w, the largest w and the number of infinite values, over the cells that are not missing."""
    rows, cols = grid(table.values.shape)
    found = np.zeros((len(rows), 3))

    def run_part(task: int) -> None:
        i = rows[task]
        for j in cols:
            y, w = table.values[i, j], table.weight(i, j)
            if w is None:
                finite, infinite = _count_finite(y)
                found[task] += finite, 0, infinite
                found[task, 1] = max(found[task, 1], finite > 0)
            else:
                w = np.where(np.isnan(y), 0, w)
                total = float(w.sum(dtype=float))
                found[task] += total, 0, np.count_nonzero(np.isinf(y) & (w > 0))
                found[task, 1] = max(found[task, 1], float(w.max()))

    each(run_part, len(rows), alone=table.values.size <= MAX_SERIAL_CELLS)
    return float(found[:, 0].sum()), float(found[:, 1].max()), int(found[:, 2].sum())


def _count_finite(y: NDArray[Any]) -> tuple[int, int]:
    """How many cells are finite, and how many infinite: one kernel serves every layout."""
    return kernels.census(np.ascontiguousarray(y)) if y.dtype.kind == "f" else (y.size, 0)


def grid(shape: tuple[int, int]) -> tuple[list[slice], list[slice]]:
    """Rows and columns in runs whose tiles have at most TILE_ROWS × TILE_COLS cells."""
    m, n = shape
    few = 1 if m * n <= MAX_SERIAL_CELLS else MIN_PARTS
    room = TILE_ROWS * TILE_COLS
    return parts(m, max(TILE_ROWS, room // n), few), parts(n, max(TILE_COLS, room // m), few)


def parts(size: int, most: int, few: int = 1) -> list[slice]:
    """0 … size − 1 in even runs of at most `most`, at least `few` where those are not short."""
    count = max(-(-size // most), min(few, size // MIN_PART_LINES), 1)
    if count == 1:
        return [slice(0, size)]
    marks = np.linspace(0, size, count + 1).astype(int)
    return [slice(int(a), int(b)) for a, b in pairwise(marks)]


class _Buffers:
    """Four tiles' worth of memory, used again for each tile."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.memory = np.empty((4, TILE_ROWS * TILE_COLS), table.dtype)

    def evaluate(
        self, evaluate: Evaluate, P: Array, Q: Array, i: slice, j: slice
    ) -> tuple[Array, Array, Array]:
        """Slope, value and stiffness of a tile, weighted."""
        shape = i.stop - i.start, j.stop - j.start
        tiles = (flat[: shape[0] * shape[1]].reshape(shape) for flat in self.memory)
        z, value, stiffness, target = tiles
        np.matmul(P[i], Q[j].T, out=z)
        y = self.table.values[i, j]
        # One kernel serves every type and layout; of tiles that lie apart it would be no faster.
        if y.dtype != z.dtype or not y.flags.c_contiguous:
            np.copyto(target, y, casting="unsafe")
            y = target
        evaluate(z, lend(y), value, stiffness)
        w = self.table.weight(i, j)
        if w is not None:
            kernels.weigh(w, z, value, stiffness)
        return z, value, stiffness


@cache
def _lower_triangle(k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Kept: a pass over a small table takes no longer than finding it."""
    return np.tril_indices(k)


def _unpack(packed: Array, k: int, low: tuple[NDArray[Any], NDArray[Any]]) -> Array:
    grams = np.empty((len(packed), k, k))
    grams[:, low[0], low[1]] = packed
    grams[:, low[1], low[0]] = packed
    return grams


def _evaluator(loss: Formulas, dtype: np.dtype[Any]) -> Evaluate:
    """The loss on a tile: fused where its slope is a clipped residual, else array formulas."""
    if loss.clipped is not None:
        delta, scale = (dtype.type(number) for number in loss.clipped)
        return lambda z, y, value, bend: kernels.huber(z, y, delta, scale, value, bend)

    def formulas(z: Array, y: NDArray[Any], value: Array, stiffness: Array) -> None:
        y = y.astype(dtype)
        missing = ~np.isfinite(y)
        y[missing] = 1  # a target that every loss accepts
        value[...], stiffness[...] = loss.value(z, y), loss.stiffness(z, y)
        z[...] = loss.slope(z, y)
        for tile in (z, value, stiffness):
            tile[missing] = 0

    return formulas
