"""A ridge on centered cells by conjugate gradients on the GPU: six launches a step, few fetches.

Launches are prepared once: all steps work on the same arrays, which have whole fours of columns.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from pygeco.arrays.kinds import contiguous, empty, host, zeros
from pygeco.arrays.low_rank import Array
from pygeco.engines.cuda.columns import BLOCK_SHARED_BYTES, BlockCut
from pygeco.engines.cuda.launch import Launcher, threads
from pygeco.engines.cuda.work_items import WorkItems
from pygeco.engines.values import Cells, CenteredCells, RidgeProblem

STEPS_A_FETCH = 2  # of sizes: what is launched after the goal is reached changes nothing
MAX_LANES = 16  # of four columns each, that share a cell

Work = list[Callable[[], None]]


def solve_ridge(launch: Launcher, X: CenteredCells, problem: RidgeProblem) -> Array:
    """See `Engine.solve_ridge`."""
    columns = problem.right.shape[1]
    if not problem.right.size or not X.by_row.groups:
        return problem.right / np.float32(problem.weight)
    descent = _Descent(launch, X, problem)
    now = 1
    for first in range(0, problem.max_iter, STEPS_A_FETCH):
        sizes = host(descent.sizes)
        if np.all(sizes[now] <= descent.share * sizes[2]):
            break
        for _ in range(min(STEPS_A_FETCH, problem.max_iter - first)):
            for work in descent.steps[now]:
                work()
            now = 1 - now
    return contiguous(descent.x[:, :columns])


class _Descent:
    """The arrays of a descent, and a step's launches, after the first residual and direction.

    Two rows of `sizes` are those of the residuals by turns, the third is that of the right side.
    """

    def __init__(self, launch: Launcher, X: CenteredCells, problem: RidgeProblem) -> None:
        self.launch, self.X = launch, X
        self.weight, self.share = np.float32(problem.weight), np.float64(problem.tolerance**2)
        right, self.x = (_pad(given) for given in (problem.right, problem.start))
        size, k = right.shape
        self.scale, self.there, self.mean, self.own, self.known = (
            contiguous(x, np.float32)
            for x in (problem.scale, problem.there, X.mean, X.size, X.known)
        )
        m = X.by_row.groups
        self.rows, self.cols = BlockCut.of(m, k), BlockCut.of(size, k)
        items = X.by_row.blocks.total, X.by_col.blocks.total
        # Arrays of one type are parts of one: to ask for memory takes as long as a launch.
        self.r, self.p, self.q, self.y, *self.pieces = _cut_out(
            (size, size, size, m, *items), k, right, np.float32
        )
        parts = self.cols.parts
        self.shifts, self.products, self.squares, self.pulls, goals, self.sizes = _cut_out(
            (parts, parts, parts, self.rows.parts, parts, 3), k, right, np.float64
        )
        self.sizes[0] = np.inf
        turns = self._turn(0), self._turn(1)
        self._begin(right, goals, turns[0])
        apply = self._apply(self.p)
        self.steps = [[*apply, self._step(t), turns[t]] for t in (0, 1)]

    def _begin(self, right: Array, goals: Array, turn: Callable[[], None]) -> None:
        """The residual at the start, and the first direction."""
        begin: Work = [
            self._prepare("weigh_rows", self.cols, self.mean, self.x, self.shifts),
            *self._apply(self.x),
            self._prepare(
                "begin_descent", self.cols, right, self.q, self.scale, self.r, self.p,
                self.squares, goals,
            ),
        ]  # fmt: skip
        for work in begin:
            work()
        parts, k = goals.shape
        self.launch(
            "add_columns", threads(32 * k), np.int64(parts), np.int32(k), goals, self.sizes[2]
        )
        turn()

    def _apply(self, p: Array) -> Work:
        """Q = (XᵀDX + weight) P."""
        X, (row_pieces, col_pieces) = self.X, self.pieces
        row_items, col_items = X.by_row.blocks, X.by_col.blocks
        return [
            self._multiply(X.by_row, X.row_data, None, p, row_pieces),
            self._prepare(
                "gather_rows", self.rows, row_items.first, row_pieces, self.own, self.known,
                self.there, np.int64(self.cols.parts), self.shifts, self.y, self.pulls,
            ),
            self._multiply(X.by_col, X.col_data, self.own, self.y, col_pieces),
            self._prepare(
                "gather_columns", self.cols, col_items.first, col_pieces, self.mean,
                np.int64(self.rows.parts), self.pulls, self.weight, p, self.q, self.products,
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
            "take_step", self.cols, np.int64(self.cols.parts), self.products, self.sizes[t],
            self.sizes[2], self.share, self.scale, self.p, self.q, self.x, self.r, self.squares,
        )  # fmt: skip

    def _turn(self, t: int) -> Callable[[], None]:
        return self._prepare(
            "change_direction", self.cols, np.int64(self.cols.parts), self.squares, self.sizes[t],
            self.sizes[2], self.share, self.scale, self.mean, self.r, self.p, self.sizes[1 - t],
            self.shifts,
        )  # fmt: skip

    def _prepare(self, name: str, cut: BlockCut, *given: Any) -> Callable[[], None]:
        return self.launch.prepare(name, cut.shape, *cut.sizes, *given, shared=BLOCK_SHARED_BYTES)


def _cut_out(lengths: tuple[int, ...], k: int, like: Array, dtype: type) -> list[Array]:
    """Arrays of so many rows of k numbers."""
    whole = empty((sum(lengths), k), like, dtype)
    ends = list(accumulate(lengths))
    return [whole[end - length : end] for length, end in zip(lengths, ends, strict=True)]


def _pad(x: Array) -> Array:
    """A copy with columns of zeros up to whole fours."""
    size, k = x.shape
    out = zeros((size, k + -k % 4), x, np.float32)
    out[:, :k] = x
    return out
