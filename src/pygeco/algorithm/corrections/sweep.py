"""The sweep: exact minimization over one whole factor at a time (correction="sweep").

A half-sweep minimizes over span(U) × ℝⁿ, which contains span(U) × span(V): it lowers the
objective at least as much as the paper's step 6, and leaves ⟨∇R(A), A⟩ = 0: all that the proof of
Theorem 1 asks for. That is so for squares, to rounding; over a dense table for every loss, to the
tolerance of its Newton steps. Over observed cells the other losses take two Newton steps a row: no
row gets worse, but neither of the two is exact, and the theorem is not proved. Certificates
measure ⟨∇R(A), A⟩ and hold regardless.

With a trace norm the sweeps work on R(P Qᵀ) + α/2 (‖P‖² + ‖Q‖²), whose minimum over all
factorizations P Qᵀ = A is R(A) + α‖A‖_tr, reached by the balanced one, P = U √s and Q = V √s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.corrections.base import Correction, State, columns
from pygeco.algorithm.penalties import Penalty, Trace
from pygeco.arrays.kinds import host, on, scaled, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives.base import Gradient, Objective
from pygeco.objectives.islands import Islands

MAX_SWEEPS = 1000
MIN_DECREASE = 0.02  # share of the objective by which each sweep must lower it for another one
VALUE_ROUNDING = 1e-14  # share of the objective that its own sums may lose
MAX_IDLE_SWEEPS = 10  # that bring A no nearer to rest, by the share MIN_APPROACH, and no lower
MIN_APPROACH = 1e-3
REST_SHARE = 0.1  # how near to rest the sweeps come, as a share of what one more pair promises
LAST_EXCESS = 0.01  # share of α: with less, the last pairs are at hand, and sweeps go to full rest
MAX_DOUBLINGS = 60
VISIBLE_ROUNDINGS = 64  # of the objective, that the first step along a pair should gain


@dataclass(frozen=True)
class Sweep(Correction):
    """Half-sweeps over V, U and V after each new pair; more of them while they pay.

    With `Trace` they go on until A rests, see `measure_unrest`: to `tol` of the objective, or
    far below what a further pair promises.
    """

    penalty: Penalty | None = None
    tol: float = 1e-6

    def __post_init__(self) -> None:
        if not is_separable(self.penalty):
            raise ValueError(
                f"penalty: {self.penalty!r} has no form that separates over rows; use Ridge or "
                "Trace with correction='sweep', or correction='core'."
            )

    @property
    def rests(self) -> bool:
        """Whether the penalty is a trace norm, with which sweeps go on until A rests."""
        return isinstance(self.penalty, Trace) and self.penalty.alpha > 0

    def start(self, objective: Objective, A: LowRank, value: float | None = None) -> State:
        if not objective.can_sweep:
            raise ValueError(
                f"correction: {type(objective).__name__} cannot be swept; use correction='core'."
            )
        A = A.svd()
        if value is not None:
            return State(A, None, value, objective)
        return State(A, None, objective.value(A) + self._penalty(A), objective, 1)

    def solve(self, objective: Objective, A: LowRank) -> State:
        state = self.start(objective, A)
        m, n = A.shape
        if not self.rests:
            return self._sweeps(state)
        return self._to_rest(state, zeros(m, A.kind), zeros(n, A.kind))

    def extend(self, state: State, u: Array, v: Array) -> State:
        if self.rests:
            return self._to_rest(state, u, v)
        A = state.A
        for x, y in columns(u, v):
            A = A.append(x, y)
        return self._sweeps(state._replace(A=A))

    def drop(self, state: State) -> State:
        A = state.A.truncate(state.A.rank - 1)
        value = state.objective.value(A) + self._penalty(A)
        return state._replace(A=A, value=value, passes=state.passes + 1)

    def shrink(self, state: State) -> State:
        """The weakest singular value dropped, then half-sweeps at the lower rank."""
        return self._sweeps(self.drop(state))

    def _sweeps(self, state: State) -> State:
        """V, U, V, then U, V again while that pays. Never rises."""
        state = self._accept(state, self._half(state, state.A, "column"), 2)
        for _ in range(MAX_SWEEPS):
            before = state.value
            A = self._half(state, self._half(state, state.A, "row"), "column")
            state = self._accept(state, A, 3)
            if not before - state.value > MIN_DECREASE * abs(before):
                break
        return state

    def _to_rest(self, state: State, u: Array, v: Array) -> State:
        """Pairs added that lower R + α‖·‖_tr, sweeps until A rests, dead weight dropped."""
        alpha, most = _factor_weight(self.penalty), 0.0
        for x, y in columns(u, v):
            excess = float(x @ state.objective.gradient(state.A).matvec(y)) - alpha
            state = state._replace(passes=state.passes + 3)
            if excess > 0:
                state, most = self._add_pair(state, x, y, excess), max(most, excess)
        near = REST_SHARE * most if most > LAST_EXCESS * alpha else 0.0
        least, idle = np.inf, 0
        for _ in range(MAX_SWEEPS):
            if idle >= MAX_IDLE_SWEEPS or not state.A.rank or not state.A.s[0] > 0.0:
                break
            A = self._half(state, self._half(state, state.A, "column"), "row")
            G, trace_norm = state.objective.gradient(A), float(A.s.sum())
            value, passes = G.value + alpha * trace_norm, state.passes + 4
            # The objective is flat where A nearly rests: there the unrest alone still tells.
            if value > state.value + VALUE_ROUNDING * abs(state.value):
                state = state._replace(passes=passes)
                break
            fell = value < state.value - max(0.1 * self.tol, VALUE_ROUNDING) * abs(value)
            state = State(A, None, value, state.objective, passes + 2)
            distance = measure_unrest(G, A, alpha)
            if distance <= max(0.1 * self.tol * abs(value), near * trace_norm):
                break
            nearer = distance < (1 - MIN_APPROACH) * least
            # On its way along a valley A may leave rest for a while: then the objective tells.
            least, idle = (distance if nearer else least), (0 if nearer or fell else idle + 1)
        return self._drop_useless(state)

    def _add_pair(self, state: State, u: Array, v: Array, excess: float) -> State:
        """A − η u vᵀ: η = excess / β is sure to lower the objective, then doubled while it pays."""
        beta = state.objective.smoothness
        known = 0 < beta < np.inf
        # A loss of the user's own may not state β: then from a step far too short, of the data's
        # own size, since R falls by excess · η at most.
        size = state.value / excess if state.value > 0 else 1.0
        step = excess / beta if known else 1e-9 * size
        # A loss may bend so much elsewhere that rounding hides what this step gains.
        eps = float(np.finfo(state.objective.dtype).eps)
        step, best = max(step, VISIBLE_ROUNDINGS * eps * abs(state.value) / excess), state
        for _ in range(MAX_DOUBLINGS):
            A = LowRank(
                np.column_stack([state.A.U, u]),
                np.append(state.A.s, -step),
                np.column_stack([state.A.V, v]),
            ).svd()
            better = self._accept(best, A, 1)
            if better.value >= best.value:
                return best._replace(passes=better.passes)
            best, step = better, 2 * step
        return best

    def _drop_useless(self, state: State) -> State:
        """Without the weakest components that the objective is no worse without."""
        while state.A.rank:
            A = state.A.truncate(state.A.rank - 1)
            tried = self._accept(state, A, 1)
            if tried.A is not A:
                return tried
            state = tried
        return state

    def _accept(self, state: State, A: LowRank, passes: int) -> State:
        """The state with A, where that does not raise the objective."""
        value = state.objective.value(A) + self._penalty(A)
        passes += state.passes
        if value > state.value:
            return state._replace(passes=passes)
        return State(A, None, value, state.objective, passes)

    def _half(self, state: State, A: LowRank, side: str) -> LowRank:
        """The minimum over one factor ("column": V), as an orthonormal form again."""
        objective = state.objective
        B = A if side == "column" else A.T
        root, start, ridge = self._split(B)
        fixed = B.U if root is None else scaled(B.U, root)
        W = objective.half_sweep(fixed, start, side=side, ridge=ridge)
        del start, fixed  # large, and not needed in what follows
        islands = None if _factor_weight(self.penalty) else objective.islands
        if islands is not None:
            given = islands if side == "column" else islands.T
            B = LowRank.product(*balance_islands(B.U, W, given)).svd()
        else:
            B = LowRank.within(B.U, W if root is None else scaled(W, root))
        return B if side == "column" else B.T

    def _split(self, A: LowRank) -> _Split:
        """A = U diag(root) startᵀ, and the ridge on `start` that stands for the penalty."""
        alpha = _factor_weight(self.penalty)
        top = float(A.s[0]) if A.rank else 0.0
        if not self.rests or top == 0.0:
            return _Split(None, scaled(A.V, A.s), alpha)
        # Balanced, up to a factor that keeps the Grams' size apart from that of the data.
        root = np.sqrt(A.s / top)
        return _Split(root, scaled(A.V, root * top), 0.5 * alpha / top)

    def _penalty(self, A: LowRank) -> float:
        return 0.0 if self.penalty is None else self.penalty.value(A.s)


def measure_unrest(G: Gradient, A: LowRank, alpha: float) -> float:
    """Σ s_k max(‖G v_k + α u_k‖, ‖Gᵀ u_k + α v_k‖): zero exactly where sweeps change nothing.

    |⟨G, A⟩ + α‖A‖_tr| is never larger, but it can vanish by cancellation long before A rests.
    """
    left = np.linalg.norm(G.matmat(A.V) + alpha * A.U, axis=0)
    right = np.linalg.norm(G.rmatmat(A.U) + alpha * A.V, axis=0)
    return float(A.s @ host(np.maximum(left, right)))


def balance_islands(U: Array, W: Array, islands: Islands) -> tuple[Array, Array]:
    """U Wᵀ in which the columns of U and W are as large beside each other on every island.

    Between islands U Wᵀ changes, on them it stays. Sweeps of cells alone leave there what they
    will: a partner that is next to nothing on an island is answered by its inverse.
    """
    rows, cols = on(islands.rows, U), on(islands.cols, U)
    left, right = (_sum_squares(X, at, islands.total) for X, at in ((U, rows), (W, cols)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factors = (right / left * (left.sum(axis=0) / right.sum(axis=0))) ** 0.25
    factors[~(np.isfinite(factors) & (factors > 0))] = 1.0  # nothing there, nothing to balance
    return U * on(factors, U)[rows], W * on(1 / factors, W)[cols]


def _sum_squares(X: Array, islands: NDArray[np.integer[Any]], total: int) -> Array:
    """Σ x² of each column on each island, as shares of the column's largest."""
    top = abs(X).max(axis=0)
    X = X / np.where(top > 0, top, 1.0)
    return np.stack([host(np.bincount(islands, x * x, total)) for x in X.T], axis=1)


class _Split(NamedTuple):
    root: Array | None
    start: Array
    ridge: float


def is_separable(penalty: Penalty | None) -> bool:
    """Whether the penalty separates over rows: none, a ridge, or a trace norm."""
    return penalty is None or isinstance(penalty, Trace) or penalty.quadratic is not None


def _factor_weight(penalty: Penalty | None) -> float:
    """α of a trace norm or of a ridge: what holds the rows of a factor."""
    if isinstance(penalty, Trace):
        return penalty.alpha
    return 0.0 if penalty is None or penalty.quadratic is None else penalty.quadratic
