"""What attributes say of the vectors of lines: a ridge from the ones to the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.arrays.operators import Operator
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.ridge import TABLE, RidgeGroup, solve_ridge
from pygeco.clicks.settings import AttributeSettings
from pygeco.models.seen import Positions

MAX_STEPS = 200  # of conjugate gradients
TOLERANCE = 1e-6  # of the right sides: what may be left of them

# Attributes of rows and of columns, None where there are none.
Told = tuple[AttributeValues | None, AttributeValues | None]


class AttributeMap(NamedTuple):
    """A line with the attributes x is expected at `level` + (x − `center`) `weights`.

    `level` (r,) is the mean of the lines with clicks, `center` (F,) that of their attributes.
    """

    center: Array
    level: Array
    weights: Array
    settings: AttributeSettings

    def on_host(self) -> tuple[str, ...]:
        return "center", "level", "weights"

    @property
    def is_silent(self) -> bool:
        """Whether attributes say nothing."""
        return not np.any(self.weights)

    def deviate(self, values: AttributeValues) -> Array:
        """How far attributes put lines from the mean line, (k, r); zero where none are known."""
        found = values.matrix @ self.weights - self.center @ self.weights
        found[~values.known] = 0
        return np.asarray(found)

    def place(self, values: AttributeValues) -> Array:
        """Lines known by their attributes alone."""
        return self.level + self.deviate(values)

    def move(self, values: AttributeValues, counts: Positions, lines: Array) -> Array:
        """Lines of so many clicks, moved by what their attributes say beside those.

        A line without clicks is where its attributes put it, if it has some.
        """
        share = self.settings.pull / np.maximum(self.settings.pull + counts, 1.0)
        found = lines + share[:, None] * self.deviate(values)
        empty = (counts == 0) & values.known
        if empty.any():
            found[empty] = self.place(values.take(np.flatnonzero(empty)))
        return np.asarray(found)

    def turn(self, matrix: Array) -> AttributeMap:
        """The same in another basis: x becomes x `matrix`."""
        return self._replace(level=self.level @ matrix, weights=self.weights @ matrix)


def fit_map(
    values: AttributeValues, counts: Positions, lines: Array, settings: AttributeSettings
) -> AttributeMap:
    """The ridge from attributes to lines, over lines that have both clicks and attributes.

    A weight of zero leaves attributes out: every line is then expected at the mean.
    """
    own = np.flatnonzero((counts > 0) & values.known)
    X, Y = values.matrix[own].astype(float), lines[own].astype(float)
    if not len(own):
        nothing = np.zeros(X.shape[1]), np.zeros(lines.shape[1])
        return AttributeMap(*nothing, np.zeros((X.shape[1], lines.shape[1])), settings)
    center, level = np.asarray(X.mean(axis=0)).ravel(), Y.mean(axis=0)
    weights = np.zeros((X.shape[1], Y.shape[1]))
    if settings.weight > 0:
        weights = _solve_ridge(X, center, Y - level, 1 / settings.weight)
    return AttributeMap(center, level, weights, settings)


@dataclass(frozen=True, eq=False)
class CenteredTable(Operator):
    """Z = X − 1 centerᵀ, in double precision, never formed."""

    X: Any
    center: Array

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.X.shape
        return m, n

    def matmat(self, X: Array) -> Array:
        return np.asarray(self.X @ X - self.center @ X)

    def rmatmat(self, Y: Array) -> Array:
        return np.asarray(self.X.T @ Y - np.outer(self.center, Y.sum(axis=0)))


def _solve_ridge(X: Any, center: Array, Y: Array, ridge: float) -> Array:
    """(Z ᵀZ + ridge I)⁻¹ Z ᵀY with Z = X − 1 centerᵀ. O(steps nnz(X) r)."""
    Z = CenteredTable(X, center)
    squares = np.asarray(X.multiply(X).sum(axis=0)).ravel() - len(Y) * center**2
    group = RidgeGroup(TABLE, TABLE, Z, np.maximum(squares, 0), center)
    (found,) = solve_ridge(
        [group],
        [ridge],
        (Z.rmatmat(Y),),
        (np.zeros((X.shape[1], Y.shape[1])),),
        there=np.ones((len(Y), 1)),
        tolerance=TOLERANCE,
        max_iter=MAX_STEPS,
    )
    return found
