"""A ridge on centered cells by conjugate gradients on the cores of one machine.

A step is four launches: the system's two products, with all that goes along with them, the step
itself, and the next direction. All arrays keep the width that the products need.
"""

from __future__ import annotations

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.engines.columns import divide_sizes
from pygeco.engines.cpu import column_kernels, products
from pygeco.engines.cpu.columns import PART_ROWS, STEPS, make_sums
from pygeco.engines.cpu.padding import pad_rows
from pygeco.engines.values import Cells, CenteredCells, LineScales, RidgeProblem

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
    right, x = (_pad(given) for given in (problem.right, problem.start))
    r = system.apply(x, STEPS.add_rows(x, X.mean))[0]
    np.subtract(right, r, out=r)
    goal = problem.tolerance**2 * STEPS.measure(right, scale)
    size = STEPS.measure(r, scale)
    p, before = np.zeros_like(r), np.full_like(size, np.inf)
    for _ in range(problem.max_iter):
        if bool(np.all(size <= goal)):
            break
        ratios, shifts = divide_sizes(size, before), make_sums(p)
        column_kernels.turn(r, p, scale, ratios.astype(np.float32), PART_ROWS, X.mean, shifts)
        q, found = system.apply(p, shifts.sum(axis=0))
        lengths = divide_sizes(size, found)
        before, size = size, STEPS.descend(x, r, p, q, scale, lengths)[2]
    return np.ascontiguousarray(x[:, :columns])


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
        self.row_sums, self.col_sums = (len(x.blocks) - 1 for x in (X.by_row, X.by_col))

    def apply(self, P: Array, shift: Array) -> tuple[Array, Array]:
        """The system times P, and diag of Pᵀ times that; `shift` is Pᵀ mean."""
        X, width = self.X, P.shape[1]
        y, q = (np.empty((x.groups, width), np.float32) for x in (X.by_row, X.by_col))
        pulls, found = (np.empty((n, width)) for n in (self.row_sums, self.col_sums))
        rows = LineScales(X.size, None, X.known, shift)
        given = P.reshape(-1), width
        multiply(X.by_row, X.row_data, *given, rows, y, there=self.there, sums=pulls)
        cols = LineScales(None, None, X.mean, pulls.sum(axis=0))
        given = y.reshape(-1), width
        multiply(X.by_col, X.col_data, *given, cols, q, weight=self.weight, P=P, sums=found)
        return q, found.sum(axis=0)
