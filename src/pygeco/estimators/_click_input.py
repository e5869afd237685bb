"""Clicks in every form in which they arrive: pairs, counts, matrices, tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import distant, fill_masked, foreign
from pygeco.clicks.counts import weigh_counts
from pygeco.errors import ClicksWarning
from pygeco.errors.telling import warn_caller
from pygeco.estimators._input import make_entries
from pygeco.estimators._recognize import (
    GivenCells,
    as_pairs_table,
    refuse_unnamed_clicks,
    take_cells,
)
from pygeco.estimators._unnamed_numbers import are_ids
from pygeco.estimators.cell_list import CellList
from pygeco.io.column_names import COUNT_NAMES, find_role, plain_name
from pygeco.io.tables import Column, as_arrow, is_table, list_columns, refuse_partitioned
from pygeco.objectives import Entries

if TYPE_CHECKING:
    from pygeco.estimators.implicit import ImplicitCompletion

COUNT_KINDS = ("auto", "log", "plain", "ignore")
HEAVY_TAIL = 5.0  # a largest count of so many medians, and counts are taken by their logarithms


def take_clicks(X: Any, y: Any, columns: Sequence[Column] | str | None) -> GivenCells:
    """Clicks as (rows, cols, counts, shape) with their ids; a matrix as it is.

    A table needs two columns of ids. One of counts may stand beside them; ratings do not count.
    """
    refuse_partitioned(X, what="clicks")
    X, y = fill_masked((X, y))
    if isinstance(X, tuple) and len(X) == 2 and y is None:
        return GivenCells((*X, np.ones(len(X[0]), np.float32)))
    if isinstance(X, CellList):
        return GivenCells(X.triplets, X.row_ids, X.column_ids, X.names)
    if isinstance(X, tuple) or y is not None or hasattr(X, "tocoo") or foreign(X):
        return take_cells(X, y, columns)
    if columns is None and isinstance(X, (np.ndarray, list)):
        _refuse_pairs(X)
    if columns is None or (not isinstance(columns, str) and len(columns) == 2):
        table = as_pairs_table(X, None if columns is None else 1, columns)
        counts = None if table is None or columns is not None else _find_counts(table)
        if table is not None and counts is None:
            if columns is None:
                refuse_unnamed_clicks(table)
            return take_cells(table, _ones(table), columns)
        if counts is not None:
            return take_cells(table, None, counts)
    return take_cells(X, y, columns)


def take_held_clicks(estimator: ImplicitCompletion, X: Any, y: Any) -> Any:
    """Clicks of fitted rows, with their counts; a fold of the rows of a matrix is refused."""
    refuse_partitioned(X, what="clicks")
    if y is not None:
        if isinstance(X, tuple):
            return take_cells(X, y).X
        table = as_pairs_table(X, y, None)
        keep = np.flatnonzero(np.asarray(y) != 0)
        return X if table is None else as_arrow(table).take(keep)
    shape: tuple[Any, ...] = getattr(X, "shape", ())
    if hasattr(X, "iloc") and estimator.row_ids_ is None and shape == estimator.model_.shape:
        return np.asarray(X, dtype=float)
    if len(shape) == 2 and not is_table(X) and shape != estimator.model_.shape:
        raise ValueError(
            f"X: is {shape[0]:,} × {shape[1]:,}, but the fit had {estimator.model_.shape[0]:,} × "
            f"{estimator.model_.shape[1]:,}, and rows are taken for the fitted ones; give all, or "
            "judge new ones by evaluate(protocol='new-rows')."
        )
    return X


def make_click_entries(
    estimator: ImplicitCompletion, X: Any, y: Any, columns: Sequence[Column] | str | None
) -> Entries:
    """The clicks to fit, whose values are their counts; the estimator keeps their ids."""
    got = take_clicks(X, y, columns)
    estimator.row_ids_, estimator.column_ids_, estimator.table_columns_ = got[1:4]
    entries = read_click_entries(estimator, got.X, reset=True)
    if not entries.size:
        raise ValueError("X: has no click; at least one is needed.")
    return entries


def check_place_of_attributes(entries: Entries, known: tuple[Any, Any]) -> None:
    """An error where attributes are given for clicks on a cluster."""
    for name, given in zip(("row_attributes", "column_attributes"), known, strict=True):
        if given is not None and distant(entries.kind):
            raise ValueError(f"{name}: clicks on a cluster are fitted without; use engine='cpu'.")


def read_click_entries(estimator: Any, X: Any, *, reset: bool) -> Entries:
    """Clicks of a matrix or triplets; cells of zero are none, and repeated ones are summed."""
    X = fill_masked(X)
    if isinstance(X, np.ndarray) or (not isinstance(X, (tuple, CellList)) and hasattr(X, "iloc")):
        import scipy.sparse as sp

        dense = np.asarray(X, dtype=float)
        X = sp.coo_array(np.nan_to_num(dense, nan=0.0))
    X = X.triplets if isinstance(X, CellList) else X
    settings: dict[str, Any] = {"duplicates": "sum", "allow_empty": True}
    if reset:
        settings["engine"] = estimator.engine
    else:
        settings["engine"] = estimator.model_.engine
    entries = make_entries(estimator, X, reset=reset, **settings)
    values = entries.by_row.values
    if not bool(np.all(values >= 0)):
        raise ValueError("X: counts of clicks must be ≥ 0; leave out what is not a click.")
    if bool(np.any(values == 0)):
        entries = entries.subset(values > 0)
    return entries if entries.dtype == np.float32 else entries.standardize(0.0, 1.0, np.float32)


def settle_counts(entries: Entries, counts: str) -> str:
    """What counts are as weights, "log", "plain" or "ones": as asked, or as those of a fit look."""
    if counts not in COUNT_KINDS:
        raise ValueError(f"counts: unknown {counts!r}; use one of {', '.join(COUNT_KINDS)}.")
    values = entries.by_row.values
    if counts != "auto":
        return "ones" if counts == "ignore" else counts
    if not len(values) or float(values.min()) == float(values.max()):
        return "ones"
    most, middle = float(values.max()), float(np.median(values))
    if most < HEAVY_TAIL * middle:
        return "plain"
    warn_caller(
        f"X: counts go up to {most:g} where half are at most {middle:g}, so each "
        "weighs log₂(1 + count); pass counts='plain' to weigh by the counts themselves.",
        ClicksWarning,
    )
    return "log"


def weigh_later_counts(estimator: Any, entries: Entries) -> Entries:
    """Counts that come after the fit, weighed as those of the fit were.

    A model from a file of an earlier version does not know how, and looks at these counts alone.
    """
    rule = estimator.model_.count_rule or settle_counts(entries, estimator.counts)
    return weigh_counts(entries, rule)


def _refuse_pairs(given: NDArray[Any] | list[Any]) -> None:
    """An error where two columns could be the ids of clicks: the matrix would have two items."""
    try:
        X = np.asarray(given)
    except ValueError:  # lines of several lengths, of which others speak
        return
    if X.ndim == 2 and X.shape[1] == 2 and are_ids(X) and (X.dtype.kind in "OU" or X.max() > 1):
        raise ValueError(
            f"X: an array of {len(X):,} × 2 that looks like pairs (row, column), a click a line; "
            "pass columns=(0, 1) to take it as such, with ids, or columns='matrix' if it is the "
            "matrix of clicks."
        )


def _find_counts(table: Any) -> tuple[str, str, str] | None:
    """The columns of users, items and counts, where names say all three."""
    names = list_columns(table)
    at = [find_role(names, role) for role in ("user", "item")]
    if None in at:
        return None
    found = [k for k, name in enumerate(names) if k not in at and plain_name(name) in COUNT_NAMES]
    if not found:
        if find_role(names, "rating") is not None:
            warn_caller(
                f"X: the column {names[find_role(names, 'rating') or 0]!r} is not used: each pair "
                "is a click; MatrixCompletion fits ratings.",
                ClicksWarning,
            )
        return None
    return tuple(names[k] for k in (*at, found[0]))  # type: ignore[return-value,index]


def _ones(table: Any) -> NDArray[np.float32]:
    count = table.num_rows if hasattr(table, "num_rows") else len(table)
    return np.ones(count, np.float32)
