"""Ridge regression on groups of attributes, for many right sides at once.

The unknowns are one array (F_g, k) for each group g of attributes; they may be of different kinds,
as the other side of a matrix on a cluster and a table on this machine are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.arrays.operators import Operator
from pygeco.engines.columns import DOUBLE, ColumnSteps, divide_sizes, steps_of
from pygeco.engines.values import CenteredCells, RidgeProblem

PATTERN, TABLE = "pattern", "table"  # sources of groups: the known cells, or what was given
Blocks = tuple[Array, ...]  # one array (F_g, k) a group


class RidgeGroup(NamedTuple):
    """Attributes of one source: X (m, F), centered, zero where nothing is known of a row.

    `mean` is what was subtracted from each attribute, `diagonal` that of XᵀX over rows with data.
    A group that `stays` is not dropped, whatever it says. `cells` are what X is made of, where an
    engine may solve with them by itself.
    """

    name: str
    source: str
    X: Operator
    diagonal: Array
    mean: Array
    stays: bool = False
    cells: CenteredCells | None = None

    @property
    def size(self) -> int:
        return self.X.shape[1]


def multiply(groups: Sequence[RidgeGroup], B: Blocks) -> Array:
    """Σ_g X_g B_g, (m, k)."""
    first, *rest = (group.X.matmat(b) for group, b in zip(groups, B, strict=True))
    for part in rest:
        first = first + part
    return first


def multiply_transposed(groups: Sequence[RidgeGroup], Y: Array) -> Blocks:
    """X_gᵀ Y of each group."""
    return tuple(group.X.rmatmat(Y) for group in groups)


def solve_ridge(
    groups: Sequence[RidgeGroup],
    weights: Sequence[float],
    right: Blocks,
    start: Blocks,
    *,
    there: Array,
    tolerance: float,
    max_iter: int = 30,
) -> Blocks:
    """(XᵀDX + diag(λ))⁻¹ times the right sides, by conjugate gradients from `start`.

    D is the diagonal `there` (m, 1): one for rows with data, else zero; or weights of the rows.

    Each column is preconditioned by the diagonal, and all are stepped together until the largest
    residual, by that measure, has fallen to `tolerance` of its right side. O(|X| k) a step, in the
    precision of the right sides. Steps are those of the right sides, too: they may be in slabs on a
    cluster where the start is at hand.
    """
    whole = isinstance(there, np.ndarray) and bool(np.all(there == 1))
    scale = tuple(
        (1.0 / (group.diagonal + weight)).astype(b.dtype, copy=False)
        for group, weight, b in zip(groups, weights, right, strict=True)
    )

    alone = groups[0].cells if len(groups) == 1 else None
    if alone is not None:
        problem = RidgeProblem(weights[0], scale[0], right[0], start[0], there, tolerance, max_iter)
        found = alone.by_row.engine.solve_ridge(alone, problem)
        if found is not None:
            return (found,)

    def apply(P: Blocks) -> tuple[Blocks, Array]:
        """The system times P, and the products of both, a number a column."""
        found = multiply(groups, P)
        parts = multiply_transposed(groups, found if whole else there * found)
        return _collect(
            _steps_of(q).add_multiple(q, p, weight)
            for q, p, weight in zip(parts, P, weights, strict=True)
        )

    x: Blocks = tuple(_steps_of(b).take(a) for a, b in zip(start, right, strict=True))
    r: Blocks = tuple(b - a for b, a in zip(right, apply(x)[0], strict=True))
    goal = tolerance**2 * _measure(right, scale)
    size = _measure(r, scale)
    p: Blocks = tuple(s[:, None] * b for s, b in zip(scale, r, strict=True))
    for _ in range(max_iter):
        if bool(np.all(size <= goal)):
            break
        q, products = apply(p)
        lengths = divide_sizes(size, products)
        stepped = [
            _steps_of(parts[1]).descend(*parts, lengths)
            for parts in zip(x, r, p, q, scale, strict=True)
        ]
        x, r = (tuple(part[k] for part in stepped) for k in (0, 1))
        before, size = size, _sum(part[2] for part in stepped)
        ratios = divide_sizes(size, before)
        p = tuple(_steps_of(b).turn(b, a, s, ratios) for b, a, s in zip(r, p, scale, strict=True))
    return x


def _steps_of(x: Array) -> ColumnSteps:
    return DOUBLE if x.dtype == np.float64 else steps_of(x)


def _measure(R: Blocks, scale: Blocks) -> Array:
    """Σ_g diag(R_gᵀ diag(scale_g) R_g)."""
    return _sum(_steps_of(r).measure(r, s) for r, s in zip(R, scale, strict=True))


def _collect(parts: Iterable[tuple[Array, Array]]) -> tuple[Blocks, Array]:
    """The arrays, and the sum of what comes with them."""
    arrays, sums = zip(*parts, strict=True)
    return arrays, _sum(sums)


def _sum(parts: Iterable[Array]) -> Array:
    """Those of a device stay there."""
    first, *rest = parts
    return sum(rest, first)
