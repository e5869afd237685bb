"""What JS and Hazan share: convex combinations of rank-one matrices, and their searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from pygeco.algorithm.directions import Lanczos, Pair
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Operator
from pygeco.objectives import Entries
from pygeco.objectives.base import Gradient, Objective
from pygeco.objectives.entries.predictions import Predictions

STEP_PRECISION = 1e-10  # of a step length
MAX_SEARCH_ITERATIONS = 400  # Lanczos iterations that a search may take


class View(Protocol):
    """What the objective sees of A, moved toward other matrices without starting afresh."""

    def gradient(self) -> Gradient: ...
    def toward(self, S: LowRank) -> Line: ...


class Line(Protocol):
    """(1 − γ) A + γ S for γ in [0, 1]."""

    def best(self) -> float:
        """The γ with the least R."""

    def at(self, gamma: float) -> View: ...


def view_of_zero(objective: Objective) -> View:
    """O(|E|) a move for observed cells; for any other objective a pass at the rank reached."""
    zero = LowRank.zero(objective.shape)
    if isinstance(objective, Entries) and objective.offset is None:
        return CellView(Predictions.of(objective, zero))
    return MatrixView(objective, zero)


@dataclass(frozen=True, eq=False)
class CellView:
    """The predictions at the observed cells."""

    z: Predictions

    def gradient(self) -> Gradient:
        return self.z.gradient()

    def toward(self, S: LowRank) -> CellLine:
        return CellLine(self.z, Predictions.of(self.z.entries, S))


@dataclass(frozen=True, eq=False)
class CellLine:
    start: Predictions
    end: Predictions

    def best(self) -> float:
        step = self.end.rows - self.start.rows

        def slope(gamma: float) -> float:
            return float(self.start.slopes_at(self.start.rows + gamma * step) @ step)

        if slope(1.0) <= 0:
            return 1.0
        return float(brentq(slope, 0.0, 1.0, xtol=STEP_PRECISION)) if slope(0.0) < 0 else 0.0

    def at(self, gamma: float) -> CellView:
        return CellView(self.start.mix(1 - gamma, self.end, gamma))


@dataclass(frozen=True, eq=False)
class MatrixView:
    """The matrix itself, as its factors."""

    objective: Objective
    A: LowRank

    def gradient(self) -> Gradient:
        return self.objective.gradient(self.A)

    def toward(self, S: LowRank) -> MatrixLine:
        return MatrixLine(self.objective, self.A, S)


@dataclass(frozen=True, eq=False)
class MatrixLine:
    objective: Objective
    start: LowRank
    end: LowRank

    def best(self) -> float:
        def value(gamma: float) -> float:
            return self.objective.value(mix(self.start, self.end, gamma))

        inside = minimize_scalar(
            value, bounds=(0.0, 1.0), method="bounded", options={"xatol": STEP_PRECISION}
        ).x
        return float(min((0.0, inside, 1.0), key=value))

    def at(self, gamma: float) -> MatrixView:
        return MatrixView(self.objective, mix(self.start, self.end, gamma))


def mix(A: LowRank, S: LowRank, gamma: float) -> LowRank:
    """(1 − γ) A + γ S, the columns of S after those of A."""
    return LowRank(
        np.column_stack([A.U, S.U]),
        np.append((1 - gamma) * A.s, gamma * S.s),
        np.column_stack([A.V, S.V]),
    )


class Columns:
    """Room for the columns of a growing sum, so that its members share them.

    `grown` returns U[:, :k] diag(s) V[:, :k]ᵀ, a view: K iterates cost what the last one costs.
    """

    def __init__(self, shape: tuple[int, int], most: int) -> None:
        m, n = shape
        self.U: Array = np.zeros((m, most), order="F")
        self.V: Array = np.zeros((n, most), order="F")

    def grown(self, s: Array, u: Array, v: Array) -> LowRank:
        k = len(s)
        self.U[:, k - 1], self.V[:, k - 1] = u, v
        return LowRank(self.U[:, :k], s, self.V[:, :k])


def curvature(objective: Objective, t: float) -> float:
    """C = 2 β t², at least the curvature constant of R over ‖A‖_tr ≤ t, which is 2t wide."""
    return 2 * objective.smoothness * t**2


def approx_ev(G: Operator, error: float, rng: np.random.Generator) -> Pair:
    """A pair with σ₁ − uᵀGv ≤ error, proved at the confidence of `Lanczos`.

    A first, rough search gives the relative error that this is.
    """
    rough = Lanczos(tau=0.2)(G, rng)
    if rough.upper - rough.sigma <= error:
        return rough
    tau = min(0.5, error / rough.upper)
    fine = Lanczos(tau=tau, max_iter=MAX_SEARCH_ITERATIONS)(G, rng)
    return fine._replace(passes=rough.passes + fine.passes)
