"""Tables in and out of MatrixCompletion: ids to positions, predictions in the caller's kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.estimators._dates import find_asked_times
from pygeco.estimators._ids import check_kind, check_unknown
from pygeco.estimators._input import check_cell_index, read_entries
from pygeco.estimators._recognize import make_table
from pygeco.estimators._values import check_values, refuse_other_order
from pygeco.estimators.cell_list import CellList
from pygeco.io.column_names import find_role, match_columns
from pygeco.io.protocols import ArrowColumn, ArrowTable, DataFrame
from pygeco.io.tables import (
    Coded,
    as_arrow,
    encode_ids,
    find_positions,
    is_table,
    refuse_partitioned,
    take_numbers,
)
from pygeco.io.value_scale import are_marks, parse_marks
from pygeco.models import FittedModel

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation
    from polars import DataFrame as PolarsFrame

    from pygeco.estimators._completion_state import _CompletionState
    from pygeco.estimators._ids import Ids

    # A table of the caller's kind; the columns themselves where an array was given.
    Answer = (
        ArrowTable | DataFrame | PolarsFrame | DuckDBPyRelation | Array | tuple[NDArray[Any], ...]
    )


class Cells(NamedTuple):
    """A table's cells as positions in a fitted matrix, −1 for an unknown id."""

    table: ArrowTable
    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    names: tuple[str, ...]
    times: Array | None = None


class Rated(NamedTuple):
    """Cells of a table as positions, −1 for an unknown id, and their targets for the loss."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    values: Array
    times: Array | None = None


def find_listed(model: _CompletionState, X: CellList) -> tuple[NDArray[Any], NDArray[Any]]:
    """The positions of listed cells in the fitted matrix, by their ids where they have some."""
    if X.row_ids is None or X.column_ids is None:
        return (
            check_cell_index("rows", X.rows, model.factors_.shape[0]),
            check_cell_index("cols", X.cols, model.factors_.shape[1]),
        )
    if model.row_ids_ is None or model.column_ids_ is None:
        raise ValueError("X: its cells have ids, but the model was not fitted from a table.")
    return (
        find_positions(model.row_ids_, X.row_ids)[X.rows],
        find_positions(model.column_ids_, X.column_ids)[X.cols],
    )


def locate_cells(model: _CompletionState, X: object) -> Cells:
    """The cells that a table asks for, its columns named as in the fit or as usual."""
    table = make_table(np.asarray(X)) if isinstance(X, (np.ndarray, list)) else as_arrow(X)
    names = table.column_names
    assert model.row_ids_ is not None
    assert model.column_ids_ is not None
    i, j = pair_columns(model, names)
    rows = _positions(encode_ids(table.column(i), names[i]), model.row_ids_, names[i])
    cols = _positions(encode_ids(table.column(j), names[j]), model.column_ids_, names[j])
    return Cells(table, rows, cols, (names[i], names[j]), find_asked_times(model, table))


def locate_ratings(model: _CompletionState, X: object, y: ArrayLike | None = None) -> Rated:
    """The cells of a list, or of a table with the values beside the ids or with those in `y`.

    What the fit took for missing is left out here too.
    """
    times: Array | None
    if isinstance(X, CellList):
        (rows, cols), raw, times = find_listed(model, X), X.values, X.times
    else:
        refuse_other_order(X, y=y)
        cells = locate_cells(model, X)
        rows, cols, times = cells.rows, cells.cols, cells.times
        raw = find_cell_values(model, cells) if y is None else check_values(y, len(rows))
    keep = ~are_marks(raw, parse_marks(model.missing_values))
    dates = None if times is None else times[keep]
    return Rated(rows[keep], cols[keep], model.loss_.targets(raw[keep]), dates)


def find_given_cells(model: _CompletionState, X: object) -> Rated:
    """Rows, columns and targets of cells in any form that `fit` takes, of ids that were fitted."""
    if model.row_ids_ is not None and is_table(X):
        cells = locate_ratings(model, X)
        known = (cells.rows >= 0) & (cells.cols >= 0)
        times = None if cells.times is None else cells.times[known]
        return Rated(cells.rows[known], cells.cols[known], cells.values[known], times)
    refuse_partitioned(X)
    if not model._needs_values and isinstance(X, tuple) and len(X) == 2:
        X = (*X, np.ones(len(X[0])))
    found = read_entries(X, loss=model.loss_, duplicates="last", allow_empty=True)
    if any(size > fitted for size, fitted in zip(found.shape, model.factors_.shape, strict=True)):
        raise ValueError(
            f"X: is {found.shape[0]} × {found.shape[1]}, larger than the fitted matrix, "
            f"{model.factors_.shape[0]} × {model.factors_.shape[1]}."
        )
    cols = found.by_row.indices.astype(np.int64)
    return Rated(found.rows().astype(np.int64), cols, found.by_row.values)


def find_cell_values(model: _CompletionState, cells: Cells) -> NDArray[Any]:
    """The values beside the ids, as they stand there; ones for clicks without counts."""
    if _lacks_values(model, cells):
        return np.ones(cells.table.num_rows)
    return take_numbers(*_value_column(model, cells))


def _lacks_values(model: _CompletionState, cells: Cells) -> bool:
    """Whether these are clicks without counts, for a model that needs none."""
    names = cells.table.column_names
    has_some = _columns_of_fit(model)[2] in names or find_role(names, "rating") is not None
    return not model._needs_values and not has_some


def _value_column(model: _CompletionState, cells: Cells) -> tuple[ArrowColumn, str]:
    """The column of values: named as in the fit, or as usual, or the only one that is left."""
    names = cells.table.column_names
    name = _columns_of_fit(model)[2]
    if name not in names:
        found = find_role(names, "rating")
        if found is None or names[found] in cells.names:
            raise ValueError(f"X: expected a column {name!r} of values, as in the fit.")
        name = names[found]
    return cells.table.column(names.index(name)), name


def _columns_of_fit(model: _CompletionState) -> tuple[str, ...]:
    assert model.table_columns_ is not None, "a model with ids was fitted from a table"
    return model.table_columns_


def pair_columns(model: _CompletionState, names: list[str]) -> list[int]:
    """The columns of rows and of columns: those named as in the fit, or as usual."""
    own = _columns_of_fit(model)[:2]
    if all(name in names for name in own):
        return [names.index(name) for name in own]
    found = match_columns(names, ("user", "item"))
    if found is None:
        wanted = " and ".join(repr(name) for name in own)
        raise ValueError(f"X: expected columns {wanted}, as in the fit, not {names}.")
    return found


def _positions(found: Coded, ids: Ids, name: str) -> NDArray[np.int64]:
    at = find_positions(ids, found.ids)
    check_kind(f"column {name!r}", ids, found.ids, at)
    return at[found.codes]


def predict_table(model: _CompletionState, X: object, return_std: bool, unknown: str) -> Answer:
    """A table of ids with predictions, of the caller's kind; see `MatrixCompletion.predict`."""
    cells = locate_cells(model, X)
    lost = _find_unknown(unknown, cells)
    columns = make_answers(model.model_, cells.rows, cells.cols, return_std, cells.times)
    if unknown == "nan":
        columns = {name: np.where(lost, np.nan, values) for name, values in columns.items()}
    marked: dict[str, NDArray[Any]] = {} if isinstance(X, (np.ndarray, list)) else {"known": ~lost}
    return _add_answers(X, cells, columns | marked)


