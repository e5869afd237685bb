"""Sweeps until the error rests, of any phase of a fit by the evidence, and where they stand."""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol

import numpy as np

from pygeco.algorithm.events import Listener, Sweep
from pygeco.bayes.posterior import Posterior


class Stage(NamedTuple):
    """Where a fit stands after a sweep: all that the rest of it depends on.

    `before` is the rank before the last block, which had `block` components, `age` the sweeps of
    the present phase, `generator` the state of the random numbers.
    """

    now: Posterior
    before: int
    generator: dict[str, object]
    block: int
    age: int = 0
    error: float = np.inf
    relax: float = 0.0
    sweeps: int = 0
    seconds: float = 0.0
    stopped: bool = False
    plain: Posterior | None = None  # what was found without attributes, once they are tried
    tables_alone: bool = False  # whether they are tried again, without the pattern

    def begin(self, now: Posterior) -> Stage:
        """The stage before the first sweep of another phase."""
        return self._replace(now=now, age=0, error=np.inf, relax=0.0)


class Phase(Protocol):
    """Sweeps of one kind: what each does, when they rest, and what follows the last one."""

    @property
    def max_sweeps(self) -> int: ...

    @property
    def resumes(self) -> bool:
        """Whether a fit can go on from between two sweeps."""
        ...

    def sweep(self, at: Stage) -> tuple[Posterior, float]:
        """What the next sweep finds, and the expected error."""
        ...

    def judge(self, at: Stage, now: Posterior, fell: float) -> tuple[Posterior, bool]:
        """The posterior without what the sweep showed to be dead; whether the phase ends.

        `fell` is the share by which the error fell, `at` the stage before the sweep.
        """
        ...

    def finish(self, at: Stage, before: Posterior) -> Posterior:
        """The posterior after the phase; `before` is that of a sweep before."""
        ...


class Watch(NamedTuple):
    """Who is told of the sweeps, since when they are timed, and how many came before."""

    listener: Listener
    began: float
    earlier_sweeps: int

    def tell(self, at: Stage, now: Posterior, rank: int, *, goes_on: bool) -> Stage:
        """The stage after another sweep, of this rank, of which the listener is told."""
        seconds = time.perf_counter() - self.began
        at = at._replace(now=now, sweeps=at.sweeps + 1, seconds=seconds)
        noise, sweeps = now.scale * now.tau**-0.5, self.earlier_sweeps + at.sweeps
        told = Sweep(sweeps, rank, noise, seconds, at if goes_on else None)
        return at._replace(stopped=bool(self.listener.on_sweep(told)))


def sweep_until_rest(at: Stage, phase: Phase, watch: Watch) -> Stage:
    """The stage at the end of a phase: it rests, has had its sweeps, or the listener stopped it."""
    before, ends = at.now, False
    while at.age < phase.max_sweeps and not (ends or at.stopped):
        before = at.now
        swept, error = phase.sweep(at)
        fell = (at.error - error) / max(error, 1e-300)
        now, ends = phase.judge(at, swept, fell)
        # A first step is no move to go along, and neither is one in another basis.
        relax = 1.0 if fell > 0 and at.age and now.rank == swept.rank else 0.0
        at = at._replace(age=at.age + 1, error=error, relax=relax)
        goes_on = phase.resumes and not ends and at.age < phase.max_sweeps
        at = watch.tell(at, now, swept.rank, goes_on=goes_on)
    return at._replace(now=phase.finish(at, before))
