"""Tables in and out of MatrixCompletion: ids to positions, predictions in the caller's kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays import empty, host, on
from pygeco.column_names import match_columns
from pygeco.estimators._cluster import asked, spread_out
from pygeco.estimators._input import cell_index, check_columns, entries_from
from pygeco.factors import Array, LowRank
from pygeco.objectives.biases import Biases
from pygeco.objectives.entries import Entries
from pygeco.objectives.half_sweep import Side
from pygeco.objectives.observed import RepeatedCellError
from pygeco.tables import (
    Coded,
    Column,
    as_arrow,
    coded,
    column_at,
    is_partitioned,
    is_table,
    names_of,
    numbers,
    positions,
)

UNKNOWN = ("mean", "nan", "error")


class Taken(NamedTuple):
    """Cells of a table, and the ids of rows and columns; None for other kinds of X."""

    X: Any
    row_ids: NDArray[Any] | None = None
    column_ids: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None


class Cells(NamedTuple):
    """A table's cells as positions in a fitted matrix, −1 for an unknown id."""

    table: Any
    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    names: tuple[str, ...]

    def values(self, model: Any) -> Array:
        """The observed values beside the ids, as the loss wants them."""
        names = self.table.column_names
        usual = match_columns(names, ("user", "item", "rating"))
        name = model.table_columns_[2]
        if name not in names and usual is None:
            raise ValueError(f"X: expected a column {name!r} of values, as in the fit.")
        at = names.index(name) if name in names else cast(list[int], usual)[2]
        return model.loss_.targets(numbers(self.table.column(at), names[at]))


def taken(X: Any, columns: Sequence[Column] | None) -> Taken:
    """A table of ratings as (rows, cols, values, shape) with its ids; anything else as it is.

    A table is one of ratings if `columns` says so or its names do; a pandas table with other
    names is a matrix, with NaN for missing cells.
    """
    if not is_table(X):
        if columns is not None:
            raise ValueError(f"columns: only a table has columns, not a {type(X).__name__}.")
        return Taken(X)
    if not hasattr(X, "columns"):  # a stream, which can be read once
        X = as_arrow(X)
    at = _chosen(X, columns)
    if at is None:
        return Taken(X)
    table = as_arrow(X)
    names = tuple(table.column_names[k] for k in at)
    rows, cols = (coded(table.column(k), name) for k, name in zip(at[:2], names[:2], strict=True))
    values = numbers(table.column(at[2]), names[2])
    shape = (len(rows.ids), len(cols.ids))
    return Taken((rows.codes, cols.codes, values, shape), rows.ids, cols.ids, names)


def fitted_entries(
    model: Any, X: Any, columns: Sequence[Column] | None, **settings: Any
) -> Entries:
    """The cells to fit; the model keeps their ids, or that there are none."""
    if is_partitioned(X):
        return _spread_entries(model, X, columns, **settings)
    X, model.row_ids_, model.column_ids_, model.table_columns_ = taken(X, columns)
    try:
        return entries_from(model, X, reset=True, **settings)
    except RepeatedCellError as error:
        if model.row_ids_ is None:
            raise
        i, j = error.cell
        pair = model.row_ids_[[i]].tolist()[0], model.column_ids_[[j]].tolist()[0]
        raise RepeatedCellError(pair, error.repeats, "X: the pair") from None


def _spread_entries(
    model: Any,
    X: Any,
    columns: Sequence[Column] | None,
    *,
    loss: Any,
    duplicates: str,
    sample_weight: Any,
    engine: Any,
) -> Entries:
    """The cells of a Dask DataFrame or of files, read by the workers of a cluster."""
    from pygeco.engines.dask.cluster import current_client
    from pygeco.partitioned import Partitioned, read_partitioned

    if sample_weight is not None:
        raise ValueError("sample_weight: is not for parts on a cluster; leave it out.")
    found = X
    if not isinstance(X, Partitioned):
        found = read_partitioned(X, current_client(), columns=columns, duplicates=duplicates)
    model.row_ids_, model.column_ids_ = found.row_ids, found.column_ids
    model.table_columns_ = found.names
    check_columns(model, len(found.column_ids), reset=True)
    return Entries.from_slabs(found.slabs, loss=loss)


