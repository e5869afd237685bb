"""The diagonal core (section 2.1.4): the pairs stay as they were found, only weights move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pygeco.algorithm.corrections.base import Correction, State, columns, known_span, ridge_weight
from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.kinds import inner
from pygeco.arrays.linalg import solve_psd
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.newton import NEWTON_STEPS, descend
from pygeco.objectives.base import Objective, Span


@dataclass(frozen=True)
class Diagonal(Correction):
    """`argmin_b R(U diag(b) Vᵀ)`: the pairs stay as they were found (section 2.1.4)."""

    penalty: Penalty | None = None

    def singular_values(self, A: LowRank) -> Array:
        return A.svd().s

    def prepare(self, A: LowRank) -> LowRank:
        return A

    def __post_init__(self) -> None:
        if self.penalty is not None and self.penalty.quadratic is None:
            raise ValueError(
                "penalty: with correction='diagonal' the pairs are not orthonormal, so only the "
                "ridge can be computed; use Ridge, or correction='core'."
            )

    def start(self, objective: Objective, A: LowRank, value: float | None = None) -> State:
        span = objective.span(A)
        return State(A, span, self._value(span, A), objective, 3 * A.rank)

    def solve(self, objective: Objective, A: LowRank) -> State:
        state = self.start(objective, A)
        return self._solve(state, A, known_span(state))

    def extend(self, state: State, u: Array, v: Array) -> State:
        A, span, passes = state.A, known_span(state), state.passes
        for x, y in columns(u, v):
            A = LowRank(np.column_stack([A.U, x]), np.append(A.s, 0.0), np.column_stack([A.V, y]))
            span, passes = span.append(x, y), passes + 3
        return self._solve(state._replace(passes=passes), A, span)

    def drop(self, state: State) -> State:
        keep = np.delete(np.eye(state.A.rank), np.argmin(np.abs(state.A.s)), axis=1)
        A, span = state.A.rotate(keep, state.A.s @ keep, keep), known_span(state).rotate(keep, keep)
        return state._replace(A=A, span=span, value=self._value(span, A))

    def shrink(self, state: State) -> State:
        dropped = self.drop(state)
        return self._solve(dropped, dropped.A, known_span(dropped))

    def _solve(self, state: State, A: LowRank, span: Span) -> State:
        lift = 2 * ridge_weight(self.penalty) * inner(A.U, A.U) * inner(A.V, A.V)

        def newton(b: Array) -> tuple[Array, float]:
            slope, curvature = span.diagonal(b)
            force = -(slope + lift @ b)
            step = solve_psd(curvature + lift, force)
            return step, float(force @ step)

        def objective(b: Array) -> float:
            return self._value(span, LowRank(A.U, b, A.V))

        b, value = descend(objective, newton, A.s, 1 if span.quadratic else NEWTON_STEPS)
        return state._replace(A=LowRank(A.U, b, A.V), span=span, value=value)

    def _value(self, span: Span, A: LowRank) -> float:
        alpha, ridge = ridge_weight(self.penalty), 0.0
        if alpha:
            ridge = alpha * float(A.s @ (inner(A.U, A.U) * inner(A.V, A.V)) @ A.s)
        return span.value(np.diag(A.s)) + ridge
