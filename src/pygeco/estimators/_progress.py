"""What `verbose`, `n_jobs` and `random_state` mean to every estimator: lines, threads, a seed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pygeco.algorithm.events import (
    ClickTrial,
    Event,
    Listener,
    Listeners,
    PosteriorDraw,
    Refinement,
    Sweep,
    Trial,
    join_listeners,
)
from pygeco.algorithm.path import Step
from pygeco.arrays.streams import RandomState, seed_from
from pygeco.engines import limit_threads

NOTE_SECONDS = 1.0  # between two lines of verbose=1: a short fit has its last line alone


class Progress(Listener):
    """Writes lines to standard error: `verbose=1` one a second and the last, 2 one an event."""

    def __init__(self, name: str, verbose: int) -> None:
        self.name, self.verbose = name, verbose
        self.began = self.written = time.monotonic()
        self.pending: Event | None = None  # the last event, where no line told of it

    def on_step(self, step: Step) -> None:
        self._note(step)

    def on_trial(self, trial: Trial) -> None:
        self._note(trial)

    def on_click_trial(self, trial: ClickTrial) -> None:
        self._note(trial)

    def on_sweep(self, sweep: Sweep) -> None:
        self._note(sweep)

    def on_refinement(self, refinement: Refinement) -> None:
        self._note(refinement)

    def on_draw(self, draw: PosteriorDraw) -> None:
        self._note(draw)

    def _note(self, event: Event) -> None:
        self.pending = event
        if self.verbose > 1 or time.monotonic() - self.written >= NOTE_SECONDS:
            self.write_line()

    def write_line(self) -> None:
        if self.pending is None or sys.stderr is None:
            return
        self.written = time.monotonic()
        words = f"{self.name}: {describe_event(self.pending)}, {self.written - self.began:.1f} s\n"
        self.pending = None
        sys.stderr.write(words)
        sys.stderr.flush()


def describe_event(event: Event) -> str:
    """One event of a fit in words."""
    match event:
        case Sweep():
            return f"sweep {event.sweeps}, rank {event.rank}, noise {event.noise:.4g}"
        case PosteriorDraw():
            return f"posterior draw {event.done} of {event.total}, noise {event.noise:.4g}"
        case Trial():
            return f"trying rank {event.rank}, held-out loss {event.loss:.4g}"
        case ClickTrial():
            return f"trying {event.family}, held-out nDCG@20 {event.ndcg:.4f}"
        case Step():
            return f"rank {event.rank}, objective {event.objective:.6g}"
        case Refinement():
            moved = f"scale {event.scale:.4g}, moved by {event.moved:.1e}"
            return f"sweep {event.sweeps}, rank {event.rank}, {moved}"


@contextmanager
def attend_fit(
    estimator: Any,
    observer: Listener | None = None,
    callback: Callable[..., object] | None = None,
) -> Iterator[Listener]:
    """The threads of `n_jobs` for a while, and whom to tell of the fit: the observer, the callback,
    and before them, where the estimator is `verbose`, lines to standard error.
    """
    listener = join_listeners(observer, callback)
    verbose, n_jobs = _settings(estimator)
    with limit_threads(n_jobs):
        if not verbose:
            yield listener
            return
        progress = Progress(type(estimator).__name__, verbose)
        try:
            yield Listeners((progress, listener))
        finally:
            progress.write_line()


def take_seed(random_state: RandomState) -> int:
    """The seed of a fit; None draws one from NumPy's global state, as in scikit-learn."""
    return seed_from(check_random_state(random_state) if random_state is None else random_state)


def _settings(estimator: Any) -> tuple[int, int | None]:
    """`verbose` and `n_jobs`, checked."""
    verbose, n_jobs = estimator.verbose, estimator.n_jobs
    whole = (int, np.integer)
    if not isinstance(verbose, (*whole, np.bool_)) or verbose < 0:
        raise ValueError(f"verbose: must be a bool or an integer ≥ 0, not {verbose!r}.")
    if n_jobs is None:
        return int(verbose), None
    if not isinstance(n_jobs, whole) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(
            f"n_jobs: must be a number of threads, or None or −1 for all cores, not {n_jobs!r}."
        )
    return int(verbose), int(n_jobs)