def _chosen(X: Any, columns: Sequence[Column] | None) -> list[int] | None:
    names = names_of(X)
    if columns is None:
        return match_columns(names, ("user", "item", "rating"))
    if isinstance(columns, str) or len(columns) != 3:
        raise ValueError(f"columns: expected three, for rows, columns and values, not {columns!r}.")
    return [column_at("columns", given, names) for given in columns]


def located(model: Any, X: Any) -> Cells:
    """The cells that a table asks for, its columns named as in the fit or as usual."""
    table = as_arrow(X)
    names = table.column_names
    at = pair_columns(model, names)
    sides = []
    for k, ids in zip(at, (model.row_ids_, model.column_ids_), strict=True):
        sides.append(_positions(coded(table.column(k), names[k]), ids, names[k]))
    return Cells(table, sides[0], sides[1], tuple(names[k] for k in at))


def pair_columns(model: Any, names: list[str]) -> list[int]:
    """The columns of rows and of columns: those named as in the fit, or as usual."""
    if all(name in names for name in model.table_columns_[:2]):
        return [names.index(name) for name in model.table_columns_[:2]]
    found = match_columns(names, ("user", "item"))
    if found is None:
        wanted = " and ".join(repr(name) for name in model.table_columns_[:2])
        raise ValueError(f"X: expected columns {wanted}, as in the fit, not {names}.")
    return found


def _positions(found: Coded, ids: NDArray[Any], name: str) -> NDArray[np.int64]:
    at = positions(ids, found.ids)
    if len(at) and np.all(at < 0):
        raise ValueError(
            f"column {name!r}: none of its ids, such as {found.ids[0]!r} ({found.ids.dtype}), was "
            f"fitted; the model knows ids such as {ids[0]!r} ({ids.dtype})."
        )
    return at[found.codes]


def index_of(model: Any, name: str, given: ArrayLike, side: int) -> NDArray[Any]:
    """Positions from ids where the model was fitted from a table, else from positions."""
    ids = (model.row_ids_, model.column_ids_)[side]
    if ids is None:
        return cell_index(name, given, model.factors_.shape[side])
    at = positions(ids, given)
    if np.any(at < 0):
        wrong = np.asarray(given, dtype=object)[at < 0].flat[0] if at.ndim else given
        raise ValueError(
            f"{name}: the id {wrong!r} was not fitted; the model knows {len(ids):,} ids such as "
            f"{ids[0]!r} and {ids[-1]!r}."
        )
    return at


def ids_at(ids: NDArray[Any] | None, at: NDArray[Any]) -> NDArray[Any]:
    """Ids of positions; the positions themselves where there are no ids."""
    if ids is None:
        return at
    nothing: dict[str, Any] = {"O": None, "M": np.datetime64("NaT"), "f": np.nan}
    found = ids[np.maximum(at, 0)]
    if np.any(at < 0):
        found[at < 0] = nothing.get(ids.dtype.kind, -1)
    return found


def linear_at(model: Any, rows: NDArray[Any], cols: NDArray[Any]) -> Array:
    """⟨u_i s, v_j⟩ + μ + b_i + c_j; at −1 stands the average row or column, for an unknown id."""
    if spread_out(model):
        return asked(model, linear_at, rows, cols)
    factors, biases = model.factors_, model.biases_
    if np.any(rows < 0) or np.any(cols < 0):
        U, V = (np.vstack([X, X.mean(axis=0, keepdims=True)]) for X in (factors.U, factors.V))
        row, col = (np.hstack([x, x.mean(keepdims=True)]) for x in (biases.row, biases.col))
        factors, biases = LowRank(U, factors.s, V), Biases(biases.mean, row, col)
    found = factors.entries(rows, cols) + biases.at(rows, cols)
    return found.astype(factors.U.dtype, copy=False)


