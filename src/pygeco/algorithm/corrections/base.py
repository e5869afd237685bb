"""What every correction shares: the state it moves between, and its verbs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives.base import Objective, Span


class State(NamedTuple):
    """A matrix, R(A) + h(A), and the small problem over its spans where the correction has one.

    `passes` counts the passes over the data since `start`.
    """

    A: LowRank
    span: Span | None
    value: float
    objective: Objective
    passes: int = 0


class Correction(Protocol):
    """Steps 5 to 8: derive from it. What the run asks beside the moves has a default."""

    @property
    def rests(self) -> bool:
        """Whether it goes on at the highest rank until A rests."""
        return False

    @property
    def proves(self) -> bool:
        """Whether A comes near enough to rest for a proof of optimality."""
        return self.rests

    def singular_values(self, A: LowRank) -> Array:
        """Those that the penalty is of, for a matrix that this correction left."""
        return np.abs(A.s)

    def prepare(self, A: LowRank) -> LowRank:
        """A matrix to start from, in the form that the moves keep: orthonormal."""
        return A if A.orthonormal else A.svd()

    def start(self, objective: Objective, A: LowRank, value: float | None = None) -> State:
        """The state at A, as it is; the value there may be known."""

    def solve(self, objective: Objective, A: LowRank) -> State:
        """Minimized over the spans of A."""

    def extend(self, state: State, u: Array, v: Array) -> State:
        """With the pair (u, v), or with several, the columns of (m, k) and (n, k)."""

    def drop(self, state: State) -> State:
        """Without the weakest component, the others as they are."""

    def shrink(self, state: State) -> State:
        """Without the weakest component, minimized again."""


def columns(u: Array, v: Array) -> Iterator[tuple[Array, Array]]:
    """The pairs, one by one, of vectors or of matrices."""
    return zip(np.reshape(u, (len(u), -1)).T, np.reshape(v, (len(v), -1)).T, strict=True)


def known_span(state: State) -> Span:
    """The span of a state, which this kind of correction needs."""
    if state.span is None:
        raise TypeError("state: this one comes from another correction and has no span.")
    return state.span


def ridge_weight(penalty: Penalty | None) -> float:
    """α of a ridge; 0 of every other penalty."""
    return 0.0 if penalty is None or penalty.quadratic is None else penalty.quadratic


def penalty_value(penalty: Penalty | None, s: Array) -> float:
    """h(s); 0 without a penalty."""
    return 0.0 if penalty is None else penalty.value(s)
