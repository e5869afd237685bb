"""The cells that MatrixCompletion is fitted to, with their times, from any form of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.kinds import host
from pygeco.bayes.periods import order_times
from pygeco.engines import has_cluster
from pygeco.errors import RepeatedCellError
from pygeco.estimators._dates import CellTimes, take_times
from pygeco.estimators._input import check_columns, make_entries
from pygeco.estimators._marks import check_scale, drop_marks
from pygeco.estimators._recognize import GivenCells, take_cells
from pygeco.estimators.cell_list import CellList
from pygeco.io.streamed import Streamed, read_streamed
from pygeco.io.tables import Column, is_in_files, is_partitioned
from pygeco.io.value_scale import parse_marks
from pygeco.losses import Loss
from pygeco.models.slab_arrays import is_in_slabs
from pygeco.objectives.entries.objective import Entries

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState


def make_fitted_entries(
    model: _CompletionState,
    X: object,
    columns: Sequence[Column] | str | None,
    *,
    y: ArrayLike | None = None,
    loss: Loss,
    sample_weight: ArrayLike | None = None,
    times: Any = False,
) -> tuple[Entries, CellTimes]:
    """The cells to fit, and their times; the model keeps their ids, or that there are none."""
    marks = model.missing_values
    if isinstance(X, Streamed) or is_read_here(X, model.engine):
        return _stream_entries(model, X, columns, loss, sample_weight), CellTimes()
    if is_partitioned(X):
        return _spread_entries(model, X, columns, loss, sample_weight), CellTimes()
    if isinstance(X, CellList):
        dates = X.times if times is None else take_times(times, len(X))
        got = GivenCells(X, X.row_ids, X.column_ids, X.names, sample_weight, dates, X.time_column)
    else:
        got = take_cells(X, y, columns, weights=sample_weight, missing_values=marks, times=times)
    cells = got.X.triplets if isinstance(got.X, CellList) else got.X
    if not isinstance(cells, tuple) and times is not None and times is not False:
        raise ValueError("times: go with a table or a tuple (rows, cols, values), not a matrix.")
    X, weights = drop_marks(got.X, got.weights, parse_marks(marks))
    check_scale(X, marks, loss, ids=got.row_ids is not None)
    model.row_ids_, model.column_ids_, model.table_columns_ = got[1:4]
    settings = {"duplicates": model.duplicates, "engine": model.engine}
    try:
        entries = make_entries(model, X, reset=True, loss=loss, sample_weight=weights, **settings)
    except RepeatedCellError as error:
        if model.row_ids_ is None or model.column_ids_ is None:
            raise
        i, j = error.cell
        pair = model.row_ids_[[i]].tolist()[0], model.column_ids_[[j]].tolist()[0]
        raise RepeatedCellError(pair, error.repeats, "X: the pair") from None
    if got.times is None or is_in_slabs(entries.kind):
        return entries, CellTimes()
    rows, cols = (np.asarray(host(x)) for x in cells[:2])
    return entries, CellTimes(order_times(entries, rows, cols, got.times), got.time_column)


def is_read_here(X: object, engine: object) -> bool:
    """Whether X is the address of files that this process reads: no cluster is asked or at hand."""
    return is_in_files(X) and (engine == "cpu" or (engine is None and not has_cluster()))


def _stream_entries(
    model: _CompletionState,
    X: Any,
    columns: Sequence[Column] | str | None,
    loss: Loss,
    sample_weight: ArrayLike | None,
) -> Entries:
    """The cells of Parquet files, read part by part."""
    if sample_weight is not None:
        raise ValueError("sample_weight: is not for files that are read in parts; leave it out.")
    found = X
    if not isinstance(X, Streamed):
        found = read_streamed(
            X,
            columns=columns,
            duplicates=model.duplicates,
            missing_values=model.missing_values,
        )
    model.row_ids_, model.column_ids_ = found.row_ids, found.column_ids
    model.table_columns_ = found.names
    check_columns(model, found.shape[1], reset=True)
    return Entries.from_orders(found.by_row, found.by_col, found.shape, loss=loss)


def _spread_entries(
    model: _CompletionState,
    X: object,
    columns: Sequence[Column] | str | None,
    loss: Loss,
    sample_weight: ArrayLike | None,
) -> Entries:
    """The cells of a Dask DataFrame or of files, read by the workers of a cluster."""
    from pygeco.engines.dask.cluster import current_client
    from pygeco.io.partitioned import Partitioned, read_partitioned

    if sample_weight is not None:
        raise ValueError("sample_weight: is not for parts on a cluster; leave it out.")
    found = (
        X
        if isinstance(X, Partitioned)
        else read_partitioned(
            X,
            current_client(),
            columns=columns,
            duplicates=model.duplicates,
            missing_values=model.missing_values,
        )
    )
    model.row_ids_, model.column_ids_ = found.row_ids, found.column_ids
    model.table_columns_ = found.names
    check_columns(model, len(found.column_ids), reset=True)
    return Entries.from_slabs(found.slabs, loss=loss)
