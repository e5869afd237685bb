"""The core and a descent over both factors in turn, until A rests under a trace norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pygeco.algorithm.corrections.base import State, columns
from pygeco.algorithm.corrections.core import Core
from pygeco.algorithm.corrections.sweep import measure_unrest
from pygeco.algorithm.refinements import refine
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives.base import Objective

MAX_ROUNDS = 8  # of a descent and a core after it


@dataclass(frozen=True)
class Descent(Core):
    """The core with a trace norm, then a descent over both factors until A rests.

    The optimum over the spans is not the optimum: at full rank, too, the longer side's span misses
    directions. Where rows cannot be swept one by one, L-BFGS on R(P Qᵀ) + α/2 (‖P‖² + ‖Q‖²) moves
    the spans, and the core drops what the penalty has shrunk to nothing.
    """

    tol: float = 1e-6

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
        state, least = self._drop_zeros(state), np.inf
        for _ in range(MAX_ROUNDS if self.rests else 0):
            G = state.objective.gradient(state.A)
            distance = measure_unrest(G, state.A, self._alpha)
            if distance <= 0.1 * self.tol * abs(state.value) or distance > 0.5 * least:
                break
            least = distance
            refined = refine(state.objective, state.A, self.penalty, 1e-4 * self.tol)
            other = super().solve(state.objective, refined.A)
            passes = state.passes + refined.passes + other.passes
            if other.value > state.value:
                return state._replace(passes=passes)
            state = self._drop_zeros(other._replace(passes=passes))
        return state

    def _drop_zeros(self, state: State) -> State:
        """Without the components that the penalty has shrunk to zero, or to its rounding."""
        rounding = float(np.finfo(float).eps) * abs(state.value)
        least = rounding / self._alpha if self.rests else 0.0
        count = int(np.count_nonzero(state.A.s > least))
        if count == state.A.rank:
            return state
        A = state.A.truncate(count)
        return state._replace(A=A, span=state.objective.span(A))
