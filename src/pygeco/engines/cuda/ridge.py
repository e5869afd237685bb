"""A ridge on centered cells by conjugate gradients on the GPU: six launches and a fetch a step.

Launches are prepared once: all steps work on the same arrays, which have whole fours of columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pygeco.arrays.kinds import contiguous, empty, full, host, zeros
from pygeco.arrays.low_rank import Array
from pygeco.engines.cuda.launch import Launcher, Shape, threads
from pygeco.engines.cuda.work_items import WorkItems
from pygeco.engines.values import Cells, CenteredCells, RidgeProblem

# Rows that a block takes at least, and blocks at most: each adds up the sums of all.
MIN_BLOCK_ROWS, MAX_BLOCKS = 32, 512
BLOCK_THREADS, BLOCK_COLUMNS = 256, 64
MAX_LANES = 16  # of four columns each, that share a cell

Work = list[Callable[[], None]]


class _Cut(NamedTuple):
    """An array's rows in parts: the grid, what kernels ask of it, and the number of parts."""

    shape: Shape
    sizes: tuple[np.int64, np.int32, np.int64]
    parts: np.int64

    @classmethod
    def of(cls, size: int, k: int) -> _Cut:
        length = max(MIN_BLOCK_ROWS, -(-size // MAX_BLOCKS))
        parts = -(-size // length)
        shape = (parts, -(-k // BLOCK_COLUMNS)), (BLOCK_THREADS,)
        return cls(shape, (np.int64(size), np.int32(k), np.int64(length)), np.int64(parts))

    def make_sums(self, like: Array) -> Array:
        return empty((int(self.parts), int(self.sizes[1])), like)


def solve_ridge(launch: Launcher, X: CenteredCells, problem: RidgeProblem) -> Array:
    """See `Engine.solve_ridge`."""
    columns = problem.right.shape[1]
    if not problem.right.size or not X.by_row.groups:
        return problem.right / np.float32(problem.weight)
    descent = _Descent(launch, X, problem)
    now = 1
    for _ in range(problem.max_iter):
        sizes = host(descent.sizes)
        if np.all(sizes[now] <= problem.tolerance**2 * sizes[2]):
            break
        for work in descent.steps[now]:
            work()
        now = 1 - now
    return contiguous(descent.x[:, :columns])


class _Descent:
    """The arrays of a descent, and a step's launches, after the first residual and direction.

    Two rows of `sizes` are those of the residuals by turns, the third is that of the right side.
    """

    def __init__(self, launch: Launcher, X: CenteredCells, problem: RidgeProblem) -> None:
        self.launch, self.X, self.problem = launch, X, problem
        right, self.x = (_pad(given) for given in (problem.right, problem.start))
        size, k = right.shape
        self.r, self.p, self.q = (np.empty_like(right) for _ in range(3))
        self.y = empty((X.by_row.groups, k), right, np.float32)
        self.scale, self.there, self.mean, self.own, self.known = (
            contiguous(x, np.float32).reshape(-1)
            for x in (problem.scale, problem.there, X.mean, X.size, X.known)
        )
        self.rows, self.cols = _Cut.of(len(self.y), k), _Cut.of(size, k)
        self.pulls = self.rows.make_sums(right)
        self.shifts, self.products, self.squares = (self.cols.make_sums(right) for _ in range(3))
        self.sizes = full((3, k), np.inf, right)
        self.pieces = [
            empty((cells.blocks.total, k), right, np.float32) for cells in (X.by_row, X.by_col)
        ]
        self._begin(right)
        self.steps = [[*self._apply(self.p), self._step(t), self._turn(t)] for t in (0, 1)]

    def _begin(self, right: Array) -> None:
        """The residual at the start, and the first direction."""
        goals = self.cols.make_sums(right)
        begin: Work = [
            self._prepare("weigh_rows", self.cols, self.mean, self.x, self.shifts),
            *self._apply(self.x),
            self._prepare(
                "begin_descent", self.cols, right, self.q, self.scale, self.r, self.p,
                self.squares, goals,
            ),
            self._turn(0),
        ]  # fmt: skip
        for work in begin:
            work()
        k = goals.shape[1]
        self.launch(
            "add_columns", threads(32 * k), self.cols.parts, np.int32(k), goals, self.sizes[2]
        )

    def _apply(self, p: Array) -> Work:
        """Q = (XᵀDX + weight) P."""
        X, (row_pieces, col_pieces) = self.X, self.pieces
        row_items, col_items = X.by_row.blocks, X.by_col.blocks
        return [
            self._multiply(X.by_row, X.row_data, None, p, row_pieces),
            self._prepare(
                "gather_rows", self.rows, row_items.first, row_pieces, self.own, self.known,
                self.there, self.cols.parts, self.shifts, self.y, self.pulls,
            ),
            self._multiply(X.by_col, X.col_data, self.own, self.y, col_pieces),
            self._prepare(
                "gather_columns", self.cols, col_items.first, col_pieces, self.mean,
                self.rows.parts, self.pulls, np.float32(self.problem.weight), p, self.q,
                self.products,
            ),
        ]  # fmt: skip

    def _multiply(
        self, cells: Cells, data: Array, x: Array | None, P: Array, out: Array
    ) -> Callable[[], None]:
        items: WorkItems = cells.blocks
        k = P.shape[1]
        lanes = 1
        while 4 * lanes < k and lanes < MAX_LANES:
            lanes *= 2
        grid, block = threads(32 * items.total)
        return self.launch.prepare(
            f"multiply_fours<{lanes}>", ((grid[0], -(-k // (4 * lanes))), block),
            np.int64(items.total), items.starts, cells.indices, data, x, np.int32(k), P, out,
        )  # fmt: skip

    def _step(self, t: int) -> Callable[[], None]:
        return self._prepare(
            "take_step", self.cols, self.cols.parts, self.products, self.sizes[t], self.scale,
            self.p, self.q, self.x, self.r, self.squares,
        )  # fmt: skip

    def _turn(self, t: int) -> Callable[[], None]:
        return self._prepare(
            "change_direction", self.cols, self.cols.parts, self.squares, self.sizes[t],
            self.scale, self.mean, self.r, self.p, self.sizes[1 - t], self.shifts,
        )  # fmt: skip

    def _prepare(self, name: str, cut: _Cut, *given: Any) -> Callable[[], None]:
        return self.launch.prepare(name, cut.shape, *cut.sizes, *given, shared=8 * BLOCK_THREADS)


def _pad(x: Array) -> Array:
    """A copy with columns of zeros up to whole fours."""
    size, k = x.shape
    out = zeros((size, k + -k % 4), x, np.float32)
    out[:, :k] = x
    return out