def make_answers(
    model: FittedModel,
    rows: NDArray[Any],
    cols: NDArray[Any],
    std: bool,
    times: Array | None = None,
) -> dict[str, Array]:
    """The columns that a prediction adds to a table."""
    columns = {"prediction": host(model.predict(rows, cols, times))}
    if std:
        columns["deviation"] = host(model.deviation(rows, cols, times))
    return columns


def _find_unknown(unknown: str, cells: Cells) -> NDArray[np.bool_]:
    """Which cells have an unknown id; an error where that is asked for."""
    check_unknown(unknown)
    lost = (cells.rows < 0) | (cells.cols < 0)
    if unknown == "error" and lost.any():
        table = cells.table.select(list(cells.names))
        raise ValueError(describe_unknown_id(table, cells.names, cells.rows, cells.cols))
    return lost


def describe_unknown_id(
    table: ArrowTable, names: Sequence[str], rows: NDArray[np.int64], cols: NDArray[np.int64]
) -> str:
    """A sentence about the first cell with an id that was not fitted."""
    lost = (rows < 0) | (cols < 0)
    at = int(np.argmax(lost))
    side = 0 if rows[at] < 0 else 1
    return (
        f"column {names[side]!r}: the id {table.column(side)[at].as_py()!r} was not fitted "
        f"({lost.sum():,} of {len(lost):,} cells have such ids); pass unknown='mean' or 'nan'."
    )


def _add_answers(X: object, cells: Cells, columns: dict[str, NDArray[Any]]) -> Answer:
    """The ids and what was found, as a table of the caller's kind."""
    library = type(X).__module__.split(".")[0]
    if library in ("numpy", "builtins"):
        found = tuple(columns.values())
        return found if len(found) > 1 else found[0]
    if library == "pandas":
        frame = cast(DataFrame, X)
        return frame.loc[:, list(cells.names)].assign(**columns)
    table = cells.table.select(list(cells.names))
    for name, values in columns.items():
        table = table.append_column(name, [values])
    if library == "polars":
        import polars

        return polars.DataFrame(polars.from_arrow(table))
    if library == "duckdb":
        import duckdb

        return duckdb.from_arrow(table)
    return table
