"""A change of variables for weighted norms: A' = D_r^½ A D_c^½, R'(A') = R(A).

A penalty on the singular values of A' is then a plain one. The gradient is D_r^-½ ∇R D_c^-½, and
the ridge of a row in a sweep is multiplied by that row's weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from pygeco.arrays.checks import check_shape
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Weighted
from pygeco.objectives.base import Gradient, Modeled, Objective, Smooth, Span, check_sweep


@dataclass(frozen=True, eq=False)
class Scaled(Objective):
    """R'(A') = R(diag(rows) A' diag(cols)); rows = d_r^-½, cols = d_c^-½."""

    objective: Objective
    rows: Array
    cols: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.objective.shape

    @property
    def kind(self) -> Array:
        return self.objective.kind

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.objective.dtype

    @property
    def nonnegative(self) -> bool:
        return self.objective.nonnegative

    @property
    def can_sweep(self) -> bool:
        return self.objective.can_sweep

    @property
    def squared(self) -> bool:
        return self.objective.squared

    @property
    def stretch(self) -> float:
        """The most that the weighted norm of a matrix can be, as a multiple of its plain one."""
        return 1 / float(self.rows.min() * self.cols.min())

    def slack(self, A: LowRank) -> Callable[[float], float] | None:
        return self.objective.slack(self.unscaled(A))

    @property
    def smoothness(self) -> float:
        return self.objective.smoothness * float(self.rows.max() * self.cols.max()) ** 2

    def value(self, A: LowRank) -> float:
        return self.objective.value(self.unscaled(A))

    def gradient(self, A: LowRank) -> ScaledGradient:
        return ScaledGradient(self.objective.gradient(self.unscaled(A)), self.rows, self.cols)

    def span(self, A: LowRank) -> ScaledSpan:
        span = self.objective.span(self.unscaled(A))
        own = ModeledScaledSpan if isinstance(span, Modeled) else ScaledSpan
        return own(span, self.rows, self.cols)

    def half_sweep(
        self, fixed: Array, start: Array, *, side: str, ridge: float | Array = 0.0
    ) -> Array:
        """W' = W / own, where R(fixed Wᵀ) + Σ (ridge_j / own_j²) ‖w_j‖² is least."""
        check_sweep(self.shape, side, fixed, start)
        own, other = (self.rows, self.cols) if side == "row" else (self.cols, self.rows)
        W = self.objective.half_sweep(
            fixed * other[:, None], start * own[:, None], side=side, ridge=ridge / own**2
        )
        return W / own[:, None]

    def unscaled(self, A: LowRank) -> LowRank:
        check_shape(A, self.shape)
        return LowRank(A.U * self.rows[:, None], A.s, A.V * self.cols[:, None])


@dataclass(frozen=True, eq=False)
class ScaledGradient(Weighted):
    """diag(rows) G diag(cols); ⟨G', A'⟩ = ⟨G, A⟩."""

    G: Gradient

    @property
    def value(self) -> float:
        return self.G.value

    @property
    def inner(self) -> float:
        return self.G.inner


@dataclass(frozen=True, eq=False)
class ScaledSpan:
    """The span of the scaled columns: only a new pair has to be scaled."""

    span: Span
    rows: Array
    cols: Array

    def append(self, u: Array, v: Array) -> ScaledSpan:
        return self._with(self.span.append(self.rows * u, self.cols * v))

    def rotate(self, P: Array, Q: Array) -> ScaledSpan:
        return self._with(self.span.rotate(P, Q))

    def _with(self, span: Span) -> ScaledSpan:
        return replace(self, span=span)

    @property
    def quadratic(self) -> bool:
        return self.span.quadratic

    def value(self, B: Array) -> float:
        return self.span.value(B)

    def slope(self, B: Array) -> Array:
        return self.span.slope(B)

    def newton(self, B: Array, ridge: float) -> Array:
        return self.span.newton(B, ridge)

    def lipschitz(self) -> float:
        return self.span.lipschitz()

    def diagonal(self, b: Array) -> tuple[Array, Array]:
        return self.span.diagonal(b)


@dataclass(frozen=True, eq=False)
class ModeledScaledSpan(ScaledSpan):
    """One whose loss has a quadratic model: the core is the same, and so is its model."""

    def model(self, B: Array) -> Smooth:
        return cast(Modeled, self.span).model(B)


def scale_objective(objective: Objective, gamma: float) -> Objective:
    """The objective for weights counts^gamma, of mean 1 on each side; itself for gamma = 0.

    A row without any cell counts as one cell: its weight then is positive, and A is zero there.
    """
    if gamma == 0.0:
        return objective
    counts = objective.counts()
    if counts is None:
        raise ValueError(
            f"gamma: {type(objective).__name__} does not count cells by row and column; use 0."
        )
    rows, cols = (np.maximum(count, 1.0) ** gamma for count in counts)
    return Scaled(objective, (rows / rows.mean()) ** -0.5, (cols / cols.mean()) ** -0.5)


def scale_matrix(objective: Objective, A: LowRank) -> LowRank:
    """A' = D_r^½ A D_c^½ where the objective is scaled; else A."""
    if not isinstance(objective, Scaled):
        return A
    return LowRank(A.U / objective.rows[:, None], A.s, A.V / objective.cols[:, None]).svd()


def unscale_matrix(objective: Objective, A: LowRank) -> LowRank:
    """The way back."""
    return objective.unscaled(A).svd() if isinstance(objective, Scaled) else A
