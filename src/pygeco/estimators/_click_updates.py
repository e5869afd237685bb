"""New rows and new clicks for a fitted model of clicks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pygeco.arrays.kinds import as_array
from pygeco.estimators._click_input import (
    read_click_entries,
    take_clicks,
    weigh_later_counts,
)
from pygeco.estimators._updating import Ids, place_ids, take_model
from pygeco.estimators.cell_list import CellList
from pygeco.objectives import Entries

if TYPE_CHECKING:
    from pygeco.estimators.implicit import ImplicitCompletion


def read_new_rows(estimator: Any, X: Any) -> Entries:
    """Clicks of new rows, (k, n), on the columns of the fit."""
    if isinstance(X, tuple) and len(X) == 2:
        X = (*X, np.ones(len(X[0]), np.float32))
    if isinstance(X, tuple) and len(X) == 3:
        X = (*X, (int(np.max(X[0], initial=-1)) + 1, estimator.n_features_in_))
    return weigh_later_counts(estimator, read_click_entries(estimator, X, reset=False))


def read_new_columns(estimator: Any, X: Any) -> Entries:
    """Clicks on new columns, (m, k), of the rows of the fit."""
    if isinstance(X, tuple) and len(X) == 2:
        X = (*X, np.ones(len(X[0]), np.float32))
    if isinstance(X, tuple) and len(X) == 3:
        X = (*X, (estimator.model_.shape[0], int(np.max(X[1], initial=-1)) + 1))
    return weigh_later_counts(estimator, _read_positions(X))


def take_in_clicks(estimator: ImplicitCompletion, X: Any, y: Any) -> None:
    """See `ImplicitCompletion.partial_fit`."""
    before = estimator.model_
    before.check_updatable()
    got = take_clicks(X, y, None)
    if (got.row_ids is None) != (estimator.row_ids_ is None):
        has = "has" if estimator.row_ids_ is not None else "was fitted without"
        raise ValueError(f"X: the model {has} ids; pass clicks in the form of the fit.")
    if got.row_ids is None or got.column_ids is None:
        new = _read_new_clicks(estimator, got.X)
        shape = tuple(max(pair) for pair in zip(before.shape, new.shape, strict=True))
        places = tuple(np.arange(size) for size in before.shape)
        after = before.update(new.within((shape[0], shape[1])), (places[0], places[1]))
        ids: Ids = (None, None)
    else:
        index, spots, ids = place_ids(estimator, got)
        new = _read_new_clicks(estimator, (*index, got.X[2], (len(ids[0]), len(ids[1]))))
        after = before.update(new, spots)
    take_model(estimator, after, ids)


def _read_new_clicks(estimator: Any, X: Any) -> Entries:
    """Counts, which the model adds to its own; weights where an early file does not know a rule."""
    new = _read_positions(X)
    return new if estimator.model_.count_rule else weigh_later_counts(estimator, new)


class _NoFit:
    """Stands for an estimator where columns are not held against those of a fit."""

    engine = None


def _read_positions(X: Any) -> Entries:
    """Clicks by position, in a tuple, a list of cells or a matrix."""
    if not isinstance(X, (tuple, CellList)):
        import scipy.sparse as sp

        coo = sp.coo_array(X if hasattr(X, "tocoo") else np.nan_to_num(as_array(X).astype(float)))
        X = (*coo.coords, coo.data, coo.shape)
    return read_click_entries(_NoFit(), X, reset=True)
