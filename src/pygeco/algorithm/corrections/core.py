"""The core (step 6): all s × s matrices over the spans, then its SVD (steps 7 and 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pygeco.algorithm.corrections.base import (
    Correction,
    State,
    columns,
    known_span,
    penalty_value,
    ridge_weight,
)
from pygeco.algorithm.corrections.proximal import minimize_proximal
from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.newton import NEWTON_STEPS, descend
from pygeco.objectives.base import Objective, Span, Turning

MAX_ROUNDS = 8  # in which kept spans are turned inside wider ones


@dataclass(frozen=True)
class Core(Correction):
    """`argmin_B R(U B Vᵀ) + h(σ(B))` over all s × s cores; U and V stay orthonormal."""

    penalty: Penalty | None = None

    def start(self, objective: Objective, A: LowRank, value: float | None = None) -> State:
        span = objective.span(A)
        value = span.value(np.diag(A.s)) + penalty_value(self.penalty, A.s)
        return State(A, span, value, objective, 3 * A.rank)

    def solve(self, objective: Objective, A: LowRank) -> State:
        state = self.start(objective, A)
        return self._solve(state, A, known_span(state))

    def extend(self, state: State, u: Array, v: Array) -> State:
        A, span, passes = state.A, known_span(state), state.passes
        for x, y in columns(u, v):
            A = A.append(x, y)
            span, passes = span.append(A.U[:, -1], A.V[:, -1]), passes + 3
        return self._solve(state._replace(passes=passes), A, span)

    def drop(self, state: State) -> State:
        """The smallest singular value of the core zeroed, and nothing else (section 2.1.2)."""
        if not state.A.rank:  # a penalty may have shrunk everything to nothing
            return state
        keep = np.delete(np.eye(state.A.rank), np.argmin(np.abs(state.A.s)), axis=1)
        A, span = state.A.rotate(keep, state.A.s @ keep, keep), known_span(state).rotate(keep, keep)
        value = span.value(np.diag(A.s)) + penalty_value(self.penalty, np.abs(A.s))
        return state._replace(A=A, span=span, value=value)

    def shrink(self, state: State) -> State:
        """The smallest singular value zeroed, then the core minimized again at the lower rank.

        For a quadratic problem a few rounds also turn the kept spans inside the wider ones.
        None of it passes over the data.
        """
        A, span = state.A, known_span(state)
        k, value = A.rank - 1, np.inf
        full, left = np.eye(A.rank), np.eye(A.rank)[:, :k]
        B = np.diag(A.s)
        turn = span.quadratic and self.penalty is None and not isinstance(span, Turning)
        for _ in range(MAX_ROUNDS if turn else 0):
            C, _ = minimize_core(span.rotate(left, full), left.T @ B, None)
            right = np.linalg.svd(C)[2][:k].T
            D, better = minimize_core(span.rotate(full, right), left @ C @ right, None)
            left = np.linalg.svd(D)[0][:, :k]
            B = D @ right.T
            if better >= value * (1 - 1e-4):
                break
            value = better
        P, s, Qt = np.linalg.svd(B)
        P, s, Q = P[:, :k], s[:k], Qt[:k].T
        return self._solve(state, A.rotate(P, s, Q), span.rotate(P, Q))

    def _solve(self, state: State, A: LowRank, span: Span) -> State:
        if not A.rank:  # a penalty may have shrunk everything to nothing
            return state._replace(A=A, span=span, value=span.value(np.diag(A.s)))
        B, value = minimize_core(span, np.diag(A.s), self.penalty)
        if isinstance(span, Turning):
            turned, there = span.turn(A, B)
            return state._replace(A=turned, span=there, value=value)
        P, s, Qt = np.linalg.svd(B)
        return state._replace(A=A.rotate(P, s, Qt.T), span=span.rotate(P, Qt.T), value=value)


def minimize_core(span: Span, B: Array, penalty: Penalty | None) -> tuple[Array, float]:
    """`argmin_B R(U B Vᵀ) + h(σ(B))` from a start, and the value there. Never rises."""
    if penalty is None or penalty.quadratic is not None:
        return _newton(span, B, ridge_weight(penalty))
    return minimize_proximal(span, B, penalty)


def _newton(span: Span, B: Array, alpha: float) -> tuple[Array, float]:
    """Newton with a line search; one step when the problem is quadratic."""

    def objective(B: Array) -> float:
        return span.value(B) + alpha * float(np.sum(B * B))

    def newton(B: Array) -> tuple[Array, float]:
        step = span.newton(B, 2 * alpha)
        return step, -float(np.sum((span.slope(B) + 2 * alpha * B) * step))

    return descend(objective, newton, B, 1 if span.quadratic else NEWTON_STEPS)
