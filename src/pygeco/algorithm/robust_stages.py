"""Sweeps of a robust fit under a schedule, until they move nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pygeco.algorithm.events import Listener, Refinement
from pygeco.algorithm.threshold import Schedule, is_falling
from pygeco.losses import Loss
from pygeco.objectives.dense.objective import Dense

if TYPE_CHECKING:
    from pygeco.algorithm.robust import Model

# A change of this share of the statistical error is not worth another sweep.
NEGLIGIBLE_SHARE = 0.05
MAX_RESCUES = 3

Late = tuple[list[int], list[int]]  # columns and rows that lag behind
NOBODY: Late = ([], [])


class Stage(NamedTuple):
    """A model between sweeps, the loss of the last one and its scale, and that of what is left."""

    model: Model
    loss: Loss
    level: float
    scale: float
    sweeps: int
    converged: bool

    def settle(
        self,
        dense: Dense,
        schedule: Schedule,
        max_sweeps: int,
        tol: float,
        spread: float,
        listener: Listener | None = None,
    ) -> Stage:
        """Refined, with the lines that lag behind solved from afar, until these are the same."""
        stage, late = self, NOBODY
        for _ in range(MAX_RESCUES):
            stage = stage.refine(dense, schedule, tol, max_sweeps, listener)
            model, again = stage.model.rescue(dense.with_loss(stage.loss), spread)
            if again in (late, NOBODY):
                break
            stage, late = stage._replace(model=model), again
        return stage

    def refine(
        self,
        dense: Dense,
        schedule: Schedule,
        tol: float,
        max_sweeps: int,
        listener: Listener | None = None,
    ) -> Stage:
        """Sweeps under the schedule until one moves the matrix by no more than `tol` of its size,
        or, once the threshold rests, by a small share of the statistical error. Where nothing is
        left beside the location, its rounding is all that moves.
        """
        model, loss, level, scale, sweeps, _ = self
        dimension = model.A.rank * sum(dense.shape)
        while sweeps < max_sweeps:
            before, level = level, schedule.lower(level, scale)
            last, loss = loss, schedule.settle(level)
            model, moved = model.sweep(dense.with_loss(loss))
            scale, sweeps = model.scale(dense), sweeps + 1
            falls = loss != last and is_falling(before, level)
            error = 0.0 if falls else scale * math.sqrt(dimension)
            norm = float(np.linalg.norm(model.A.s))
            least = max(tol * norm, model.rounding(dense))
            if listener is not None:
                share = moved / norm if norm else 0.0
                listener.on_refinement(Refinement(sweeps, model.A.rank, scale, share))
            if moved <= max(least, NEGLIGIBLE_SHARE * error):
                return Stage(model, loss, level, scale, sweeps, True)
        return Stage(model, loss, level, scale, sweeps, False)
