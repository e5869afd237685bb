"""A side's vectors about what is known of it: a ridge whose weights the evidence sets.

(u_i, b_i) ~ N(μ + Σ_g B_gᵀ x_ig, Λ⁻¹) and B_g ~ N(0, (λ_g Λ)⁻¹). Given the vectors, B solves
(XᵀX + diag(λ)) B = Xᵀ(U − μ). With S = (XᵀX + diag(λ))⁻¹, group g has F_g − λ_g tr S_gg degrees of
freedom, and λ_g is their number times d over tr(Λ B_gᵀB_g) (MacKay 1992): that of a group that says
nothing grows without bound, and the group is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host, inner, on, spread_lines, stack, times, zeros
from pygeco.arrays.linalg import find_inverse_root
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes.ridge import (
    PATTERN,
    Blocks,
    RidgeGroup,
    multiply,
    multiply_transposed,
    solve_ridge,
)
from pygeco.engines.columns import draw_normals

FLOAT = np.float32
PROBES = 8  # vectors of random signs by which traces are estimated
DOUBT_DRAWS = 16  # of the coefficients about their mean, kept with a model
START_WEIGHT = 10.0  # λ of a group at first, in mean squared norms of its rows
MAX_WEIGHT = 1e8  # in the same unit; from here on a group says nothing
MIN_DEGREES = 0.1  # of freedom, below which a group is dropped
MIN_STAYING_SHARE = 0.95  # of a group's degrees of freedom after one more sweep; else it fades
RIDGE_TOLERANCE = 1e-2  # of a sweep's solution, which the next sweep starts from


class Effect(NamedTuple):
    """How one group of attributes moves the vectors of its side.

    `coefficients` (F, d) is B, `weight` λ, `degrees` the degrees of freedom, `mean` the mean of
    each attribute, `doubt` (F, k) draws of a column of B about its mean, in units of Λ^-½.
    """

    name: str
    source: str
    coefficients: Array
    weight: float
    degrees: float
    mean: Array
    doubt: Array

    def add_components(self, count: int) -> Effect:
        """With more components, which it does not move yet."""
        B = self.coefficients
        new = zeros((len(B), count), B, FLOAT)
        return self._replace(coefficients=np.column_stack([B[:, :-1], new, B[:, -1:]]))


def widen_patterns(
    effects: Sequence[Effect], size: int, place: NDArray[np.integer[Any]]
) -> tuple[Effect, ...]:
    """Effects where the other side has grown: new cells of a pattern have no effect yet.

    The old lines of the other side, of which there are `size` now, have these places.
    """
    return tuple(
        effect
        if effect.source != PATTERN
        else effect._replace(
            coefficients=spread_lines(effect.coefficients, size, place),
            mean=spread_lines(effect.mean, size, place),
            doubt=spread_lines(effect.doubt, size, place),
        )
        for effect in effects
    )


def start_effects(groups: Sequence[RidgeGroup], d: int) -> tuple[Effect, ...]:
    """None of them moves anything yet."""
    return tuple(
        Effect(
            group.name,
            group.source,
            zeros((group.size, d), group.mean, FLOAT),
            START_WEIGHT * _unit(group),
            0.0,
            group.mean,
            zeros((group.size, PROBES), group.mean, FLOAT),
        )
        for group in groups
    )


def _unit(group: RidgeGroup) -> float:
    """The mean squared norm of its rows."""
    return max(float(np.sum(group.diagonal, dtype=float)) / group.X.shape[0], 1e-30)


def solve_effects(
    groups: Sequence[RidgeGroup],
    effects: Sequence[Effect],
    T: Array,
    there: Array,
    tolerance: float = RIDGE_TOLERANCE,
) -> tuple[Effect, ...]:
    """B given the vectors T = U − μ, and the degrees of freedom, at the present weights.

    Rows count by `there` (m, 1): one, zero, or weights.
    """
    d = T.shape[1]
    # In units of the groups' own rows: else the noise of large ones drowns the trace of small ones.
    units = [FLOAT(_unit(group) ** 0.5 if len(groups) > 1 else 1.0) for group in groups]
    signs = tuple(units[t] * draw_signs(group, t) for t, group in enumerate(groups))
    right = _join(multiply_transposed(groups, there * T), signs)
    start = _join(tuple(e.coefficients for e in effects), tuple(map(_last_probes, effects)))
    weights = [e.weight for e in effects]
    found = solve_ridge(groups, weights, right, start, there=there, tolerance=tolerance)
    solved = []
    for effect, group, block, z, unit in zip(effects, groups, found, signs, units, strict=True):
        probes = block[:, d:]
        trace = float(host(np.sum(z * probes, dtype=float))) / (PROBES * float(unit) ** 2)
        degrees = min(max(group.size - effect.weight * trace, 0.0), float(group.size))
        solved.append(effect._replace(coefficients=block[:, :d], degrees=degrees, doubt=probes))
    return tuple(solved)


def _last_probes(effect: Effect) -> Array:
    """The probes' solution of the sweep before; none where draws are in its place already."""
    doubt = effect.doubt
    return doubt if doubt.shape[1] == PROBES else zeros((len(doubt), PROBES), doubt, FLOAT)


