"""A ridge on centered cells by block conjugate gradients on the cores of one machine.

All columns look for their solutions in the span of all directions (O'Leary 1980): half as many
steps as each by itself takes, for the price of a few products of tall arrays. All arrays keep the
width that the products with cells need.
"""

from __future__ import annotations

import numpy as np

from pygeco.arrays.kinds import inner, scaled_rows
from pygeco.arrays.linalg import LEAST_EIGENVALUE, invert_gram
from pygeco.arrays.low_rank import Array
from pygeco.arrays.tall import add_product
from pygeco.engines.cpu import products
from pygeco.engines.cpu.columns import STEPS
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
    goal = problem.tolerance**2 * STEPS.measure(right, scale)
    r = right - system.apply(x)
    p = scaled_rows(r, scale)
    for _ in range(problem.max_iter):
        if bool(np.all(STEPS.measure(r, scale) <= goal)):
            break
        q = system.apply(p)
        inverse = invert_gram(inner(p, q), LEAST_EIGENVALUE["f"])
        step = (inverse @ inner(p, r)).astype(np.float32)
        add_product(x, p, step)
        add_product(r, q, -step)
        z = scaled_rows(r, scale)
        add_product(z, p, (-inverse @ inner(q, z)).astype(np.float32))
        p = z
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

    def apply(self, P: Array) -> Array:
        """The system times P."""
        X, width = self.X, P.shape[1]
        y, q = (np.empty((x.groups, width), np.float32) for x in (X.by_row, X.by_col))
        pulls = np.empty((len(X.by_row.blocks) - 1, width))
        rows = LineScales(X.size, None, X.known, STEPS.add_rows(P, X.mean))
        given = P.reshape(-1), width
        multiply(X.by_row, X.row_data, *given, rows, y, there=self.there, sums=pulls)
        cols = LineScales(None, None, X.mean, pulls.sum(axis=0))
        given = y.reshape(-1), width
        multiply(X.by_col, X.col_data, *given, cols, q, weight=self.weight, P=P)
        return q
