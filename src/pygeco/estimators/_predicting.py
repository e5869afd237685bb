"""What a fitted MatrixCompletion says of cells: of positions, ids, tables and matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.kinds import answer, foreign, host, on
from pygeco.arrays.low_rank import Array
from pygeco.errors.telling import warn_caller
from pygeco.estimators._dates import read_asked_times
from pygeco.estimators._folding import complete_rows, know_rows
from pygeco.estimators._frames import predict_frame
from pygeco.estimators._ids import find_ids
from pygeco.estimators._input import make_entries
from pygeco.estimators._tables import find_listed, locate_cells, locate_ratings, predict_table
from pygeco.estimators.cell_list import CellList
from pygeco.io.tables import is_frame, is_table
from pygeco.models import FittedModel
from pygeco.models.hidden import predict_hidden
from pygeco.models.intervals import find_interval
from pygeco.objectives import Entries

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState


def predict_values(
    estimator: _CompletionState,
    rows: Any,
    cols: ArrayLike | None,
    return_std: bool,
    unknown: str,
    times: Any = None,
) -> Any:
    """See `MatrixCompletion.predict`."""
    model = estimator.model_
    if isinstance(rows, CellList):
        i, j = find_listed(estimator, rows)
        t = rows.times if times is None else read_asked_times(times, np.shape(i))
        values = model.predict(i, j, t)
        return (values, model.deviation(i, j, t)) if return_std else values
    if cols is None and times is not None:
        raise ValueError("times: go with rows and cols; a table has a column of times.")
    if cols is None and _is_table_of_ids(estimator, rows):
        return predict_table(estimator, rows, return_std, unknown)
    if cols is None and is_frame(rows):
        return predict_frame(estimator, rows, return_std, unknown)
    if cols is None:
        _refuse_lone_ids(estimator, rows)
        return complete_rows(estimator, rows, None, return_std=return_std)
    i = find_ids(estimator, "rows", rows, 0, unknown)
    j = find_ids(estimator, "cols", cols, 1, unknown)
    t = read_asked_times(times, _join_shapes(i, j))
    found = [model.predict(i, j, t)]
    if return_std:
        found.append(model.deviation(i, j, t))
    if unknown == "nan" and estimator.row_ids_ is not None:
        found = [np.where(on((i < 0) | (j < 0), x), np.nan, x) for x in found]
    values, *rest = (answer(x, rows, cols) for x in found)
    return (values, *rest) if rest else values


def predict_linear(estimator: _CompletionState, rows: Any, cols: ArrayLike | None) -> Array:
    """See `MatrixCompletion.decision_function`."""
    model = estimator.model_
    if isinstance(rows, CellList):
        return model.linear(*find_listed(estimator, rows), rows.times)
    if cols is None and _is_table_of_ids(estimator, rows):
        cells = locate_cells(estimator, rows)
        return model.linear(cells.rows, cells.cols, cells.times)
    if cols is None:
        _refuse_lone_ids(estimator, rows)
        asked = rows if isinstance(rows, tuple) else (rows,)
        return answer(model.complete_rows(estimator.transform(rows)), *asked)
    i = find_ids(estimator, "rows", rows, 0, "mean")
    j = find_ids(estimator, "cols", cols, 1, "mean")
    _join_shapes(i, j)
    return answer(model.linear(i, j), rows, cols)


def predict_probabilities(estimator: _CompletionState, rows: Any, cols: ArrayLike | None) -> Array:
    """See `MatrixCompletion.predict_proba`."""
    model = estimator.model_
    likelihood = model.likelihood
    if likelihood is None:
        return model.loss.probabilities(predict_linear(estimator, rows, cols))
    if cols is None and is_matrix(estimator, rows):
        asked = rows if isinstance(rows, tuple) else (rows,)
        z, variance = know_rows(estimator, rows)
        return answer(likelihood.find_probabilities(z, variance), *asked)
    i, j, _ = _find_cells(estimator, rows, cols, None)
    z = model.linear(i, j)
    found = likelihood.find_probabilities(z, model.spread(i, j).astype(z.dtype))
    return answer(found, rows, cols)


def predict_bounds(
    estimator: _CompletionState, rows: Any, cols: ArrayLike | None, coverage: float, times: Any
) -> tuple[Array, Array]:
    """See `MatrixCompletion.predict_interval`."""
    if cols is None and is_matrix(estimator, rows):
        raise ValueError("rows: intervals are of cells; give rows and cols, or a table of them.")
    i, j, t = _find_cells(estimator, rows, cols, times)
    low, high = find_interval(estimator.model_, i, j, coverage, t)
    return answer(low, rows, cols), answer(high, rows, cols)


def _find_cells(
    estimator: _CompletionState, rows: Any, cols: ArrayLike | None, times: Any
) -> tuple[Any, Any, Array | None]:
    """Positions of cells that are given in any form, and the times that they are asked for."""
    if isinstance(rows, CellList):
        at = find_listed(estimator, rows)
        return *at, rows.times if times is None else read_asked_times(times, np.shape(at[0]))
    if cols is None:
        cells = locate_cells(estimator, rows)
        return cells.rows, cells.cols, cells.times
    i = find_ids(estimator, "rows", rows, 0, "mean")
    j = find_ids(estimator, "cols", cols, 1, "mean")
    return i, j, read_asked_times(times, _join_shapes(i, j))


def _join_shapes(i: Any, j: Any) -> tuple[int, ...]:
    """The shape of what rows and columns say together."""
    try:
        return np.broadcast_shapes(np.shape(i), np.shape(j))
    except ValueError:
        raise ValueError(
            f"cols: arrays of shape {np.shape(j)} do not go with rows of shape {np.shape(i)}; give "
            "one of each for every cell, or one for all."
        ) from None


def _refuse_lone_ids(estimator: _CompletionState, X: Any) -> None:
    """An error where ids were fitted, and these are ids without columns, or pairs in no table."""
    if estimator.row_ids_ is None or hasattr(X, "tocoo") or foreign(X):
        return
    if isinstance(X, tuple):
        is_lone = len(X) < 3
    else:
        values = np.asarray(X)
        pairs = values.shape[1:] == (2,) and estimator.n_features_in_ != 2
        is_lone = values.ndim < 2 or values.dtype.kind == "U" or pairs
    if is_lone:
        raise ValueError(
            "rows: come without columns; give cols beside them, or a table with a column of each "
            f"(a matrix of new rows would have {estimator.n_features_in_:,} columns)."
        )


def is_matrix(estimator: _CompletionState, X: Any) -> bool:
    """Whether X is taken for rows to complete, rather than for cells of the fit."""
    return not (isinstance(X, CellList) or is_frame(X) or _is_table_of_ids(estimator, X))


def score_cells(estimator: _CompletionState, X: Any, y: Any) -> float:
    """See `MatrixCompletion.score`."""
    model = estimator.model_
    if _is_table_of_ids(estimator, X):
        cells = locate_ratings(estimator, X, y)
        return _score_at(model, (cells.rows, cells.cols), cells.values, cells.times)
    if isinstance(X, CellList) and X.row_ids is not None:
        at = find_listed(estimator, X)
        return _score_at(model, at, model.loss.targets(X.values), X.times)
    held = make_entries(estimator, X, reset=False, loss=model.loss, engine=model.engine)
    if not isinstance(X, (tuple, CellList)) and _has_other_rows(estimator, held):
        return model.score(*predict_hidden(model, held))
    if held.shape[0] != model.shape[0]:
        raise ValueError(
            f"X: has {held.shape[0]} rows, but the model was fitted with {model.shape[0]}; score "
            "compares cells of the fitted matrix."
        )
    z = model.linear(held.rows(), held.by_row.indices)
    variance = None
    if model.likelihood is not None:
        variance = model.spread(held.rows(), held.by_row.indices)
    return model.score(z, held.by_row.values, variance)


def _score_at(
    model: FittedModel, at: tuple[Any, Any], targets: Array, times: Array | None
) -> float:
    """The score of predictions at positions; targets are on the host."""
    z = host(model.linear(*at, times))
    variance = None if model.likelihood is None else host(model.spread(*at))
    return model.score(z, targets, variance)


def _is_table_of_ids(estimator: _CompletionState, X: Any) -> bool:
    """Whether X is a table of ids, which only a model fitted from a table understands; or an array
    of them, where the fit was to one.
    """
    if estimator.row_ids_ is None or not isinstance(X, (np.ndarray, list)):
        return estimator.row_ids_ is not None and is_table(X)
    fitted = estimator.table_columns_ or ()
    shape = np.shape(X) if all(f"{k}" in fitted for k in range(2)) else ()
    return len(shape) == 2 and shape[1] in (2, 3, 4)


def _has_other_rows(estimator: _CompletionState, held: Entries) -> bool:
    """Whether the rows of a matrix are not those of the fit."""
    model = estimator.model_
    if held.shape[0] != model.shape[0]:
        return True
    at = held.rows(), host(held.by_row.indices)
    count = model.count_contradictions(*at, host(held.by_row.values))
    if count:
        warn_caller(
            f"X: has other values than the fit at {count:,} cells, so its rows are taken for "
            "new ones; pass pygeco.cells(X) to compare it with the fitted rows.",
            UserWarning,
        )
    return count > 0