def deviation_at(model: Any, rows: NDArray[Any], cols: NDArray[Any]) -> Array:
    """The standard deviation of a new observation; an unknown id has the spread of all."""
    if model.posterior_ is None:
        raise ValueError("return_std: needs a model fitted with penalty='evidence'.")
    if spread_out(model):
        return asked(model, deviation_at, rows, cols)
    like = model.factors_.kind
    i, j = np.broadcast_arrays(on(rows, like), on(cols, like))
    shape, i, j = i.shape, i.reshape(-1), j.reshape(-1)
    lost = (i < 0) | (j < 0) | (i == getattr(model, "_average_row", -1))  # of a slab's model
    out = empty(len(i), like)
    out[~lost] = (model.average_ or model.posterior_).variance(i[~lost], j[~lost])
    if lost.any():
        p = model.posterior_
        wide = replace(p, rows=_with_average(p.rows), cols=_with_average(p.cols))
        out[lost] = wide.variance(i[lost], j[lost])
    return np.sqrt(out).reshape(shape).astype(model.factors_.U.dtype)


def _with_average(side: Side) -> Side:
    """One more line at the end: the mean of all, with their spread and mean variance."""
    X, w = side.factor, side.variance
    b, bw = side.bias, side.bias_variance
    return Side(
        np.vstack([X, X.mean(axis=0, keepdims=True)]),
        np.hstack([b, b.mean(keepdims=True)]),
        np.vstack([w, (w.mean(axis=0) + X.var(axis=0))[None]]),
        np.hstack([bw, bw.mean(keepdims=True) + b.var()]),
    )


def predicted(model: Any, X: Any, return_std: bool, unknown: str) -> Any:
    """A table of ids with predictions, of the caller's kind; see `MatrixCompletion.predict`."""
    cells = located(model, X)
    lost = _lost(unknown, cells)
    columns = answers(model, cells.rows, cells.cols, return_std)
    if unknown == "nan":
        columns = {name: np.where(lost, np.nan, values) for name, values in columns.items()}
    return _answered(X, cells, columns)


def answers(model: Any, rows: NDArray[Any], cols: NDArray[Any], std: bool) -> dict[str, Array]:
    """The columns that a prediction adds to a table."""
    columns = {"prediction": host(model._response(linear_at(model, rows, cols)))}
    if std:
        columns["deviation"] = host(deviation_at(model, rows, cols))
    return columns


def _lost(unknown: str, cells: Cells) -> NDArray[np.bool_]:
    """Which cells have an unknown id; an error where that is asked for."""
    check_unknown(unknown)
    lost = (cells.rows < 0) | (cells.cols < 0)
    if unknown == "error" and lost.any():
        table = cells.table.select(list(cells.names))
        raise ValueError(unknown_id(table, cells.names, cells.rows, cells.cols))
    return lost


def check_unknown(unknown: str) -> None:
    if unknown not in UNKNOWN:
        raise ValueError(f"unknown: expected one of {UNKNOWN}, not {unknown!r}.")


def unknown_id(
    table: Any, names: Sequence[str], rows: NDArray[np.int64], cols: NDArray[np.int64]
) -> str:
    """A sentence about the first cell with an id that was not fitted."""
    lost = (rows < 0) | (cols < 0)
    at = int(np.argmax(lost))
    side = 0 if rows[at] < 0 else 1
    return (
        f"column {names[side]!r}: the id {table.column(side)[at].as_py()!r} was not fitted "
        f"({lost.sum():,} of {len(lost):,} cells have such ids); pass unknown='mean' or 'nan'."
    )


def _answered(X: Any, cells: Cells, columns: dict[str, Array]) -> Any:
    """The ids and what was found, as a table of the caller's kind."""
    library = type(X).__module__.split(".")[0]
    if library == "pandas":
        return X.loc[:, list(cells.names)].assign(**columns)
    table = cells.table.select(list(cells.names))
    for name, values in columns.items():
        table = table.append_column(name, [values])
    if library == "polars":
        import polars

        return polars.from_arrow(table)
    if library == "duckdb":
        import duckdb

        return duckdb.from_arrow(table)
    return table
