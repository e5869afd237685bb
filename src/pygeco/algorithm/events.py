"""What a fit tells while it runs, to one kind of listener: start, steps, sweeps, draws, stop.

Progress bars, logs, checkpoints and callbacks all listen to the same events, whichever way a fit
goes: along a path, by the evidence, or with draws from the posterior. A fit starts once and stops
once; between them come the events of the way it goes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pygeco.algorithm.path import Step, Stop
from pygeco.objectives.base import Objective


class Trial(NamedTuple):
    """A rank that held-out cells judge.

    Attributes
    ----------
    rank : int
        The rank.
    objective : float
        The objective at the fitted cells.
    loss : float
        The mean loss at the held-out cells.
    seconds : float
        Time since the start of the fit.
    """

    rank: int
    objective: float
    loss: float
    seconds: float


class ClickTrial(NamedTuple):
    """A trial of settings for clicks, judged by held-out clicks.

    Attributes
    ----------
    family : str
        "spectral", "squares" or "both".
    settings : SpectralSettings, SquaresSettings or None
        The settings; None if both families are blended.
    ndcg : float
        The mean nDCG@20 of held-out clicks.
    seconds : float
        Time since the start of the search.
    share : float or None
        The share of the squares, if both families are blended.
    """

    family: str
    settings: Any
    ndcg: float
    seconds: float
    share: float | None = None


class Sweep(NamedTuple):
    """A sweep of the evidence.

    Attributes
    ----------
    sweeps : int
        The number of sweeps so far.
    rank : int
        The rank.
    noise : float
        The standard deviation of the noise.
    seconds : float
        Time since the start of the fit.
    stage : object
        What a checkpoint stores, so that a fit can continue from here; None if the next event is
        not another sweep at the same components.
    """

    sweeps: int
    rank: int
    noise: float
    seconds: float
    stage: object = None


class PosteriorDraw(NamedTuple):
    """A sweep of draws from the posterior.

    Attributes
    ----------
    done, total : int
        The number of sweeps so far, and of all of them, burn-in included.
    noise : float
        The standard deviation of the noise.
    """

    done: int
    total: int
    noise: float


class Refinement(NamedTuple):
    """A sweep of a robust approximation: how far it moved the matrix, as a share of it."""

    sweeps: int
    rank: int
    scale: float
    moved: float


Event = Step | Trial | ClickTrial | Sweep | PosteriorDraw | Refinement


@runtime_checkable
class Listener(Protocol):
    """Base class of observers of a fit: override the methods for the events that interest you.

    If a method returns true for a step, a trial, a sweep or a draw, the fit stops and keeps what it
    has.

    Examples
    --------
    >>> import numpy as np
    >>> import pygeco
    >>> class Ranks(pygeco.Listener):
    ...     def on_step(self, step):
    ...         print("rank", step.rank)
    >>> path = pygeco.minimize(pygeco.Dense(np.eye(4)), 2, observer=Ranks(), random_state=0)
    rank 1
    rank 2
    """

    def on_start(self, objective: Objective, rank: int) -> None:
        """A fit of `objective` begins, of at most this rank."""
        return

    def on_step(self, step: Step) -> object:
        """A rank of the path is there."""
        return None

    def on_trial(self, trial: Trial) -> object:
        """Held-out cells have judged a rank."""
        return None

    def on_click_trial(self, trial: ClickTrial) -> object:
        """Held-out clicks have judged settings."""
        return None

    def on_sweep(self, sweep: Sweep) -> object:
        """The evidence has swept once more."""
        return None

    def on_refinement(self, refinement: Refinement) -> None:
        """A robust approximation was refined once more; it goes on whatever the answer."""
        return

    def on_draw(self, draw: PosteriorDraw) -> object:
        """The posterior was drawn from once more."""
        return None

    def on_stop(self, reason: Stop) -> None:
        """The fit has ended."""
        return


@dataclass(frozen=True)
class Callback(Listener):
    """A function as a listener: it gets the value of each event between start and stop."""

    function: Callable[..., object]

    def on_step(self, step: Step) -> object:
        return self.function(step)

    def on_trial(self, trial: Trial) -> object:
        return self.function(trial)

    def on_click_trial(self, trial: ClickTrial) -> object:
        return self.function(trial)

    def on_sweep(self, sweep: Sweep) -> object:
        return self.function(sweep)

    def on_refinement(self, refinement: Refinement) -> None:
        self.function(refinement)

    def on_draw(self, draw: PosteriorDraw) -> object:
        return self.function(draw)


@dataclass(frozen=True)
class Listeners(Listener):
    """Several listeners as one, told in order; each is told, and any of them may stop the fit."""

    each: tuple[Listener, ...]

    def on_start(self, objective: Objective, rank: int) -> None:
        for listener in self.each:
            listener.on_start(objective, rank)

    def on_step(self, step: Step) -> bool:
        return any(tuple(listener.on_step(step) for listener in self.each))

    def on_trial(self, trial: Trial) -> bool:
        return any(tuple(listener.on_trial(trial) for listener in self.each))

    def on_click_trial(self, trial: ClickTrial) -> bool:
        return any(tuple(listener.on_click_trial(trial) for listener in self.each))

    def on_sweep(self, sweep: Sweep) -> bool:
        return any(tuple(listener.on_sweep(sweep) for listener in self.each))

    def on_refinement(self, refinement: Refinement) -> None:
        for listener in self.each:
            listener.on_refinement(refinement)

    def on_draw(self, draw: PosteriorDraw) -> bool:
        return any(tuple(listener.on_draw(draw) for listener in self.each))

    def on_stop(self, reason: Stop) -> None:
        for listener in self.each:
            listener.on_stop(reason)


@dataclass(frozen=True)
class StepsOnly(Listener):
    """For a run that is one part of a fit: its start and stop are not the fit's."""

    listener: Listener

    def on_step(self, step: Step) -> object:
        return self.listener.on_step(step)


def join_listeners(observer: Listener | None, callback: Callable[..., object] | None) -> Listener:
    """One listener that tells the observer first, then the callback."""
    if observer is not None and not isinstance(observer, Listener):
        raise ValueError(
            f"observer: {observer!r} lacks methods of a listener; derive its class from "
            "pygeco.Listener, which has them all."
        )
    if callback is not None and not callable(callback):
        raise ValueError(f"callback: expected a function of one argument, not {callback!r}.")
    each = [] if observer is None else [observer]
    if callback is not None:
        each.append(Callback(callback))
    return Listeners(tuple(each))