def weigh_effects(
    groups: Sequence[RidgeGroup],
    effects: Sequence[Effect],
    squares: Sequence[Array],
    precision: Array,
    unknowns: int,
) -> tuple[Effect, ...]:
    """λ_g = degrees · d over tr(Λ B_gᵀ B_g)."""
    found = []
    for group, effect, square in zip(groups, effects, squares, strict=True):
        size = float(np.sum(precision * square))
        weight = unknowns * effect.degrees / max(size, 1e-300)
        unit = _unit(group)
        found.append(effect._replace(weight=float(np.clip(weight, 1e-3 * unit, MAX_WEIGHT * unit))))
    return tuple(found)


def square_effects(effects: Sequence[Effect]) -> tuple[Array, ...]:
    """B_gᵀ B_g of each, on the host."""
    wide = (e.coefficients.astype(float) for e in effects)
    return tuple(inner(B, B) for B in wide)


def sum_pulls(effects: Sequence[Effect], squares: Sequence[Array]) -> Array:
    """Σ_g λ_g B_gᵀ B_g, on the host."""
    return np.sum([e.weight * square for e, square in zip(effects, squares, strict=True)], axis=0)


def draw_effects(
    groups: Sequence[RidgeGroup],
    effects: Sequence[Effect],
    T: Array,
    precision: Array,
    there: Array,
    rng: np.random.Generator,
) -> tuple[Effect, ...]:
    """B from its posterior given the vectors, where Λ is the precision."""
    root = find_inverse_root(precision).T.astype(FLOAT)
    start = tuple(e.coefficients for e in effects)
    found = _solve_with_noise(
        groups,
        effects,
        T,
        there,
        start,
        lambda shape, like: times(draw_normals(rng, shape, like), root),
    )
    return tuple(e._replace(coefficients=b) for e, b in zip(effects, found, strict=True))


def draw_weights(
    effects: Sequence[Effect],
    squares: Sequence[Array],
    precision: Array,
    unknowns: int,
    rng: np.random.Generator,
) -> tuple[Effect, ...]:
    """λ_g given B_g and Λ: a gamma variable."""
    return tuple(
        e._replace(
            weight=rng.gamma(
                len(e.coefficients) * unknowns / 2,
                2 / max(float(np.sum(precision * square)), 1e-300),
            )
        )
        for e, square in zip(effects, squares, strict=True)
    )


def state_doubts(
    groups: Sequence[RidgeGroup], effects: Sequence[Effect], there: Array
) -> tuple[Effect, ...]:
    """Draws of a column of B about its mean, in units of Λ^-½."""
    rng = stream(Purpose.ATTRIBUTES, 1)
    start = tuple(zeros((group.size, DOUBT_DRAWS), group.mean, FLOAT) for group in groups)
    zero = zeros((len(there), DOUBT_DRAWS), there, FLOAT)

    def noise(shape: tuple[int, int], like: Array) -> Array:
        return on(rng.standard_normal(shape, dtype=FLOAT), like)

    found = _solve_with_noise(groups, effects, zero, there, start, noise)
    return tuple(e._replace(doubt=q) for e, q in zip(effects, found, strict=True))


def _solve_with_noise(
    groups: Sequence[RidgeGroup],
    effects: Sequence[Effect],
    T: Array,
    there: Array,
    start: Blocks,
    noise: Callable[[tuple[int, int], Array], Array],
) -> Blocks:
    """The ridge with noise on its right side: Xᵀ(D T + D^½ E₁) + √λ E₂ (Simm et al. 2017)."""
    k = T.shape[1]
    own = there * T + np.sqrt(there) * noise((len(T), k), T)
    right = tuple(
        (part + FLOAT(effect.weight**0.5) * noise((group.size, k), part)).astype(FLOAT, copy=False)
        for part, group, effect in zip(
            multiply_transposed(groups, own), groups, effects, strict=True
        )
    )
    weights = [e.weight for e in effects]
    return solve_ridge(groups, weights, right, start, there=there, tolerance=RIDGE_TOLERANCE)


def center_rows(groups: Sequence[RidgeGroup], effects: Sequence[Effect]) -> Array:
    """Σ_g B_gᵀ x_ig of each row, (m, d)."""
    return multiply(groups, tuple(e.coefficients for e in effects))


def doubt_rows(groups: Sequence[RidgeGroup], effects: Sequence[Effect]) -> Array:
    """x_iᵀ S x_i of each row: how far its center is unknown, in units of Λ⁻¹."""
    return np.mean(multiply(groups, tuple(e.doubt for e in effects)) ** 2, axis=1)


def draw_signs(group: RidgeGroup, key: int) -> Array:
    """The random signs (F, PROBES) by which traces of the group number `key` are estimated."""
    return on(_draw_signs(group.size, key), group.mean)


@lru_cache(maxsize=8)
def _draw_signs(size: int, key: int) -> Array:
    """Made once: they are the same in each sweep."""
    rng = stream(Purpose.ATTRIBUTES, 0, key)
    signs = (2 * rng.integers(0, 2, (size, PROBES), dtype=np.int8) - 1).astype(FLOAT)
    signs.flags.writeable = False
    return signs


def _join(left: Blocks, right: Blocks) -> Blocks:
    return tuple(stack(pair, FLOAT) for pair in zip(left, right, strict=True))
