"""What `verbose` and `n_jobs` mean to every estimator: lines about a fit, and its threads."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pygeco.algorithm.path import Step, Trial
from pygeco.algorithm.robust import Refinement
from pygeco.bayes.evidence import Sweep
from pygeco.bayes.sampling import Drawn
from pygeco.engines import limit_threads
from pygeco.estimators._whole import ModelListener

SECONDS = 1.0  # between two lines of verbose=1: a short fit has its last line alone

Listener = Callable[[Any], object]


class Progress:
    """A callback that writes lines to standard error, and leaves it to another one to stop.

    `verbose=1` writes a line a second and the last one, 2 one for every event.
    """

    def __init__(self, name: str, verbose: int, listener: Listener | None) -> None:
        self.name, self.verbose, self.listener = name, verbose, listener
        self.began = self.written = time.monotonic()
        self.pending: Any = None  # the last event, where no line told of it

    def __call__(self, event: Any) -> bool:
        self.pending = event
        if self.verbose > 1 or time.monotonic() - self.written >= SECONDS:
            self.write_line()
        return self.listener is not None and bool(self.listener(event))

    def on_model(self, model: Any) -> None:
        listener: Any = self.listener
        if isinstance(listener, ModelListener):
            listener.on_model(model)

    def write_line(self) -> None:
        if self.pending is None or sys.stderr is None:
            return
        self.written = time.monotonic()
        words = f"{self.name}: {describe_event(self.pending)}, {self.written - self.began:.1f} s\n"
        self.pending = None
        sys.stderr.write(words)
        sys.stderr.flush()


def describe_event(event: Any) -> str:
    """One event of a fit in words."""
    match event:
        case Sweep():
            return f"sweep {event.sweeps}, rank {event.rank}, noise {event.noise:.4g}"
        case Drawn():
            return f"posterior draw {event.done} of {event.total}, noise {event.noise:.4g}"
        case Trial():
            return f"trying rank {event.rank}, held-out loss {event.loss:.4g}"
        case Step():
            return f"rank {event.rank}, objective {event.objective:.6g}"
        case Refinement():
            moved = f"scale {event.scale:.4g}, moved by {event.moved:.1e}"
            return f"sweep {event.sweeps}, rank {event.rank}, {moved}"
    return str(event)


@contextmanager
def attend_fit(estimator: Any) -> Iterator[Listener | None]:
    """The threads of `n_jobs` for a while, and whom to tell of the fit: the estimator's callback,
    if it has one, with a line to standard error before it where the estimator is `verbose`.
    """
    callback, verbose, n_jobs = getattr(estimator, "callback", None), *_settings(estimator)
    with limit_threads(n_jobs):
        if not verbose:
            yield callback
            return
        progress = Progress(type(estimator).__name__, verbose, callback)
        try:
            yield progress
        finally:
            progress.write_line()


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
