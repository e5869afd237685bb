"""Checkpoints: what a killed fit needs to end with the same bits as one that was not killed."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.events import Listener, Listeners, Sweep
from pygeco.algorithm.path import Path, Step, Stop
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.run import minimize
from pygeco.algorithm.solver import Solver
from pygeco.arrays.kinds import host
from pygeco.bayes.attributes import AttributeValues
from pygeco.errors import ModelFileError
from pygeco.estimators._choices import Choices
from pygeco.io.model_file import load_record, save_record
from pygeco.models.slab_arrays import write_in_blocks
from pygeco.objectives import Entries
from pygeco.objectives.base import Objective

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState
    from pygeco.estimators._side_information import SideInformation

MIN_PAUSE_SECONDS = 1.0  # seconds between two checkpoints, at least
MAX_WRITING_SHARE = 0.1  # of the time, at most, goes into writing them


class Checkpoint:
    """Named parts of a fit's state in one file, replaced whole each time.

    The file belongs to one set of cells and settings; with others it is an error.
    """

    def __init__(self, path: str | os.PathLike[str], key: str) -> None:
        self.path, self.key = os.fspath(path), key
        self.parts: dict[str, Any] = {}
        self.next = 0.0
        if os.path.exists(self.path):
            found = load_record(self.path)
            if not isinstance(found, dict) or not isinstance(found.get("key"), str):
                raise ModelFileError(f"{self.path} is not a checkpoint; give another path.")
            if found["key"] != key:
                raise ValueError(
                    f"checkpoint: {self.path} belongs to other data or settings; delete it or "
                    "give another path."
                )
            self.parts = found
        else:
            self.keep(key=key)  # an unwritable path is told before the fit

    def keep(self, **parts: Any) -> None:
        """Write at once."""
        began = time.perf_counter()
        self.parts |= parts
        kept = {name: write_in_blocks(part) for name, part in self.parts.items()}
        save_record(kept, self.path)
        ended = time.perf_counter()
        self.next = ended + max(MIN_PAUSE_SECONDS, (ended - began) / MAX_WRITING_SHARE)

    def keep_now_and_then(self, **parts: Any) -> None:
        """Write, unless that was done a moment ago."""
        if time.perf_counter() >= self.next:
            self.keep(**parts)


def open_checkpoint(
    path: str | os.PathLike[str] | None,
    estimator: _CompletionState,
    entries: Entries,
    choices: Choices,
    info: SideInformation,
) -> Checkpoint | None:
    """The checkpoint of a fit of these cells with these settings; None without a path."""
    if path is None:
        return None
    state = estimator.random_state
    seed = state if isinstance(state, (int, np.integer)) else None
    solver = drop_time_limit(estimator.solver)
    settings = estimator.rank, choices.penalty, choices.offsets, solver, seed, estimator.pattern
    attributes = [hash_values(values) for values in info.values]
    dates = [] if info.dates.times is None else [hash_array(info.dates.times), estimator.time]
    return Checkpoint(path, hash_fit(entries, *settings, *attributes, *dates))


def hash_array(values: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).view(np.uint8).data).hexdigest()


def hash_values(values: AttributeValues | None) -> str | None:
    """A hash of a table of attributes."""
    if values is None:
        return None
    matrix = values.matrix
    found = hashlib.sha256(repr((matrix.shape, values.names, values.sizes)).encode())
    for part in (matrix.indptr, matrix.indices, matrix.data, values.known):
        found.update(np.ascontiguousarray(part).view(np.uint8).data)
    return found.hexdigest()


def hash_fit(entries: Entries, *settings: Any) -> str:
    """A hash of the cells and of the settings that decide the bits of a fit."""
    cells = entries.by_row
    found = hashlib.sha256(repr((entries.shape, entries.loss, settings)).encode())
    fingerprint = entries.engine.fingerprint()
    if fingerprint is not None:
        return hashlib.sha256(repr((found.hexdigest(), fingerprint)).encode()).hexdigest()
    for part in (cells.pointers, cells.indices, cells.values, cells.weights):
        found.update(np.ascontiguousarray(host(part)).view(np.uint8).data)
    return found.hexdigest()


def keep_seed(store: Checkpoint | None, seed: int) -> int:
    """The seed that the checkpoint holds; the one given is kept there first."""
    if store is None:
        return seed
    if "seed" not in store.parts:
        store.keep(seed=seed)
    return int(store.parts["seed"])


def drop_time_limit(solver: Solver | None) -> Solver | None:
    """The solver as far as it decides bits."""
    return None if solver is None else replace(solver, time_limit=None)


def minimize_resumably(
    store: Checkpoint | None,
    name: str,
    objective: Objective,
    rank: int,
    solver: Solver | None,
    *,
    seed: int,
    penalty: Penalty | None,
    listener: Listener,
) -> Path:
    """`minimize`, its path kept in the checkpoint after each rank, and continued from there.

    The last rank kept is taken again, so that the rules for stopping see it.
    """
    kept = take_kept_steps(store, name)
    seconds = kept[-1].seconds if kept else 0.0
    if store is not None:
        keeper = PathKeeper(store, name, kept, seconds, seed, objective.shape)
        listener = Listeners((keeper, listener))
    start = Path(kept, Stop.TIME, seed, objective.shape) if kept else None
    path = minimize(
        objective,
        rank,
        solver,
        penalty=penalty,
        start=start,
        random_state=seed,
        observer=listener,
    )
    steps = (
        *path.steps[: len(kept)],
        *(_add_seconds(step, seconds) for step in path.steps[len(kept) :]),
    )
    return replace(path, steps=steps)


def take_kept_steps(store: Checkpoint | None, name: str) -> tuple[Step, ...]:
    """The steps that a continued fit does not take again."""
    path = store.parts.get(name) if store else None
    if store is not None and not isinstance(path, Path | None):
        raise ModelFileError(f"{store.path} is damaged: it holds no path; delete it.")
    return () if path is None else path.steps[:-1]


def _add_seconds(step: Step, seconds: float) -> Step:
    return replace(step, seconds=step.seconds + seconds)


class StageKeeper(Listener):
    """Keeps the stage of a fit by the evidence, every second or so."""

    def __init__(self, store: Checkpoint) -> None:
        self.store = store

    def on_sweep(self, sweep: Sweep) -> None:
        if sweep.stage is not None:
            self.store.keep_now_and_then(stage=sweep.stage)


class PathKeeper(Listener):
    """Keeps the path so far."""

    def __init__(
        self,
        store: Checkpoint,
        name: str,
        kept: tuple[Step, ...],
        seconds: float,
        seed: int,
        shape: tuple[int, int],
    ) -> None:
        self.store, self.name, self.steps, self.seconds = store, name, kept, seconds
        self.seed, self.shape = seed, shape

    def on_step(self, step: Step) -> None:
        before = (t for t in self.steps if t.rank < step.rank)
        self.steps = (*before, _add_seconds(step, self.seconds))
        path = Path(self.steps, Stop.TIME, self.seed, self.shape)
        self.store.keep_now_and_then(**{self.name: path})

    def on_stop(self, reason: Stop) -> None:
        if self.steps:
            path = Path(self.steps, reason, self.seed, self.shape)
            self.store.keep(**{self.name: path})
