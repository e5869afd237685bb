"""What to show: the best columns for a row, columns alike, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.kinds import answer, host
from pygeco.estimators._choosing import settle_lists
from pygeco.estimators._dates import read_asked_time
from pygeco.estimators._ids import (
    find_ids,
    find_index,
    find_row_ids,
    gather_ids,
    name_sides,
    take_ids,
)
from pygeco.estimators._list_filters import choose_candidates
from pygeco.estimators.ranking import Ranking
from pygeco.io.tables import is_table
from pygeco.models import FittedModel
from pygeco.models.ranking import Best, Reasons

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState


def recommend_columns(
    estimator: _CompletionState,
    rows: Any,
    k: int,
    *,
    exclude_seen: bool,
    items: Any,
    exclude: Any,
    unknown: str,
    by: str = "auto",
    time: Any = None,
) -> Ranking:
    """See `MatrixCompletion.recommend`."""
    by = settle_lists(estimator, by)
    if is_table(rows) and hasattr(rows, "columns"):
        rows = find_row_ids(estimator, rows)
    given = _list_rows(estimator) if rows is None else rows
    at = (
        np.arange(estimator.model_.shape[0])
        if rows is None
        else find_ids(estimator, "rows", given, 0, unknown)
    )
    filters = choose_candidates(estimator, items, exclude, exclude_seen=exclude_seen)
    index = at if estimator.row_ids_ is None else np.maximum(at, 0)
    model = estimator.model_.at(read_asked_time(time))
    best = model.best(index, k, filters, by=by)
    if estimator.row_ids_ is not None and np.any(at < 0):
        best = _answer_unknown(model, best, at, unknown, filters.allowed)
    columns, scores = (answer(x, given) for x in best)
    names = (*name_sides(estimator.table_columns_), estimator._score_name)
    return Ranking(take_ids(estimator.column_ids_, columns), scores, given, names)


def find_similar(estimator: _CompletionState, given: ArrayLike, k: int, side: int) -> Ranking:
    """See `MatrixCompletion.similar` and `similar_rows`."""
    index = find_index(estimator, ("rows", "columns")[side], given, side)
    model = estimator.model_
    best = model.similar_columns(index, k) if side else model.similar_rows(index, k)
    found, scores = (answer(x, given) for x in best)
    ids = estimator.column_ids_ if side else gather_ids(estimator.row_ids_)
    name = name_sides(estimator.table_columns_)[side]
    return Ranking(take_ids(ids, found), scores, given, (name, f"similar_{name}", "similarity"))


def explain_cell(
    estimator: _CompletionState, row: Any, column: Any, k: int, time: Any = None
) -> Reasons:
    """See `MatrixCompletion.explain`."""
    i = find_index(estimator, "row", row, 0)
    j = find_index(estimator, "column", column, 1)
    for name, at in (("row", i), ("column", j)):
        if np.ndim(at):
            raise ValueError(f"{name}: explain takes one cell at a time; give one {name}, no list.")
    found = estimator.model_.explain(int(i), int(j), k, read_asked_time(time))
    return found._replace(columns=take_ids(estimator.column_ids_, found.columns))


def _answer_unknown(
    model: FittedModel,
    best: Best,
    at: NDArray[Any],
    unknown: str,
    allowed: NDArray[np.bool_] | None,
) -> Best:
    """The lists with those of unknown rows: the average row's, or none."""
    columns, scores = host(best.columns).copy(), host(best.scores).copy()
    columns[at < 0], scores[at < 0] = -1, -np.inf
    if unknown == "mean":
        average = model.rank_for_average(columns.shape[-1], allowed)
        columns[at < 0], scores[at < 0] = average
    return Best(columns, scores)


def _list_rows(estimator: _CompletionState) -> NDArray[Any]:
    """Ids of all rows, or their positions."""
    ids = gather_ids(estimator.row_ids_)
    return np.arange(estimator.model_.shape[0]) if ids is None else ids
