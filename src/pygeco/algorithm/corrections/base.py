"""What every correction shares: the state it moves between, and its verbs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

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
    @property
    def rests(self) -> bool:
        """Whether it goes on at the highest rank until A rests, far enough for a proof."""

    def start(self, objective: Objective, A: LowRank) -> State: ...
    def solve(self, objective: Objective, A: LowRank) -> State: ...
    def extend(self, state: State, u: Array, v: Array) -> State:
        """With the pair (u, v), or with several, the columns of (m, k) and (n, k)."""

    def drop(self, state: State) -> State:
        """Without the weakest component, the others as they are."""

    def shrink(self, state: State) -> State:
        """Without the weakest component, minimised again."""


def columns(u: Array, v: Array) -> Iterator[tuple[Array, Array]]:
    """The pairs, one by one, of vectors or of matrices."""
    return zip(np.reshape(u, (len(u), -1)).T, np.reshape(v, (len(v), -1)).T, strict=True)
