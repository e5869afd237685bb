"""Cells as a sequence, so that scikit-learn can split cells where it would split rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.kinds import fill_masked
from pygeco.arrays.low_rank import Array
from pygeco.arrays.short_repr import show_fields
from pygeco.estimators._recognize import take_cells
from pygeco.io.tables import Column, is_table, refuse_partitioned


@dataclass(frozen=True, eq=False)
class CellList:
    """A list of the known cells of an m × n matrix. Made by `pygeco.cells`.

    `len`, `shape[0]` and indexing refer to cells; any part of the list still knows the shape of the
    whole matrix. `MatrixCompletion` can fit, predict and score it.

    Attributes
    ----------
    rows, cols : arrays of ints
        The positions of the cells.
    values : array
        The values of the cells.
    matrix_shape : tuple of two ints
        m and n.
    row_ids, column_ids : array or None
        The sorted ids, if the cells came from a table.
    names : tuple of str or None
        The names of that table's columns.
    times : array or None
        The time of each cell, if that table has a column of times.
    time_column : str or None
        The name of that column.
    shape : tuple of one int
        The number of cells, as scikit-learn expects it.
    """

    rows: NDArray[Any]
    cols: NDArray[Any]
    values: Array
    matrix_shape: tuple[int, int]
    row_ids: NDArray[Any] | None = None
    column_ids: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None  # of the columns of the table that it was made of
    times: NDArray[np.float64] | None = None
    time_column: str | None = None

    def __repr__(self) -> str:
        return show_fields(self)

    @property
    def shape(self) -> tuple[int]:
        return (len(self.values),)

    @property
    def triplets(self) -> tuple[NDArray[Any], NDArray[Any], Array, tuple[int, int]]:
        """(rows, cols, values, shape), as `fit` and `Entries` take them."""
        return self.rows, self.cols, self.values, self.matrix_shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key: Any) -> CellList:
        key = key[0] if isinstance(key, tuple) else key  # scikit-learn writes X[key, ...]
        parts = (np.atleast_1d(x[key]) for x in (self.rows, self.cols, self.values))
        rows, cols, values = parts
        times = None if self.times is None else np.atleast_1d(self.times[key])
        return replace(self, rows=rows, cols=cols, values=values, times=times)


def cells(
    X: Any,
    y: ArrayLike | None = None,
    shape: tuple[int, int] | None = None,
    *,
    columns: Sequence[Column] | str | None = None,
) -> CellList:
    """List the known cells of X in row order (as given, for tables, triplets and pairs).

    Parameters
    ----------
    X : sparse matrix, array, tuple, pairs or table
        A scipy sparse matrix (its stored cells, repeats included), a dense array with NaN or a
        mask, a tuple (rows, cols, values[, shape]), pairs (k, 2) of row and column numbers with
        the values in `y`, or a table of ratings, whose ids are kept.
    y : array or None, default=None
        The values, if X has pairs.
    shape : tuple of two ints or None, default=None
        The shape of the matrix, if X has pairs; by default the smallest that fits.
    columns : sequence, "matrix" or None, default=None
        As for `MatrixCompletion.fit`.

    Returns
    -------
    CellList

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from pygeco import CellKFold, MatrixCompletion, cells
    >>> X = np.outer(np.arange(1.0, 7.0), np.arange(1.0, 6.0))
    >>> model = MatrixCompletion(penalty=None, random_state=0)
    >>> search = GridSearchCV(model, {"rank": [1, 2]}, cv=CellKFold(3)).fit(cells(X))
    >>> list(search.best_params_), search.n_splits_
    (['rank'], 3)
    """
    refuse_partitioned(X)
    X, y = fill_masked((X, y))
    if is_table(X) or columns is not None:
        got = take_cells(X, y, columns, times=None)
        if got.row_ids is not None:
            rows, cols, values, size = got.X
            ids = got.row_ids, got.column_ids
            return CellList(rows, cols, values, size, *ids, got.names, got.times, got.time_column)
    elif y is not None:
        pairs = np.asarray(X)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise ValueError(
                f"X: with y, expected pairs of integers, shape (k, 2), not {pairs.dtype} of shape "
                f"{pairs.shape}."
            )
        given = pairs[:, 0], pairs[:, 1], y, *([] if shape is None else [shape])
        return _from_triplets(given)
    if shape is not None:
        raise ValueError("shape: goes with pairs and y; X has one of its own.")
    if isinstance(X, tuple):
        return _from_triplets(X)
    if hasattr(X, "tocsr"):
        coo = X.tocoo()
        # A cell that is stored twice stays two, for `duplicates` of the fit to decide.
        order = np.argsort(coo.row.astype(np.int64) * coo.shape[1] + coo.col, kind="stable")
        return CellList(coo.row[order], coo.col[order], coo.data[order], coo.shape)
    if columns is None:
        take_cells(X)  # an array of triples is refused
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise ValueError(f"X: expected a matrix of real numbers, not {table.dtype} {table.shape}.")
    rows, cols = np.nonzero(~np.isnan(table.astype(float, copy=False)))
    return CellList(rows, cols, table[rows, cols], table.shape)


def _from_triplets(given: tuple[Any, ...]) -> CellList:
    if len(given) not in (3, 4):
        raise ValueError(f"X: a tuple must be (rows, cols, values[, shape]), not {len(given)}.")
    rows, cols, values = (np.asarray(x) for x in given[:3])
    if not rows.shape == cols.shape == values.shape == (len(values),):
        raise ValueError(
            f"X: rows, cols and values must be of one length, not of shapes {rows.shape}, "
            f"{cols.shape} and {values.shape}."
        )
    size = (int(rows.max(initial=-1)) + 1, int(cols.max(initial=-1)) + 1)
    return CellList(rows, cols, values, given[3] if len(given) == 4 else size)
