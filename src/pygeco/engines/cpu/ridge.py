"""A ridge on centered cells by block conjugate gradients on the cores of one machine.

All columns look for their solutions in the span of all directions (O'Leary 1980): half as many
steps as each by itself takes, for the price of a few products of tall arrays. All arrays keep the
width that the products with cells need.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.linalg import LEAST_EIGENVALUE, invert_gram
from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu import products
from pygeco.engines.cpu.columns import STEPS
from pygeco.engines.cpu.padding import pad_rows
from pygeco.engines.cpu.ridge_kernels import multiply_directions, take_step
from pygeco.engines.cpu.tall import ROWS_PER_SUM, SUMMED_ROWS, cut_rows, find_gemm
from pygeco.engines.values import Cells, CenteredCells, LineScales, RidgeProblem

STEP_ROWS = 256  # of all arrays of a step, that a thread takes at once
NOTHING = np.zeros((0, 0))


def multiply(
    cells: Cells,
    data: Array,
    flat: Array,
    width: int,
    scales: LineScales,
    out: Array,
    wide: Array = NOTHING,
    *,
    scale: float = 1.0,
    there: Array | None = None,
    weight: float = 0.0,
    P: Array | None = None,
    sums: Array = NOTHING,
) -> None:
    """Run `products.matmat`, whose arguments of no numbers have the types of the others."""
    none = np.zeros(0, data.dtype)
    own, pull, there = (
        none if x is None else x.astype(data.dtype, copy=False)
        for x in (scales.own, scales.pull, there)
    )
    shift = np.zeros(width) if scales.shift is None else scales.shift
    products.matmat(
        *cells[:2], np.asarray(data), cells.blocks, scale, flat, width, own, pull,
        shift.astype(data.dtype, copy=False), out, wide,
        there, weight, np.zeros((0, width), data.dtype) if P is None else P, sums,
    )  # fmt: skip


def solve(X: CenteredCells, problem: RidgeProblem) -> Array:
    """See `Engine.solve_ridge`; in single precision."""
    columns = problem.right.shape[1]
    if not problem.right.size or not X.by_row.groups:
        return problem.right / np.float32(problem.weight)
    system, scale = _System(X, problem), problem.scale
    r, p = _pad(problem.right), _pad(problem.start)
    x, width = np.zeros_like(p), p.shape[1]
    goal = problem.tolerance**2 * STEPS.measure(r, scale)
    means = STEPS.add_rows(p, X.mean)
    # The start is the first direction, which is followed to its end: r = right − A start.
    step: Array = np.eye(width)
    turn: Array = np.zeros((width, width))
    with one_blas_thread():
        for count in range(problem.max_iter + 1):
            q = system.apply(p, means)
            if count:
                step, turn = _find_step(p, q, r, scale)
            left, means = _take_step(x, r, p, q, scale, X.mean, step, turn)
            if bool(np.all(left <= goal)):
                break
    return np.ascontiguousarray(x[:, :columns])


class _Step(NamedTuple):
    """What the directions are multiplied by for a step, and for what of them the next ones keep."""

    step: Array
    turn: Array


def _find_step(p: Array, q: Array, r: Array, scale: Array) -> _Step:
    """The step after which no direction has anything left of the residual r, where q = A p, and
    the turn by which those that follow it, from diag(scale) of what is left, are conjugate to p.
    """
    width = p.shape[1]
    rows = cut_rows(len(p), max(SUMMED_ROWS, ROWS_PER_SUM * width))
    sums = np.empty((-(-len(p) // rows), 4 * width * width))
    multiply_directions(find_gemm(np.dtype(float)), p, q, r, scale, rows, sums)
    (own, force), (crossed, along) = sums.sum(axis=0).reshape(2, width, 2, width).swapaxes(1, 2)
    inverse = invert_gram(own, LEAST_EIGENVALUE["f"])
    step = inverse @ force
    return _Step(step, inverse @ (crossed @ step - along))


class _Left(NamedTuple):
    """What a step leaves of each column's squares, and meanᵀ p of the next directions."""

    squares: Array
    means: Array


def _take_step(
    x: Array, r: Array, p: Array, q: Array, scale: Array, mean: Array, step: Array, turn: Array
) -> _Left:
    """x += p step, r −= q step and p = diag(scale) r + p turn, in place."""
    width = p.shape[1]
    sums = np.empty((-(-len(p) // STEP_ROWS), 2 * width))
    step, back, turn = (b.astype(np.float32) for b in (step, -step, turn))
    take_step(find_gemm(p.dtype), x, r, p, q, scale, mean, step, back, turn, STEP_ROWS, sums)
    total = sums.sum(axis=0)
    return _Left(total[:width], total[width:])


def _pad(x: Array) -> Array:
    """A copy as wide as products need it."""
    flat, width = pad_rows(np.ascontiguousarray(x, np.float32))
    wide = flat.reshape(-1, width)
    return wide.copy() if np.shares_memory(wide, x) else wide


class _System:
    """XᵀDX + weight."""

    def __init__(self, X: CenteredCells, problem: RidgeProblem) -> None:
        self.X, self.weight = X, float(problem.weight)
        there = problem.there.reshape(-1)
        self.there = None if bool(np.all(there == 1)) else there

    def apply(self, P: Array, means: Array) -> Array:
        """The system times P, which meanᵀ P is known of."""
        X, width = self.X, P.shape[1]
        y, q = (np.empty((x.groups, width), np.float32) for x in (X.by_row, X.by_col))
        pulls = np.empty((len(X.by_row.blocks) - 1, width))
        rows = LineScales(X.size, None, X.known, means)
        given = P.reshape(-1), width
        multiply(X.by_row, X.row_data, *given, rows, y, there=self.there, sums=pulls)
        cols = LineScales(None, None, X.mean, pulls.sum(axis=0))
        given = y.reshape(-1), width
        multiply(X.by_col, X.col_data, *given, cols, q, weight=self.weight, P=P)
        return q
