"""Marks for "no value" in every form in which cells arrive: left out if named, else refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pygeco.arrays.kinds import fill_masked, foreign
from pygeco.errors import ClicksWarning
from pygeco.errors.telling import warn_caller
from pygeco.estimators.cell_list import CellList
from pygeco.io.value_scale import (
    are_clicks,
    are_marks,
    refuse_marks,
    sample_values,
    tell_of_clicks,
)
from pygeco.losses import Poisson

# Values that mean "no value": "auto", none, one, or several.
MissingValues = str | float | list[float] | tuple[float, ...] | NDArray[Any] | None


def drop_marks(X: Any, weights: Any, marks: tuple[float, ...]) -> tuple[Any, Any]:
    """X without the cells whose value is a mark, and the weights of the cells that stay."""
    X = fill_masked(X)
    if not marks:
        return X, weights
    if isinstance(X, CellList):
        keep = ~are_marks(X.values, marks)
        return X[keep], _some(weights, keep)
    if isinstance(X, tuple):
        values = X[2] if foreign(X[2]) else np.asarray(X[2])
        keep = ~are_marks(values, marks)
        parts = [(part if foreign(part) else np.asarray(part))[keep] for part in X[:3]]
        return (*parts, *X[3:]), _some(weights, keep)
    if hasattr(X, "tocoo"):
        coo = X.tocoo()
        keep = ~are_marks(coo.data, marks)
        kept = (coo.data[keep], (coo.row[keep], coo.col[keep]))
        return type(coo)(kept, shape=coo.shape), weights  # a weight is of a row here
    table = X if foreign(X) else np.asarray(X)
    if table.dtype.kind not in "fiub":
        return X, weights
    table = table.astype(np.result_type(table.dtype, np.float32))
    table[are_marks(table, marks)] = np.nan
    return table, weights


def _some(weights: Any, keep: Any) -> Any:
    return None if weights is None else np.asarray(weights)[keep]


def check_scale(X: Any, missing_values: Any, loss: Any, *, ids: bool) -> None:
    """Refuse a mark that was not named, and clicks; of a matrix without ids, warn of clicks."""
    values = raw_values(X)
    if values is None:
        return
    some = sample_values(values)
    refuse_marks(some, missing_values, zeros_count=isinstance(loss, Poisson))
    sparse = isinstance(X, (tuple, CellList)) or hasattr(X, "tocoo")
    if sparse and are_clicks(some):
        if ids:
            raise ValueError(tell_of_clicks(float(some[0])))
        warn_caller(tell_of_clicks(float(some[0])), ClicksWarning)


def raw_values(X: Any) -> Any:
    """The values of the cells as they were given; None where they are not numbers at hand."""
    found: Any
    if isinstance(X, CellList):
        found = X.values
    elif isinstance(X, tuple):
        found = X[2] if len(X) > 2 else None
    elif sp.issparse(X):
        found = X.data if X.format in ("csr", "csc", "coo") else X.tocoo().data
    else:
        found = getattr(X, "data", None) if hasattr(X, "tocoo") else X
    if found is None or foreign(found):
        return found
    try:
        array = np.asarray(found)
    except ValueError:
        return None
    return array if array.dtype.kind in "fiub" else None
