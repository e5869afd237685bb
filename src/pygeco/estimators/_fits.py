"""How MatrixCompletion is fitted: from what is given to a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from pygeco.algorithm.events import Listener
from pygeco.engines import borrow_cluster
from pygeco.estimators._checkpoint import keep_seed, open_checkpoint
from pygeco.estimators._choices import choose_parts, choose_penalty
from pygeco.estimators._dates import choose_times, settle_times
from pygeco.estimators._evidence_fit import fit_by_evidence
from pygeco.estimators._fit_task import FitTask, Outcome
from pygeco.estimators._fitted_cells import is_read_here, make_fitted_entries
from pygeco.estimators._path_fit import fit_along_path
from pygeco.estimators._progress import take_seed
from pygeco.estimators._side_information import take_attributes
from pygeco.io.tables import is_partitioned
from pygeco.losses import find_loss
from pygeco.objectives.entries.biases import settle_scale

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState


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
    task = FitTask(estimator, entries, loss, choices, info, seed, listener, store)
    return fit_by_evidence(task) if penalty == "evidence" else fit_along_path(task)
