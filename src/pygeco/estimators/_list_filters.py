"""Which columns may be in lists: the same for all rows, or of each row its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set, ValuesView
from typing import TYPE_CHECKING, Any

import numpy as np

from pygeco.arrays.kinds import host
from pygeco.estimators._ids import find_index, find_row_ids
from pygeco.io.column_names import find_role, list_names
from pygeco.io.tables import as_arrow, encode_ids, is_table, list_columns
from pygeco.models.ranking import ListFilters
from pygeco.models.seen import Seen, sort_cells

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState


def choose_candidates(
    estimator: _CompletionState,
    items: Any,
    exclude: Any,
    *,
    exclude_seen: bool,
    may_be_none: bool = False,
) -> ListFilters:
    """What `items` and `exclude` leave, each an array of columns or columns by row.

    Nothing, only where it `may_be_none`.
    """
    items, exclude = _as_list(items), _as_list(exclude)
    allowed = np.ones(estimator.model_.shape[1], bool)
    hidden = only = None
    if is_by_row(items):
        only = _read_cells(estimator, "items", items)
    elif items is not None:
        allowed[:] = False
    if items is not None and only is None and np.size(items):
        allowed[host(find_index(estimator, "items", items, 1))] = True
    if is_by_row(exclude):
        hidden = _read_cells(estimator, "exclude", exclude)
    elif exclude is not None and np.size(exclude):
        allowed[host(find_index(estimator, "exclude", exclude, 1))] = False
    if not allowed.any() and not may_be_none:
        raise ValueError("items: none is left to recommend; give more of them, or exclude fewer.")
    every = None if allowed.all() else allowed
    return ListFilters(every, hidden, only, exclude_seen, exclude_seen)


def _as_list(given: Any) -> Any:
    """What NumPy takes for one object, though it holds several: a set, the keys of a dict, …"""
    return list(given) if isinstance(given, (Set, ValuesView, Iterator)) else given


def is_by_row(given: Any) -> bool:
    """Whether columns are given for each row: a dict, or a table of rows and columns."""
    if isinstance(given, Mapping):
        return True
    has_columns = hasattr(given, "columns") or hasattr(given, "column_names")  # unlike a Series
    return has_columns and is_table(given) and len(list_columns(given)) > 1


def _read_cells(estimator: _CompletionState, name: str, given: Any) -> Seen:
    """Columns by row as cells of the model."""
    rows, cols = _list_pairs(estimator, name, given)
    i = host(find_index(estimator, name, rows, 0)).astype(np.int64)
    j = host(find_index(estimator, name, cols, 1)).astype(np.int64)
    return sort_cells(i, j, np.zeros(len(i)), estimator.model_.shape)


def _list_pairs(estimator: _CompletionState, name: str, given: Any) -> tuple[Any, Any]:
    if not isinstance(given, Mapping):
        return _read_pairs(estimator, name, given)
    lists = {row: np.atleast_1d(np.asarray(_as_list(cols))) for row, cols in given.items()}
    lists = {row: cols for row, cols in lists.items() if cols.size}
    wrong = next((row for row, cols in lists.items() if cols.ndim > 1), None)
    if wrong is not None:
        raise ValueError(f"{name}: expected a list of columns for the row {wrong!r}.")
    if not lists:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    rows = np.repeat(np.array(list(lists)), [cols.size for cols in lists.values()])
    return rows, np.concatenate(list(lists.values()))


def _read_pairs(estimator: _CompletionState, name: str, given: Any) -> tuple[Any, Any]:
    """The ids of a table's rows and columns, which are named as in the fit or as usual."""
    if estimator.table_columns_ is None:
        raise ValueError(
            f"{name}: a table of ids needs a model fitted from a table; give a dict of positions."
        )
    names, own = list_columns(given), estimator.table_columns_[1]
    at = names.index(own) if own in names else find_role(names, "item")
    if at is None:
        raise ValueError(
            f"{name}: expected a column {own!r} of ids, as in the fit, not {list_names(names)}."
        )
    found = encode_ids(as_arrow(given).column(at), names[at])
    return find_row_ids(estimator, given), found.ids[found.codes]
