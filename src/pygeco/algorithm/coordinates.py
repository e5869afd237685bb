"""Coordinates of two factors in which an objective bends alike in all directions.

A descent by gradients takes as many steps as bends differ: by the units and correlations of
columns, and by the sizes of the components.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pygeco.algorithm.penalties import Penalty, Trace
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives.base import Objective
from pygeco.objectives.measured import Measured
from pygeco.objectives.validation import find_gram

MIN_CURVATURE = 1e-10  # of the largest, in columns of one size: with less it is rounding
MIN_SHARE = 0.1  # of the largest component's root: those that are smaller may grow


class Ease(NamedTuple):
    """Coordinates R = T x of a factor in which the objective bends alike in all directions.

    T = D⁻¹ E with D a diagonal, which stands for the units of columns, and E (n, k) or none.
    """

    units: Array
    E: Array | None = None
    back: Array | None = None  # E⁻¹

    def apply(self, x: Array) -> Array:
        return (x if self.E is None else self.E @ x) / self.units

    def transpose(self, g: Array) -> Array:
        g = g / self.units
        return g if self.E is None else self.E.T @ g

    def invert(self, R: Array) -> Array:
        x = R * self.units
        return x if self.back is None else self.back @ x


NO_EASE = Ease(np.ones((1, 1)))


def ease_curvature(bend: Array, ridge: Array | float) -> Ease:
    """By a curvature (n, n), or its diagonal (n,), and the ridge beside it."""
    total = (np.diag(bend) if bend.ndim == 2 else bend) + ridge
    if not total.max() > 0:
        return NO_EASE
    units = np.sqrt(np.where(total > 0, total, total.max()))[:, None]
    if bend.ndim == 1:
        return Ease(units)
    bend = bend / (units * units.T)
    np.fill_diagonal(bend, 1.0)
    values, E = np.linalg.eigh(bend)
    # Where the data say nothing, a step that is as small as elsewhere leaves things as they are.
    root = np.sqrt(np.where(values > MIN_CURVATURE * values[-1], values, values[-1]))
    return Ease(units, E / root, (E * root).T)


def find_ease(objective: Objective, A: LowRank, penalty: Penalty | None) -> Ease:
    """By the curvature at A in a row of it: columns of any units and correlations are then alike.

    With a trace norm, whose factors are to be balanced as they are, none.
    """
    bend = None
    if isinstance(objective, Measured) and not isinstance(penalty, Trace):
        bend = objective.row_curvature(A)
    ridge = 0.0 if penalty is None or penalty.quadratic is None else 2 * penalty.quadratic
    return NO_EASE if bend is None else ease_curvature(bend, ridge)


def find_linear_ease(F: Any, weights: Array, ridge: Array) -> Ease:
    """The same for the c of a linear part F c, by Fᵀdiag(h)F and its ridge; h (N, 1), ridge (q, 1).

    O(nnz(F) q) for up to MAX_GRAM_SIZE columns, else O(nnz(F)).
    """
    return ease_curvature(find_gram(F, weights), 2 * ridge[:, 0])


def split_evenly(A: LowRank, ease: Ease, *, symmetric: bool) -> list[Array]:
    """L and x with A = L (T x)ᵀ, the same size each in these coordinates.

    Of a `symmetric` A = T x diag(±1) (T x)ᵀ the x alone.
    """
    if symmetric:
        return [ease.invert(A.U * np.sqrt(np.abs(A.s)))]
    if ease.units.size > 1:
        A = LowRank.product(A.U * A.s, ease.invert(A.V)).svd()
    root = np.sqrt(np.abs(A.s))
    return [A.U * root * np.where(A.s < 0, -1, 1), A.V * root]


def weigh_components(side: Array, penalty: Penalty | None) -> Array:
    """Factors for the columns of both sides, that of the largest one.

    U √s bends as s does: times its own root again, components of any size bend alike.
    """
    size = np.linalg.norm(side, axis=0)
    if isinstance(penalty, Trace) or not size.max(initial=0.0) > 0:
        return np.ones_like(size)
    return np.maximum(size / size.max(), MIN_SHARE)
