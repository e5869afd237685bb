"""MatrixCompletion along the solver's path, its rank given or chosen by held-out cells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from pygeco.algorithm.corrections.factory import resolve_auto
from pygeco.algorithm.events import Listener, StepsOnly, Trial
from pygeco.algorithm.path import Path, Step, Stop
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.solver import Solver, check_solver
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.estimators._checkpoint import minimize_resumably, take_kept_steps
from pygeco.estimators._choices import limit_rank
from pygeco.estimators._fit_task import FitTask, Outcome
from pygeco.estimators._whole import ModelListener
from pygeco.models import build_model
from pygeco.models.slab_arrays import place_rows
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases, fit_biases

PATIENCE = 3  # ranks without a better validation error before rank="auto" stops


class PathFit(NamedTuple):
    """The path of a fit, whose last matrix is the model's, and the offsets that it started from."""

    path: Path
    biases: Biases


class RankChoice(NamedTuple):
    """A rank, and the fit of the cells that were not held out to choose it."""

    rank: int
    path: Path
    biases: Biases


def fit_along_path(task: FitTask) -> Outcome:
    """The model at the end of the path, up to the rank given or chosen by held-out cells."""
    entries, parts = task.entries, task.choices._asdict()
    biases = fit_biases(entries, task.choices.offsets)
    _show_model(task, biases)
    found = _follow_path(task, biases)
    model = build_model(entries, found.path.A.svd(), found.biases, loss=entries.loss, **parts)
    return Outcome(model, found.path, len(found.path))


def _show_model(task: FitTask, biases: Biases) -> None:
    """Show those who want to see it the model before the first step, of rank zero."""
    estimator, entries = task.settings, task.entries
    watchers: tuple[object, ...] = estimator.observer, estimator.callback
    listeners = [each for each in watchers if isinstance(each, ModelListener)]
    if listeners:
        empty = LowRank.zero(entries.shape, entries.kind)
        parts = task.choices._asdict()
        estimator.model_ = build_model(entries, empty, biases, loss=entries.loss, **parts)
    for each in listeners:
        each.on_model(estimator)


def _follow_path(task: FitTask, biases: Biases) -> PathFit:
    """Algorithm 1 on what the biases leave.

    Where the rank is chosen, the fit is then of all cells, or without `refit` that of the others.
    A listener that stops while ranks are tried ends the fit there, without one of all cells.
    """
    settings, entries, listener = task.settings, task.entries, task.listener
    rank = settings.rank
    penalty = None if isinstance(task.choices.penalty, str) else task.choices.penalty
    solver = _choose_solver(settings.solver, penalty)
    chosen = limit_rank(rank, entries.shape)
    listener.on_start(entries, chosen)
    if rank == "auto":
        choice = _choose_rank(task, solver, penalty)
        chosen = 1 if choice is None else choice.rank
        if choice is not None and (choice.path.stop is Stop.CALLBACK or not settings.refit):
            listener.on_stop(choice.path.stop)
            return PathFit(choice.path, choice.biases)
    path = minimize_resumably(
        task.store,
        "path",
        entries.shift(biases.mean + biases.row, biases.col),
        chosen,
        solver,
        penalty=penalty,
        seed=task.seed,
        listener=StepsOnly(listener),
    )
    if rank == "auto" and path.stop is Stop.RANK:  # nobody asked for this rank
        path = replace(path, stop=Stop.VALIDATION)
    listener.on_stop(path.stop)
    return PathFit(path, biases)


@dataclass(eq=False)
class _Trials(Listener):
    """Each step judged by held-out cells, until a few in a row are no better than the best."""

    held_out: Entries
    listener: Listener
    ranks: list[int] = field(default_factory=lambda: [1])
    losses: list[float] = field(default_factory=lambda: [np.inf])
    is_stopped: bool = False

    def judge(self, rank: int, A: LowRank) -> None:
        self.ranks.append(rank)
        self.losses.append(self.held_out.value(A))

    @property
    def best(self) -> int:
        """The place of the lowest loss."""
        return int(np.argmin(self.losses))

    def on_step(self, step: Step) -> bool:
        self.judge(step.rank, step.A)
        trial = Trial(step.rank, step.objective, self.losses[-1], step.seconds)
        self.is_stopped = bool(self.listener.on_trial(trial))
        return self.is_stopped or len(self.losses) - 1 - self.best >= PATIENCE


def _choose_rank(task: FitTask, solver: Solver, penalty: Penalty | None) -> RankChoice | None:
    """The path of nine tenths of the cells to the rank with the lowest loss on the others.

    The listener is told of each trial, and may stop. None where too few cells are to be split.
    """
    entries, seed, store = task.entries, task.seed, task.store
    held = stream(Purpose.RANK_CHOICE, seed).random(entries.size) < 0.1
    if held.all() or not held.any():
        return None
    fitted, test = entries.subset(~held), entries.subset(held)
    biases = fit_biases(fitted, task.choices.offsets)
    row, col = biases.mean + biases.row, biases.col
    trials = _Trials(test.shift(row, col), task.listener)
    for step in take_kept_steps(store, "validation"):
        trials.judge(step.rank, place_rows(step.A, entries))
    path = minimize_resumably(
        store,
        "validation",
        fitted.shift(row, col),
        limit_rank("auto", entries.shape),
        solver,
        penalty=penalty,
        seed=seed,
        listener=trials,
    )
    best = max(1, trials.ranks[trials.best])
    steps = tuple(step for step in path if step.rank <= best)
    stop = Stop.CALLBACK if trials.is_stopped else Stop.VALIDATION
    path = Path(steps, stop, path.seed, path.shape)
    return RankChoice(best, path, biases)


def _choose_solver(solver: Solver | None, penalty: Penalty | None) -> Solver:
    """Cores where nothing else holds the rows: with no penalty, sweeps fit the noise of each.

    MovieLens-100K, Huber's loss, rank by held-out cells: they err by 0.943, cores by 0.928.
    """
    solver = check_solver(solver)
    if penalty is not None:
        return solver
    return replace(solver, correction=resolve_auto(solver.correction, "core"))
