"""The three forms in which cells arrive, checked once and turned into one objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight, check_array, validate_data

from pygeco.arrays.checks import check_rank
from pygeco.arrays.kinds import as_array, as_index, fill_masked, foreign
from pygeco.estimators.cell_list import CellList
from pygeco.io.column_names import match_columns
from pygeco.io.tables import is_table, list_columns
from pygeco.objectives import Entries


def make_entries(estimator: Any, X: Any, *, reset: bool, **settings: Any) -> Entries:
    """Entries of a sparse matrix, a dense array with NaN, (rows, cols, values[, shape]), cells."""
    X = fill_masked(X.triplets if isinstance(X, CellList) else X)
    if not reset:
        refuse_ids(X)
    if isinstance(X, tuple):
        entries = _from_triplets(X, settings)
        check_columns(estimator, entries.shape[1], reset=reset)
        return entries
    if foreign(X) or (_sparse(X) and not sp.issparse(X)):
        return _from_device(estimator, X, reset, settings)
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=["coo", "csr", "csc"],
        accept_large_sparse=True,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False if sp.issparse(X) else "allow-nan",
    )
    weights = settings.pop("sample_weight", None)
    if weights is not None:
        settings["row_weight"] = _check_sample_weight(
            fill_masked(weights), checked, dtype=checked.dtype
        )
    if sp.issparse(checked):
        return Entries.from_sparse(checked, **settings)
    return Entries.from_dense(checked, **settings)


def read_entries(X: Any, **settings: Any) -> Entries:
    """The same where X need not have the columns of a fit."""
    X = fill_masked(X.triplets if isinstance(X, CellList) else X)
    if isinstance(X, tuple):
        return _from_triplets(X, settings)
    weights = settings.pop("sample_weight", None)
    if not (foreign(X) or _sparse(X)):
        X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    if weights is not None:
        settings["row_weight"] = as_array(weights).astype(float)
    return Entries.from_sparse(X, **settings) if _sparse(X) else Entries.from_dense(X, **settings)


def _from_device(estimator: Any, X: Any, reset: bool, settings: dict[str, Any]) -> Entries:
    """A device's own matrix, which scikit-learn's checks do not know."""
    settings["row_weight"] = settings.pop("sample_weight", None)
    entries = (
        Entries.from_sparse(X, **settings) if _sparse(X) else Entries.from_dense(X, **settings)
    )
    check_columns(estimator, entries.shape[1], reset=reset)
    return entries


def _sparse(X: Any) -> bool:
    return hasattr(X, "tocoo")


def allow_missing(tags: Tags) -> Tags:
    """The tags of a transformer that takes NaN and keeps the precision of X."""
    tags.input_tags.allow_nan = True
    tags.transformer_tags.preserves_dtype = ["float64", "float32"]
    return tags


def check_components(
    count: object, shape: tuple[int, int], *, least: int = 1, instead: str = ""
) -> None:
    """`n_components`, in scikit-learn's words."""
    sides = ("n_samples", "n_features")
    check_rank(count, shape, name="n_components", least=least, instead=instead, sides=sides)


def check_columns(estimator: Any, count: int, *, reset: bool) -> None:
    """Keep the number of columns, or compare it with that of the fit."""
    if reset:
        estimator.n_features_in_ = count
    elif count != estimator.n_features_in_:
        raise ValueError(
            f"X: has {count} columns, but {type(estimator).__name__} was fitted with "
            f"{estimator.n_features_in_}."
        )


def _from_triplets(X: tuple[Any, ...], settings: dict[str, Any]) -> Entries:
    if len(X) == 3:
        rows, cols, values = X
        return Entries(rows, cols, values, **settings)
    if len(X) == 4:
        rows, cols, values, shape = X
        return Entries(rows, cols, values, shape, **settings)
    raise ValueError(f"X: a tuple must be (rows, cols, values[, shape]), not {len(X)} items.")


def refuse_ids(X: Any) -> None:
    """An error where X is a table of ids, which a model fitted from a matrix does not know."""
    if is_table(X) and match_columns(list_columns(X), ("user", "item")) is not None:
        raise ValueError(
            "X: a table of ids is for a model fitted from a table; give (rows, cols, values), or "
            "rows and cols, as positions in the fitted matrix."
        )


def check_points(X: Any, count: int) -> Any:
    """Points, a row each, of as many coordinates as `transform` gives."""
    W = X if foreign(X) else check_array(fill_masked(X), dtype=[np.float64, np.float32])
    if W.ndim != 2 or W.shape[1] != count:
        raise ValueError(
            f"X: expected {count} coordinates a row, as transform gives them, not an array of "
            f"shape {W.shape}."
        )
    return W


def check_cell_index(name: str, given: ArrayLike, size: int) -> NDArray[Any]:
    """Row or column numbers, checked against the fitted matrix."""
    index = as_index(as_array(given))
    if index.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: expected integers, not {index.dtype}; the fit had no ids, so that rows and "
            "columns go by their positions."
        )
    if index.size and (index.min() < 0 or index.max() >= size):
        wrong = int(index[(index < 0) | (index >= size)].reshape(-1)[0])
        raise ValueError(f"{name}: index {wrong} is outside 0 … {size - 1}, the fitted matrix.")
    return index
