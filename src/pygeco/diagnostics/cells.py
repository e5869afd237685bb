"""Cells of a fitted matrix: those that it was fitted to, or others."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.kinds import host, on
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.diagnostics.completion import Completion
from pygeco.io.tables import is_table
from pygeco.objectives import Entries

MAX_CELLS = 1_000_000  # cells looked at: beyond these, a random million says the same


class Cells(NamedTuple):
    """Cells of the fitted matrix with their targets, as the loss wants them.

    Attributes
    ----------
    rows, cols : int arrays
        The positions of the cells.
    targets : array
        The values of the cells.
    total : int
        The number of cells before a sample was taken.
    held_out : bool
        Whether they were not fitted.
    times : array or None
        The times of the cells, if the model uses times.
    """

    rows: NDArray[Any]
    cols: NDArray[Any]
    targets: Array
    total: int  # before a sample was taken
    held_out: bool
    times: Array | None = None


def find_cells(model: Completion, data: object = None, most: int = MAX_CELLS) -> Cells:
    """Take the cells of `data`, or those that the model was fitted to.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.
    data : cells as fit takes them, Cells or None, default=None
        Of a table, the cells whose ids the model knows; None is the fitted cells.
    most : int, default=1_000_000
        If there are more cells, a random sample of this size is used.

    Returns
    -------
    Cells
    """
    if data is None:
        rows, cols, targets = _list_fitted(model)
        times = model.seen_.times if len(model.seen_.times) else None
        return _sample(Cells(rows, cols, targets, len(targets), False, times), most)
    if isinstance(data, Cells):
        return data
    if is_table(data) and model.row_ids_ is not None:
        rows, cols, targets, times = model.known_cells(data)
        if not len(targets):
            raise ValueError("held_out: none of its cells has a row and a column that were fitted.")
        return _sample(Cells(rows, cols, targets, len(targets), True, times), most)
    if isinstance(data, tuple):
        rows, cols, values = (np.asarray(part) for part in data[:3])
    else:
        dense = cast(ArrayLike, data)
        entries = Entries.from_sparse(data) if sp.issparse(data) else Entries.from_dense(dense)
        rows = np.repeat(np.arange(entries.shape[0]), entries.by_row.counts())
        cols, values = entries.by_row.indices, entries.by_row.values
    if not len(values):
        raise ValueError("held_out: holds no cells; give at least one.")
    for name, index, size in zip(
        ("row", "column"), (rows, cols), model.factors_.shape, strict=True
    ):
        if index.min() < 0 or index.max() >= size:
            wrong = index[(index < 0) | (index >= size)][0]
            raise ValueError(
                f"held_out: {name} {wrong} is outside 0 … {size - 1}, the fitted matrix."
            )
    targets = model.loss_.targets(values)
    return _sample(Cells(rows, cols, targets, len(targets), True), most)


def find_held_out_cells(model: Completion, data: object = None) -> Cells | None:
    """Take the cells of `data`, or those that the model keeps as held out of its fit.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.
    data : cells as fit takes them, or None, default=None

    Returns
    -------
    Cells or None
        None where there are none.
    """
    if data is not None:
        return find_cells(model, data)
    kept = model.held_out_
    if kept is None or not len(kept.values):
        return None
    times = kept.times if len(kept.times) else None
    cells = Cells(kept.rows(), host(kept.indices), host(kept.values), len(kept.values), True, times)
    return _sample(cells, MAX_CELLS)


def find_unseen_cells(model: Completion, data: object) -> Cells:
    """Take the cells of `data` that the model was not fitted to. O(cells log |E|).

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.
    data : cells as fit takes them

    Returns
    -------
    Cells
        None of them may be left.
    """
    cells = find_cells(model, data, most=2**62)
    new = ~model.was_fitted(cells.rows, cells.cols)
    return _sample(_take(cells, new)._replace(total=int(new.sum()), held_out=True), MAX_CELLS)


def bring_to_host(A: LowRank) -> LowRank:
    """Bring the factors of a matrix to the host.

    Parameters
    ----------
    A : LowRank

    Returns
    -------
    LowRank
        The same matrix.
    """
    return LowRank(host(A.U), A.s, host(A.V))


def count_by_column(model: Completion) -> NDArray[np.int64]:
    """Count the fitted cells of each column.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.

    Returns
    -------
    int array (n,)
    """
    return np.bincount(host(model.seen_.indices), minlength=model.factors_.shape[1])


def predict_linear(model: Completion, cells: Cells, A: LowRank) -> Array:
    return host(add_offsets(model, cells) + A.entries(cells.rows, cells.cols))


def add_offsets(model: Completion, cells: Cells) -> Array:
    """μ + b_i + c_j at cells, and what time adds."""
    found = model.biases_.at(cells.rows, cells.cols)
    if cells.times is None:
        return found
    return found + on(model.model_.move_in_time(cells.rows, cells.cols, cells.times), found)


def _list_fitted(model: Completion) -> tuple[NDArray[Any], NDArray[Any], Array]:
    """Rows, columns and targets of the fitted cells, row by row."""
    pointers = host(model.seen_.pointers)
    rows = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    return rows, host(model.seen_.indices), host(model.seen_.values)


def _sample(cells: Cells, most: int) -> Cells:
    if len(cells.targets) <= most:
        return cells
    chosen = np.sort(stream(Purpose.SAMPLE).choice(len(cells.targets), most, replace=False))
    return _take(cells, chosen)


def _take(cells: Cells, some: NDArray[Any]) -> Cells:
    return cells._replace(
        rows=cells.rows[some],
        cols=cells.cols[some],
        targets=cells.targets[some],
        times=None if cells.times is None else cells.times[some],
    )
