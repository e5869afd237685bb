"""Steps 5 to 8 of Algorithm 1: what re-optimises after a new pair.

A correction moves between frozen states. `solve` minimises over the spans as they are; `extend`
adds a pair and minimises; `drop` leaves the weakest component out, and `shrink` minimises again
after that. A replacement is an `extend` and then a `drop`, as section 2.1.2 has it, or a `shrink`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pygeco.algorithm.corrections.base import Correction, State, columns
from pygeco.algorithm.corrections.proximal import proximal
from pygeco.algorithm.corrections.sweep import Sweep, sweeps, unrest
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.refinements import refine
from pygeco.arrays.kinds import inner
from pygeco.arrays.linalg import solve_psd
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.newton import NEWTON_STEPS, descend
from pygeco.objectives.base import Objective, Span, Turning


@dataclass(frozen=True)
class Core:
    """`argmin_B R(U B Vᵀ) + h(σ(B))` over all s × s cores; U and V stay orthonormal."""

    penalty: Penalty | None = None

    @property
    def rests(self) -> bool:
        return False

    def start(self, objective: Objective, A: LowRank) -> State:
        span = objective.span(A)
        value = span.value(np.diag(A.s)) + _penalty(self.penalty, A.s)
        return State(A, span, value, objective, 3 * A.rank)

    def solve(self, objective: Objective, A: LowRank) -> State:
        state = self.start(objective, A)
        return self._solve(state, A, _span(state))

    def extend(self, state: State, u: Array, v: Array) -> State:
        A, span, passes = state.A, _span(state), state.passes
        for x, y in columns(u, v):
            A = A.append(x, y)
            span, passes = span.append(A.U[:, -1], A.V[:, -1]), passes + 3
        return self._solve(state._replace(passes=passes), A, span)

    def drop(self, state: State) -> State:
        """The smallest singular value of the core zeroed, and nothing else (section 2.1.2)."""
        if not state.A.rank:  # a penalty may have shrunk everything to nothing
            return state
        keep = np.delete(np.eye(state.A.rank), np.argmin(np.abs(state.A.s)), axis=1)
        A, span = state.A.rotate(keep, state.A.s @ keep, keep), _span(state).rotate(keep, keep)
        value = span.value(np.diag(A.s)) + _penalty(self.penalty, np.abs(A.s))
        return state._replace(A=A, span=span, value=value)

    def shrink(self, state: State) -> State:
        """The smallest singular value zeroed, then the core minimised again at the lower rank.

        For a quadratic problem a few rounds also turn the kept spans inside the wider ones.
        None of it passes over the data.
        """
        A, span = state.A, _span(state)
        k, value = A.rank - 1, np.inf
        full, left = np.eye(A.rank), np.eye(A.rank)[:, :k]
        B = np.diag(A.s)
        turn = span.quadratic and self.penalty is None and not isinstance(span, Turning)
        for _ in range(ROUNDS if turn else 0):
            C, _ = minimise(span.rotate(left, full), left.T @ B, None)
            right = np.linalg.svd(C)[2][:k].T
            D, better = minimise(span.rotate(full, right), left @ C @ right, None)
            left = np.linalg.svd(D)[0][:, :k]
            B = D @ right.T
            if better >= value * (1 - 1e-4):
                break
            value = better
        P, s, Qt = np.linalg.svd(B)
        P, s, Q = P[:, :k], s[:k], Qt[:k].T
        return self._solve(state, A.rotate(P, s, Q), span.rotate(P, Q))

    def _solve(self, state: State, A: LowRank, span: Span) -> State:
        B, value = minimise(span, np.diag(A.s), self.penalty)
        if isinstance(span, Turning):
            turned, there = span.turn(A, B)
            return state._replace(A=turned, span=there, value=value)
        P, s, Qt = np.linalg.svd(B)
        return state._replace(A=A.rotate(P, s, Qt.T), span=span.rotate(P, Qt.T), value=value)


@dataclass(frozen=True)
class Descent(Core):
    """The core with a trace norm, then a descent over both factors until A rests.

    The optimum over the spans is not the optimum: at full rank, too, the longer side's span misses
    directions. Where rows cannot be swept one by one, L-BFGS on R(P Qᵀ) + α/2 (‖P‖² + ‖Q‖²) moves
    the spans, and the core drops what the penalty has shrunk to nothing.
    """

    tolerance: float = 1e-6

    @property
    def rests(self) -> bool:
        return self._alpha > 0

    @property
    def _alpha(self) -> float:
        return 0.0 if self.penalty is None else self.penalty.threshold

    def solve(self, objective: Objective, A: LowRank) -> State:
        return self._to_rest(super().solve(objective, A))

    def extend(self, state: State, u: Array, v: Array) -> State:
        """With the pairs that lower R + α‖·‖_tr; none does where A is optimal."""
        G = state.objective.gradient(state.A)
        steep = [(x, y) for x, y in columns(u, v) if float(x @ G.matvec(y)) > self._alpha]
        if steep:
            U, V = (np.column_stack(side) for side in zip(*steep, strict=True))
            state = super().extend(state, U, V)
        return self._to_rest(state)

    def _to_rest(self, state: State) -> State:
        """Descents and cores in turn, until neither brings A nearer to rest. Never rises."""
        state, least = self._pruned(state), np.inf
        for _ in range(ROUNDS if self.rests else 0):
            G = state.objective.gradient(state.A)
            distance = unrest(G, state.A, self._alpha)
            if distance <= 0.1 * self.tolerance * abs(state.value) or distance > 0.5 * least:
                break
            least = distance
            refined = refine(state.objective, state.A, self.penalty, 1e-4 * self.tolerance)
            other = super().solve(state.objective, refined.A)
            passes = state.passes + refined.passes + other.passes
            if other.value > state.value:
                return state._replace(passes=passes)
            state = self._pruned(other._replace(passes=passes))
        return state

    def _pruned(self, state: State) -> State:
        """Without the components that the penalty has shrunk to zero."""
        count = int(np.count_nonzero(state.A.s > 0.0))
        if count == state.A.rank:
            return state
        A = state.A.truncate(count)
        return state._replace(A=A, span=state.objective.span(A))


@dataclass(frozen=True)
class Diagonal:
    """`argmin_b R(U diag(b) Vᵀ)`: the pairs stay as they were found (section 2.1.4)."""

    penalty: Penalty | None = None

    @property
    def rests(self) -> bool:
        return False

    def __post_init__(self) -> None:
        if self.penalty is not None and self.penalty.quadratic is None:
            raise ValueError(
                "penalty: with correction='diagonal' the pairs are not orthonormal, so only the "
                "ridge can be computed; use Ridge, or correction='core'."
            )

    def start(self, objective: Objective, A: LowRank) -> State:
        span = objective.span(A)
        return State(A, span, self._value(span, A), objective, 3 * A.rank)

    def solve(self, objective: Objective, A: LowRank) -> State:
        state = self.start(objective, A)
        return self._solve(state, A, _span(state))

    def extend(self, state: State, u: Array, v: Array) -> State:
        A, span, passes = state.A, _span(state), state.passes
        for x, y in columns(u, v):
            A = LowRank(np.column_stack([A.U, x]), np.append(A.s, 0.0), np.column_stack([A.V, y]))
            span, passes = span.append(x, y), passes + 3
        return self._solve(state._replace(passes=passes), A, span)

    def drop(self, state: State) -> State:
        keep = np.delete(np.eye(state.A.rank), np.argmin(np.abs(state.A.s)), axis=1)
        A, span = state.A.rotate(keep, state.A.s @ keep, keep), _span(state).rotate(keep, keep)
        return state._replace(A=A, span=span, value=self._value(span, A))

    def shrink(self, state: State) -> State:
        dropped = self.drop(state)
        return self._solve(dropped, dropped.A, _span(dropped))

    def _solve(self, state: State, A: LowRank, span: Span) -> State:
        lift = 2 * _alpha(self.penalty) * inner(A.U, A.U) * inner(A.V, A.V)

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
        alpha, ridge = _alpha(self.penalty), 0.0
        if alpha:
            ridge = alpha * float(A.s @ (inner(A.U, A.U) * inner(A.V, A.V)) @ A.s)
        return span.value(np.diag(A.s)) + ridge


ROUNDS = 8


def minimise(span: Span, B: Array, penalty: Penalty | None) -> tuple[Array, float]:
    """`argmin_B R(U B Vᵀ) + h(σ(B))` from a start, and the value there. Never rises."""
    if penalty is None or penalty.quadratic is not None:
        return _newton(span, B, _alpha(penalty))
    return proximal(span, B, penalty)


def _newton(span: Span, B: Array, alpha: float) -> tuple[Array, float]:
    """Newton with a line search; one step when the problem is quadratic."""

    def objective(B: Array) -> float:
        return span.value(B) + alpha * float(np.sum(B * B))

    def newton(B: Array) -> tuple[Array, float]:
        step = span.newton(B, 2 * alpha)
        return step, -float(np.sum((span.slope(B) + 2 * alpha * B) * step))

    return descend(objective, newton, B, 1 if span.quadratic else NEWTON_STEPS)


def _span(state: State) -> Span:
    if state.span is None:
        raise TypeError("state: this one comes from another correction and has no span.")
    return state.span


def _alpha(penalty: Penalty | None) -> float:
    return 0.0 if penalty is None or penalty.quadratic is None else penalty.quadratic


def _penalty(penalty: Penalty | None, s: Array) -> float:
    return 0.0 if penalty is None else penalty.value(s)


def named(name: str, penalty: Penalty | None, tolerance: float = 1e-6) -> Correction:
    """The correction called `name`."""
    if name == "core":
        return Core(penalty)
    if name == "diagonal":
        return Diagonal(penalty)
    if name == "sweep":
        return Sweep(penalty, tolerance)
    if name == "descent":
        return Descent(penalty, tolerance)
    raise ValueError(
        f"correction: unknown name {name!r}; use 'auto', 'core', 'descent', 'diagonal' or 'sweep'."
    )


def suited(name: str, objective: Objective, penalty: Penalty | None, rank: int) -> str:
    """What "auto" stands for: the objective's own, but no sweeps with a penalty that they lack.

    With a trace norm the core alone would stop short of the optimum, and a descent follows it.
    """
    if name != "auto":
        return name
    if not (objective.can_sweep and sweeps(penalty)):
        return "descent" if penalty is not None and penalty.threshold > 0 else "core"
    penalized = penalty is not None and penalty.value(np.ones(1)) > 0
    return objective.default_correction(penalized=penalized, rank=rank)
