"""What the functions of a run pass to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pygeco.algorithm.certificates import Certificate
from pygeco.algorithm.corrections.base import Correction, State
from pygeco.algorithm.directions import Pair
from pygeco.algorithm.path import Step, Stop
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.operators import Operator
from pygeco.objectives.base import Objective


class Run(NamedTuple):
    """What stays the same for a whole run."""

    objective: Objective
    solver: Solver
    correction: Correction
    penalty: Penalty | None
    rank: int
    seed: int
    noise: float
    began: float


@dataclass(frozen=True, eq=False)
class Point:
    """What is known at A: the gradient of R + h, its leading pair, and the rank's own generator.

    The generator depends on the seed and the rank alone, so that a path continued later takes
    the same steps as one that was never interrupted.
    """

    A: LowRank
    value: float
    gradient: Operator | None  # kept only where it is asked again: it is as large as the data
    pair: Pair
    certificate: Certificate
    rng: np.random.Generator

    @property
    def known_gradient(self) -> Operator:
        """The gradient, where the solver asks it for more than the leading pair."""
        assert self.gradient is not None
        return self.gradient


class Growth(NamedTuple):
    """The state after a new rank, and how it came about."""

    state: State
    direction: str
    replaced: int
    passes: int


class Move(NamedTuple):
    """The point after a step and the step, or the point before and no step; and why a run ends."""

    at: Point
    step: Step | None
    reason: Stop | None
