"""What is given to `fit`: a table of ratings, pairs with their values, or a matrix.

A table is never taken for a matrix in silence: where names and types do not settle it, it is
refused with the argument that would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import fill_masked
from pygeco.errors import ColumnWarning
from pygeco.errors.telling import warn_caller
from pygeco.estimators._dates import find_times, take_times
from pygeco.estimators._refused_forms import refuse_form, refuse_index, refuse_words
from pygeco.estimators._unnamed_numbers import (
    are_ids,
    is_whole,
    looks_like_pairs,
    looks_like_triples,
)
from pygeco.estimators._values import check_values, name_values, refuse_other_order
from pygeco.io.column_names import find_role, list_names, match_columns
from pygeco.io.tables import (
    Column,
    as_arrow,
    encode_ids,
    find_column,
    is_table,
    list_columns,
    pyarrow,
    take_numbers,
)
from pygeco.io.value_scale import are_marks, parse_marks

ROLES = ("user", "item", "rating")
MATRIX = "matrix"  # `columns` for a table or an array each of whose columns is a column of cells
PAIRS = (
    "X: {} that looks like pairs (row, column); pass y, their values, or fit clicks by "
    "ImplicitCompletion; columns='matrix' if it is the matrix to complete."
)
MAX_TABLE_COLUMNS = 12  # of a table whose names say nothing; a wider one is a matrix


class GivenCells(NamedTuple):
    """Cells of a table, the ids of rows and columns, and the weights; no ids for other kinds.

    `times` are those of the cells, and `time_column` is where a table has them, if anywhere.
    """

    X: Any
    row_ids: NDArray[Any] | None = None
    column_ids: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None
    weights: Any = None
    times: NDArray[np.float64] | None = None
    time_column: str | None = None


def take_cells(
    X: Any,
    y: Any = None,
    columns: Sequence[Column] | str | None = None,
    *,
    weights: Any = None,
    missing_values: Any = None,
    times: Any = False,
) -> GivenCells:
    """A table of ratings as (rows, cols, values, shape) with its ids; anything else as it is.

    A table is one of ratings if `columns` says so, or its names, or its types; `y` has the values
    of pairs. Cells whose value is among `missing_values` are left out of a table. `times` are those
    of the cells, or the name of the column that has them; None is the column whose name says so.
    """
    X, y, weights = fill_masked((X, y, weights))
    if isinstance(X, tuple):
        cells = _take_tuple(X, y, columns)
        return GivenCells(cells, weights=weights, times=take_times(times, len(cells[0])))
    odd = columns is not None and (
        isinstance(columns, (Mapping, Set)) or len(columns) not in (2, 3)
    )
    if odd and not isinstance(columns, str):
        raise ValueError(f"columns: expected three, for rows, columns and values, not {columns!r}.")
    if isinstance(columns, str):
        if columns != MATRIX:
            raise ValueError(
                f"columns: expected three (rows, columns, values) or 'matrix', not {columns!r}."
            )
        return GivenCells(X, weights=weights)
    table = as_pairs_table(X, y, columns)
    if table is None:
        return GivenCells(X, weights=weights)
    at = choose_table_columns(table, y is not None, columns)
    if at is None:
        return GivenCells(X, weights=weights)
    refuse_other_order(X, y=y, sample_weight=weights, times=times)
    return _take_table(as_arrow(table), at, y, weights, parse_marks(missing_values), times)


def _take_tuple(X: tuple[Any, ...], y: Any, columns: Any) -> tuple[Any, ...]:
    if columns is not None:
        raise ValueError("columns: only a table has columns, or an array, not a tuple.")
    if y is None:
        return X
    if len(X) != 2:
        raise ValueError("y: X has values already; leave y out, or pass X=(rows, cols).")
    return (*X, y)


def as_pairs_table(X: Any, y: Any, columns: Any) -> Any:
    """X as a table with names, or None where it can only be a matrix.

    An array is one if `columns` says so, or if it has two columns of ids and `y` has the values.
    """
    if is_table(X):
        if columns is None:
            refuse_index(X)
        return X if hasattr(X, "columns") else as_arrow(X)  # a stream can be read once
    refuse_form(X)
    if not isinstance(X, (np.ndarray, list)):
        if columns is not None:
            raise ValueError(
                f"columns: only a table has columns, or an array, not a {type(X).__name__}."
            )
        return None
    try:
        table = np.asarray(X)
    except ValueError:
        raise ValueError("X: a list must have lines of one length, a cell a line.") from None
    if table.ndim != 2:
        return None
    if columns is not None or (y is not None and table.shape[1] == 2 and are_ids(table)):
        return make_table(table)
    if y is None and table.shape[1] > 2:
        refuse_words(table)
    if table.dtype.kind in "iuf" and looks_like_triples(list(table.T)):
        raise ValueError(
            f"X: an array of {len(table):,} × {table.shape[1]} that looks like triples (row, "
            "column, value); pass columns=(0, 1, 2) to take it as such, with ids, or "
            "columns='matrix' if it is the matrix to complete."
        )
    if table.dtype.kind in "iuf" and y is None and looks_like_pairs(list(table.T)):
        raise ValueError(PAIRS.format(f"an array of {len(table):,} × 2"))
    if table.dtype.kind in "iuf" and looks_like_triples(list(table)):
        raise ValueError(
            f"X: {len(table)} lines of {table.shape[1]:,} numbers that look like rows, columns and "
            "values; pass a tuple of them, or columns='matrix' if it is the matrix to complete."
        )
    return None


def make_table(X: NDArray[Any]) -> Any:
    """The columns of an array under the names "0", "1", …; whole numbers as integers."""
    pa = pyarrow()
    found = {}
    for k in range(X.shape[1]):
        column = X[:, k]
        if column.dtype.kind == "f" and is_whole(column) and np.abs(column).max(initial=0) < 2**53:
            column = column.astype(np.int64)
        found[f"{k}"] = pa.array(column.tolist() if column.dtype.kind in "OU" else column)
    return pa.table(found)


def choose_table_columns(
    X: Any, with_values: bool, columns: Sequence[Column] | None
) -> list[int] | None:
    """The columns of rows, of columns and (unless they come apart) of values; None for a matrix."""
    names = list_columns(X)
    wanted = ROLES[:2] if with_values else ROLES
    if columns is not None:
        if len(columns) < len(wanted):
            raise ValueError(
                f"columns: expected three, for rows, columns and values, not {columns!r}."
            )
        found = [find_column("columns", given, names) for given in columns[: len(wanted)]]
        if len(set(found)) < len(found):
            raise ValueError(f"columns: expected {len(found)} different ones, not {columns!r}.")
        return found
    if (by_name := match_columns(names, wanted)) is not None:
        return by_name
    hits = {role: find_role(names, role) for role in ROLES}
    known = {role: at for role, at in hits.items() if at is not None}
    says = len(set(known.values())) >= 2
    is_matrix = len(names) > MAX_TABLE_COLUMNS and not says
    return None if is_matrix else _choose_by_types(X, names, wanted, known if says else {})


def _choose_by_types(
    X: Any, names: list[str], wanted: Sequence[str], known: dict[str, int]
) -> list[int] | None:
    table = as_arrow(X)
    kinds = [_kind(table.column(k), names[k]) for k in range(len(names))]
    at = {role: known[role] for role in wanted if role in known}
    free = [k for k in range(len(names)) if kinds[k] != "time" and k not in at.values()]
    missing = [role for role in wanted if role not in at]
    if (known or "text" in kinds or len(wanted) == 2) and len(free) == len(missing):
        found = at | dict(zip(missing, free, strict=True))
        if all(kinds[k] in _SUITS[role] for role, k in found.items()):
            places = [found[role] for role in wanted]
            if not all(names[k].isdecimal() for k in places):  # pandas' own names say nothing
                _say_columns([names[k] for k in places])
            return places
    if len(wanted) == 2 and not known and "text" not in kinds:
        return None  # features, and a target that completion does not use
    says = bool(known) or "text" in kinds
    if len(wanted) == 3 and (len(names) == 2 if says else looks_like_pairs(_take_plain(table))):
        raise ValueError(PAIRS.format("a table of two columns"))
    if says or _are_triples(table, len(names)):
        guess = at | dict(zip(missing, [*free, *range(len(names))], strict=False))
        shown = tuple(names[guess[role]] for role in wanted)
        raise ValueError(
            f"X: looks like a table of ratings, but its columns {list_names(names)} do not say "
            f"which are the users, the items and the values; pass columns={shown!r}, or what is "
            "right in that order, or columns='matrix' if every column is one of the matrix."
        )
    return None


_SUITS = {"user": ("text", "whole"), "item": ("text", "whole"), "rating": ("whole", "number")}


def _kind(column: Any, name: str) -> str:
    """What a column can be: "text", "whole" numbers, other "number"s, "time" or "other"."""
    t = pyarrow().types
    kind = column.type.value_type if t.is_dictionary(column.type) else column.type
    if t.is_temporal(kind) or find_role([name], "time") is not None:
        return "time"
    if t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
        return "text"
    if t.is_integer(kind):
        return "text" if t.is_dictionary(column.type) else "whole"
    return "number" if t.is_floating(kind) or t.is_decimal(kind) or t.is_boolean(kind) else "other"


def refuse_unnamed_clicks(table: Any) -> None:
    """Raise where three or more columns of numbers, whose names say nothing, look like clicks."""
    names = list_columns(table)
    if any(find_role(names, role) is not None for role in ROLES[:2]):
        return
    if 3 <= len(names) <= MAX_TABLE_COLUMNS and _are_triples(as_arrow(table), len(names)):
        shown = tuple(names[:3])
        raise ValueError(
            f"X: looks like a table of clicks, but its columns {list_names(names)} do not say "
            f"which are the users and the items; pass columns={shown[:2]!r}, or {shown!r} if the "
            "third has counts, or columns='matrix' if every column is one of the matrix."
        )


def _are_triples(table: Any, count: int) -> bool:
    plain = _take_plain(table)
    return len(plain) == count and looks_like_triples(plain)


def _take_plain(table: Any) -> list[NDArray[Any]]:
    """The columns of numbers, if all of them are."""
    t = pyarrow().types
    if not all(t.is_integer(c.type) or t.is_floating(c.type) for c in table.columns):
        return []
    return [c.to_numpy() for c in table.columns]


def _say_columns(names: Sequence[str]) -> None:
    roles = ("rows", "columns", "values")
    said = ", ".join(f"{name!r} for {role}" for role, name in zip(roles, names, strict=False))
    warn_caller(
        f"X: took {said}, by position and type; pass columns={tuple(names)!r} to say so.",
        ColumnWarning,
    )


def _take_table(
    table: Any, at: list[int], y: Any, weights: Any, marks: tuple[float, ...], times: Any
) -> GivenCells:
    names = [table.column_names[k] for k in at]
    dates, dated = find_times(table, at, times)
    if len(at) == 2:
        names.append(name_values(y))
        values = check_values(y, table.num_rows)
    else:
        values = take_numbers(table.column(at[2]), names[2])
    rest = None if weights is None else np.asarray(weights)
    if marks:
        keep = ~are_marks(values, marks)
        table, values = table.filter(keep), values[keep]
        rest = rest[keep] if rest is not None and rest.shape == keep.shape else rest
        dates = None if dates is None else dates[keep]
    rows, cols = (
        encode_ids(table.column(k), name) for k, name in zip(at[:2], names[:2], strict=True)
    )
    shape = (len(rows.ids), len(cols.ids))
    cells = rows.codes, cols.codes, values, shape
    return GivenCells(cells, rows.ids, cols.ids, tuple(names), rest, dates, dated)
