"""A fitted model that learns more: new cells, without another fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.low_rank import Array
from pygeco.bayes.periods import order_times
from pygeco.estimators._dates import take_times
from pygeco.estimators._ids import name_sides
from pygeco.estimators._input import read_entries, refuse_ids
from pygeco.estimators._marks import drop_marks
from pygeco.estimators._recognize import GivenCells, take_cells
from pygeco.estimators.cell_list import CellList
from pygeco.io.exact_ids import unite_ids
from pygeco.io.tables import find_positions, is_table, list_columns
from pygeco.io.value_scale import parse_marks
from pygeco.models import FittedModel
from pygeco.models.seen import Positions
from pygeco.objectives import Entries

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState

Ids = tuple[NDArray[Any] | None, NDArray[Any] | None]  # of rows and columns, if they have some


class Arrived(NamedTuple):
    """New cells in the larger matrix, where its old rows and columns are there, and all ids.

    `times` are those of the cells, row by row, where they have some.
    """

    new: Entries
    places: tuple[Positions, Positions]
    ids: Ids
    times: Array | None = None


class CellPlaces(NamedTuple):
    """Places of new cells and of the old rows and columns among all ids, and these, sorted."""

    cells: tuple[Positions, Positions]
    places: tuple[Positions, Positions]
    ids: tuple[NDArray[Any], NDArray[Any]]


def take_in_cells(
    estimator: _CompletionState,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    times: Any = None,
) -> None:
    """See `MatrixCompletion.partial_fit`."""
    before = estimator.model_
    before.check_updatable()
    times = False if before.drift is None else times
    new, places, ids, dates = _arrange(estimator, X, y, sample_weight, times)
    after = before.update(new, places, dates)
    if after is not before:
        take_model(estimator, after, ids)


def take_model(estimator: _CompletionState, model: FittedModel, ids: Ids) -> None:
    """A model of more cells becomes the estimator's, and names of fewer columns are forgotten."""
    estimator.model_ = model
    estimator.row_ids_, estimator.column_ids_ = ids
    if model.shape[1] != estimator.n_features_in_:
        estimator.n_features_in_ = model.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)


def _arrange(
    estimator: _CompletionState, X: Any, y: Any, sample_weight: ArrayLike | None, times: Any
) -> Arrived:
    settings: dict[str, Any] = {
        "loss": estimator.loss_,
        "duplicates": estimator.duplicates,
        "allow_empty": True,
        "sample_weight": sample_weight,
    }
    marks = parse_marks(estimator.missing_values)
    if estimator.row_ids_ is None:
        refuse_ids(X)
        kept, settings["sample_weight"] = drop_marks(X, sample_weight, marks)
        return _arrange_positions(estimator, X, read_entries(kept, **settings), times)
    names: Any = estimator.table_columns_
    if not is_table(X):
        raise ValueError(f"X: the model knows ids; pass a table with columns {names}.")
    told = names[:2] if y is not None else names
    told = told if all(name in list_columns(X) for name in told) else None
    got = take_cells(X, y, told, weights=sample_weight, missing_values=marks, times=times)
    if got.row_ids is None or got.column_ids is None:
        raise ValueError(f"X: expected a table with columns {names}, as in the fit.")
    settings["sample_weight"] = got.weights
    index, places, ids = place_ids(estimator, got)
    new = Entries(*index, got.X[2], (len(ids[0]), len(ids[1])), **settings)
    dates = None if got.times is None else order_times(new, *index, got.times)
    return Arrived(new, places, ids, dates)


def place_ids(estimator: Any, got: GivenCells) -> CellPlaces:
    """Cells of a table among the ids of the fit and their own."""
    sides = []
    names = got.names or name_sides(estimator.table_columns_)
    known = estimator.row_ids_, estimator.column_ids_
    for codes, own, fresh, name in zip(
        got.X[:2], known, (got.row_ids, got.column_ids), names[:2], strict=True
    ):
        assert fresh is not None
        assert isinstance(own, np.ndarray), "a model whose rows are on a cluster takes no cells"
        union = unite_ids(own, fresh, f"X: column {name!r}")
        sides.append((find_positions(union, fresh)[codes], find_positions(union, own), union))
    (i, row_places, rows), (j, column_places, columns) = sides
    return CellPlaces((i, j), (row_places, column_places), (rows, columns))


def _arrange_positions(estimator: _CompletionState, X: Any, new: Entries, times: Any) -> Arrived:
    """`new` are the cells of X but for those that are marked as missing; times are of all of X."""
    old = estimator.model_.shape
    if not isinstance(X, (tuple, CellList)) and new.shape[1] < old[1]:
        raise ValueError(  # in scikit-learn's words
            f"X has {new.shape[1]} features, but {type(estimator).__name__} is expecting {old[1]} "
            "features as input, or more; pass (rows, cols, values) for a few cells."
        )
    m, n = (max(pair) for pair in zip(old, new.shape, strict=True))
    whole, places = new.within((m, n)), (np.arange(old[0]), np.arange(old[1]))
    if times is None or times is False:
        return Arrived(whole, places, (None, None))
    cells = X.triplets if isinstance(X, CellList) else X
    if not isinstance(cells, tuple):
        raise ValueError("times: go with a table or a tuple (rows, cols, values), not a matrix.")
    given = take_times(times, len(cells[2]))
    assert given is not None
    dates = order_times(whole, np.asarray(cells[0]), np.asarray(cells[1]), given)
    return Arrived(whole, places, (None, None), dates)
