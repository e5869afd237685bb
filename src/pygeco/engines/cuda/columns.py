"""Passes over tall arrays on the GPU: one launch for each step, in single precision.

Sums of columns stay on the GPU, where the next step uses them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pygeco.arrays.kinds import contiguous, empty, host, on
from pygeco.arrays.low_rank import Array
from pygeco.engines.columns import (
    MIN_SQUARABLE_NORM,
    ColumnSteps,
    Moments,
    Rows,
    Squares,
    split_key,
)
from pygeco.engines.cuda.launch import Launcher, Shape, threads

PART_ROWS = 32  # that a warp takes; each part has sums of its own
# Numbers of a vector that a warp takes at least, and parts of a vector at most.
MIN_SPAN_NUMBERS, MAX_SPAN_PARTS = 128, 2048
# Rows that a block takes at least, and blocks at most; threads that share its columns.
MIN_BLOCK_ROWS, MAX_BLOCKS = 32, 512
BLOCK_THREADS, BLOCK_COLUMNS = 256, 64
BLOCK_SHARED_BYTES = 8 * BLOCK_THREADS
LONG_PARTS = 512  # of a long row, whose sums the host adds up


class BlockCut(NamedTuple):
    """An array's rows in parts, a block each: the grid, what kernels ask of it, and their number.

    Each block of a later kernel adds up the sums of all.
    """

    shape: Shape
    sizes: tuple[np.int64, np.int32, np.int64]
    parts: int

    @classmethod
    def of(cls, size: int, k: int) -> BlockCut:
        length = max(MIN_BLOCK_ROWS, -(-size // MAX_BLOCKS))
        parts = -(-size // length)
        shape = (parts, -(-k // BLOCK_COLUMNS)), (BLOCK_THREADS,)
        return cls(shape, (np.int64(size), np.int32(k), np.int64(length)), parts)


class CudaColumnSteps(ColumnSteps):
    """See `ColumnSteps`."""

    def __init__(self, launch: Launcher) -> None:
        self.launch = launch

    def measure(self, R: Array, scale: Array) -> Array:
        return self._sum("measure", R, contiguous(R, np.float32), scale)

    def reflect(self, draw: Array, mean: Array, old: Array, relax: float) -> Array:
        out = empty(mean.shape, mean, np.float32)
        given = (contiguous(x, np.float32) for x in (draw, mean, old))
        weights = np.float32(relax), np.float32((1 - relax**2) ** 0.5)
        self.launch("reflect", threads(out.size), np.int64(out.size), *given, *weights, out)
        return out

    def append_columns(self, X: Array, first: Array | None, second: Array | None) -> Array:
        more = [x for x in (first, second) if x is not None]
        if any(x.dtype != np.float32 for x in (X, *more)):
            return super().append_columns(X, first, second)
        m, s = X.shape
        out = empty((m, s + 2), X)
        given = (None if x is None else contiguous(x) for x in (X, first, second))
        self.launch("append_columns", threads(out.size), np.int64(m), np.int32(s), *given, out)
        return out

    def leave_span(self, Q: Array, x: Array) -> tuple[Array, Squares]:
        if x.dtype != np.float64:
            return super().leave_span(Q, x)
        k, size = Q.shape
        length = max(MIN_SPAN_NUMBERS, -(-size // MAX_SPAN_PARTS))
        parts = -(-size // length)
        y, sums, partial = empty(size, x), empty((2, k + 1), x), empty((parts, k + 1), x)
        own = np.int64(size), np.int32(k)
        shape, rest = threads(32 * parts), (np.int64(length), Q, x)
        self.launch("project", shape, *own, *rest, partial)
        self._add_columns(partial, sums[0])
        self.launch("subtract_projection", shape, *own, *rest, sums[0], y, partial)
        self._add_columns(partial, sums[1])
        low, high = np.float64(MIN_SQUARABLE_NORM**2), np.float64(MIN_SQUARABLE_NORM**-2)
        self.launch("subtract_again", threads(size), *own, Q, sums[1], low, high, y)
        before, again = host(sums)
        return y, Squares(before[k], again[k], float(again[:k] @ again[:k]))

    def draw_normals(self, key: int, shape: tuple[int, int], like: Array) -> Array:
        out = empty(shape, like, np.float32)
        self.launch("normals", threads(-(-out.size // 2)), np.int64(out.size), *split_key(key), out)
        return out

    def measure_rows(self, rows: Rows, guess: Array) -> Moments:
        # The guess is not needed: squares of single precision are exact in double.
        m, d = len(rows.bias), rows.factor.shape[1] + 1
        spread = len(rows.bias_variance) > 0
        width = 2 * d + 1 if spread else d + 1
        given = [
            None if x is None else contiguous(x, np.float32)
            for x in (*rows[:2], *(rows[2:4] if spread else (None, None)))
        ]
        less = None if rows.less is None else contiguous(rows.less, np.float32)
        Z = empty((m, width), rows.bias)
        self.launch(
            "stack_rows", threads(Z.size),
            np.int64(m), np.int32(d), np.int32(width), *given, on(rows.some, Z), less, Z,
        )  # fmt: skip
        sums = host(Z[:, : d + 1].T @ Z)
        number = sums[d, d]
        mean = sums[d, :d] / max(number, 1.0)
        covariance = sums[:d, :d] / max(number, 1.0) - np.outer(mean, mean)
        variances = sums[d, d + 1 :] / max(number, 1.0) if spread else np.zeros(d)
        return Moments(int(number), mean, covariance, variances)

    def center_rows(self, rows: Rows, guess: Array) -> Array:
        factor, bias = (contiguous(x, np.float32) for x in rows[:2])
        m, d = len(bias), factor.shape[1] + 1
        out = empty((m, d), bias, np.float32)
        whole, cut = BlockCut.of(m, d + 1), BlockCut.of(m, d)
        sums = empty((whole.parts, d + 1), bias)
        if m:
            shared, some = BLOCK_SHARED_BYTES, on(rows.some, bias)
            self.launch(
                "sum_rows", whole.shape, *whole.sizes, factor, bias, some, sums, shared=shared
            )
            self.launch(
                "center_rows", cut.shape, *cut.sizes, factor, bias, np.int64(cut.parts), sums, out,
                shared=shared,
            )  # fmt: skip
        return out

    def _sum(self, name: str, P: Array, *given: Any) -> Array:
        """The sums of columns that a pass leaves in parts."""
        shape, *sizes = _cut(P)
        k, parts = P.shape[1], -(-len(P) // PART_ROWS)
        partial = empty((parts, k), P)
        if k:
            self.launch(name, shape, *sizes, *given, partial)
        out = empty(k, P)
        if k:
            self._add_columns(partial, out)
        return out

    def _add_columns(self, partial: Array, out: Array) -> None:
        parts, k = partial.shape
        self.launch("add_columns", threads(32 * k), np.int64(parts), np.int32(k), partial, out)


def add_long_rows(launch: Launcher, X: Array) -> list[float]:
    """The sum of each of a few long rows, in one launch and one fetch."""
    rows, size = X.shape
    partial = empty((rows, LONG_PARTS), X)
    grid, block = threads(32 * LONG_PARTS)
    shape = ((grid[0], rows), block)
    launch("add_long_rows", shape, np.int64(size), np.int64(LONG_PARTS), X, partial)
    found: list[float] = host(partial).sum(axis=1).tolist()
    return found


def _cut(P: Array) -> tuple[Shape, np.int64, np.int32, np.int64]:
    """The grid for an array of rows, and what the kernels ask of its size."""
    m, k = P.shape
    grid, block = threads(32 * -(-m // PART_ROWS))
    return ((grid[0], max(1, -(-k // 32))), block), np.int64(m), np.int32(k), np.int64(PART_ROWS)
