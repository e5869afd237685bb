"""How MatrixCompletion is fitted: from what is given to a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import ArrayLike

from pygeco.algorithm.events import Listener
from pygeco.algorithm.path import Path
from pygeco.arrays.low_rank import LowRank
from pygeco.engines import borrow_cluster
from pygeco.estimators._checkpoint import Checkpoint, keep_seed, open_checkpoint
from pygeco.estimators._choices import Choices, choose_parts, choose_penalty
from pygeco.estimators._dates import choose_times, settle_times
from pygeco.estimators._evidence_fit import even_weights, fit_by_evidence
from pygeco.estimators._fitted_cells import is_read_here, make_fitted_entries
from pygeco.estimators._path_fit import follow_path
from pygeco.estimators._progress import take_seed
from pygeco.estimators._side_information import SideInformation, take_attributes
from pygeco.estimators._whole import ModelListener
from pygeco.io.tables import is_partitioned
from pygeco.losses import find_loss
from pygeco.models import FittedModel, build_model
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases, fit_biases, settle_scale

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState
    from pygeco.estimators.attributes import Attributes


class Outcome(NamedTuple):
    """A fitted model, the path to it, the sweeps or steps that it took, and how the attributes of
    rows and columns were coded. `time_column` is the one of the table that had times.
    """

    model: FittedModel
    path: Path
    sweeps: int
    encoders: tuple[Attributes | None, Attributes | None] = (None, None)
    time_column: str | None = None


@contextmanager
def borrow_cluster_for(X: Any, engine: str | None) -> Iterator[bool]:
    """A cluster for the fit, where X or the engine asks for one; whether it goes with the fit."""
    in_parts = is_partitioned(X) and not is_read_here(X, engine)
    if in_parts and engine not in (None, "dask"):
        raise ValueError(
            f"engine: {engine!r} does not read files; use engine='cpu' or 'dask', or read the file "
            "by pygeco.data.read_ratings and fit its table."
        )
    if engine != "dask" and not in_parts:
        yield False
        return
    with borrow_cluster() as own:
        yield own


def fit_cells(
    estimator: _CompletionState,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    columns: Sequence[str | int] | str | None,
    checkpoint: str | PathLike[str] | None,
    listener: Listener,
    attributes: tuple[Any, Any],
    times: Any,
) -> Outcome:
    """The model of the cells of X by the settings of the estimator, which gets their ids."""
    loss, penalty = find_loss(estimator.loss), choose_penalty(estimator)
    times = choose_times(estimator, times, penalty, loss)
    entries, dates = make_fitted_entries(
        estimator, X, columns, y=y, loss=loss, sample_weight=sample_weight, times=times
    )
    dates = settle_times(estimator, entries, times, dates)
    entries, info = take_attributes(estimator, entries, attributes, penalty)
    info = info._replace(dates=dates)
    entries = settle_scale(entries, loss)
    choices = choose_parts(estimator, entries, penalty)
    store = open_checkpoint(checkpoint, estimator, entries, choices, info)
    seed = keep_seed(store, take_seed(estimator.random_state))
    if penalty != "evidence":
        return _fit_along_path(estimator, entries, choices, seed, listener, store)
    return _fit_by_evidence(estimator, entries, choices, seed, listener, store, info)


def _fit_by_evidence(
    estimator: _CompletionState,
    entries: Entries,
    choices: Choices,
    seed: int,
    listener: Listener,
    store: Checkpoint | None,
    info: SideInformation,
) -> Outcome:
    entries, unit = even_weights(entries)
    found = fit_by_evidence(
        entries,
        estimator,
        choices.offsets,
        seed,
        loss=find_loss(estimator.loss),
        listener=listener,
        store=store,
        info=info,
    )
    model = build_model(
        entries,
        found.factors,
        found.biases,
        loss=found.loss,
        posterior=replace(found.posterior, weight_unit=unit),
        average=found.average,
        row_attributes=info.values[0],
        column_attributes=info.values[1],
        times=None if found.posterior.drift is None else info.dates.times,
        **choices._asdict(),
    )
    return Outcome(model, found.path, found.sweeps, info.encoders, info.dates.column)


def _fit_along_path(
    estimator: _CompletionState,
    entries: Entries,
    choices: Choices,
    seed: int,
    listener: Listener,
    store: Checkpoint | None,
) -> Outcome:
    biases = fit_biases(entries, choices.offsets)
    _show_model(estimator, entries, biases, choices)
    found = follow_path(entries, estimator, biases, choices, seed, listener=listener, store=store)
    parts = choices._asdict()
    model = build_model(entries, found.path.A.svd(), found.biases, loss=entries.loss, **parts)
    return Outcome(model, found.path, len(found.path))


def _show_model(
    estimator: _CompletionState, entries: Entries, biases: Biases, choices: Choices
) -> None:
    """Show those who want to see it the model before the first step, of rank zero."""
    watchers: tuple[object, ...] = estimator.observer, estimator.callback
    listeners = [each for each in watchers if isinstance(each, ModelListener)]
    if listeners:
        empty = LowRank.zero(entries.shape, entries.kind)
        parts = choices._asdict()
        estimator.model_ = build_model(entries, empty, biases, loss=entries.loss, **parts)
    for each in listeners:
        each.on_model(estimator)
