"""Cells by row: those that a model was fitted to, and those that were held out of its fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.estimators._cluster import asked, spread_out
from pygeco.estimators._input import cells_from
from pygeco.estimators._tables import rated
from pygeco.io.model_file import record
from pygeco.io.tables import is_table

NO_WEIGHTS: Array = np.zeros(0)


@record
class Seen(NamedTuple):
    """Cells, row by row; columns ascend within a row."""

    pointers: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: Array
    weights: Array = NO_WEIGHTS  # empty where every cell counts once

    def rows(self) -> NDArray[np.int64]:
        """The row of each cell."""
        return np.repeat(np.arange(len(self.pointers) - 1), np.diff(host(self.pointers)))


def sort_cells(
    rows: NDArray[Any], cols: NDArray[Any], values: Array, shape: tuple[int, int]
) -> Seen:
    """Triplets as cells by row; of repeated ones all stay."""
    order = np.lexsort((cols, rows))
    counts = np.bincount(rows, minlength=shape[0])
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Seen(pointers, cols[order].astype(np.int32), values[order])


def given_cells(model: Any, X: Any) -> tuple[NDArray[Any], NDArray[Any], Array]:
    """Rows, columns and targets of cells in any form that `fit` takes, of ids that were fitted."""
    if model.row_ids_ is not None and is_table(X):
        cells = rated(model, X)
        known = (cells.rows >= 0) & (cells.cols >= 0)
        return cells.rows[known], cells.cols[known], cells.values[known]
    found = cells_from(X, loss=model.loss_, duplicates="last", allow_empty=True)
    if any(size > fitted for size, fitted in zip(found.shape, model.factors_.shape, strict=True)):
        raise ValueError(
            f"X: is {found.shape[0]} × {found.shape[1]}, larger than the fitted matrix, "
            f"{model.factors_.shape[0]} × {model.factors_.shape[1]}."
        )
    return found.rows(), found.by_row.indices, found.by_row.values


def cut_rows(cells: Seen | None, start: int, end: int) -> Seen | None:
    """The cells of some rows, and of one more row after them, which has none."""
    if cells is None:
        return None
    own = slice(int(cells.pointers[start]), int(cells.pointers[end]))
    pointers = cells.pointers[start : end + 1] - cells.pointers[start]
    return Seen(np.append(pointers, pointers[-1]), cells.indices[own], cells.values[own])


def was_fitted(model: Any, rows: NDArray[Any], cols: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each cell is one of the fit's; −1, an unknown id, is none. O(cells log |E|)."""
    if spread_out(model):
        return asked(model, was_fitted, rows, cols)
    seen: Seen = model.seen_
    width = model.factors_.shape[1] + 1
    known = seen.rows() * width + host(seen.indices)  # ascending
    wanted = np.where((rows < 0) | (cols < 0), -1, rows * np.int64(width) + cols)
    if not len(known):
        return np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.asarray(known[at] == wanted)


def count_contradictions(model: Any, rows: NDArray[Any], cols: NDArray[Any], values: Array) -> int:
    """How many cells have another value than the fit had there: more than none are other rows."""
    if spread_out(model):
        return 0
    fitted = was_fitted(model, rows, cols)
    if not fitted.any():
        return 0
    seen: Seen = model.seen_
    width = model.factors_.shape[1] + 1
    keys = seen.rows() * width + host(seen.indices)
    at = np.searchsorted(keys, rows[fitted] * np.int64(width) + cols[fitted])
    known = host(seen.values)
    return int(np.sum(known[at] != values[fitted].astype(known.dtype)))


def hide_cells(table: Array, rows: NDArray[Any], cells: Seen) -> None:
    """−∞ in line t of the table at the columns of the cells of rows[t]."""
    pointers, indices = cells.pointers, cells.indices
    counts = pointers[rows + 1] - pointers[rows]
    lines = np.repeat(np.arange(len(rows), like=rows), counts)
    starts = np.repeat(pointers[rows] - (np.cumsum(counts) - counts), counts)
    table[lines, indices[starts + np.arange(len(starts), like=rows)]] = -np.inf
