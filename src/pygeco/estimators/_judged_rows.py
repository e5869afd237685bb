"""Rows that a model was not fitted to, and columns beside held-out clicks, by their ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pygeco.estimators._ids import find_row_ids
from pygeco.estimators._judged_cells import Clicks
from pygeco.estimators._tables import find_cell_values, locate_cells
from pygeco.io.tables import find_positions, is_table


def number_new_rows(model: Any, given: Any, X: Any, threshold: float | None) -> tuple[Any, Clicks]:
    """Tables of what new rows are known by and of their held-out cells, rows numbered together."""
    if getattr(model, "row_ids_", None) is None:
        raise ValueError(
            "given: a table of ids needs a model fitted from a table; give a sparse matrix."
        )
    if not is_table(X):
        raise ValueError("X: expected a table, as given is one, so that rows have their ids.")
    known, asked = (find_row_ids(model, table) for table in (given, X))
    ids, row = np.unique(known, return_inverse=True)
    cells = locate_cells(model, given)
    has_column = cells.cols >= 0
    values = find_cell_values(model, cells)[has_column]
    at = row[has_column], cells.cols[has_column]
    matrix = sp.csr_array(sp.coo_array((values, at), (len(ids), model.model_.shape[1])))
    held = locate_cells(model, X)
    test = Clicks(find_positions(ids, asked), held.cols)
    if threshold is None:
        return matrix, test
    return matrix, test.take(find_cell_values(model, held) >= threshold)


def list_negatives(
    model: Any, negatives: Any, count: int, n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pointers and columns of the negatives of each held-out click; ids where the model has them.

    An id that was not fitted has no score, and is no negative.
    """
    if len(negatives) != count:
        raise ValueError(
            f"negatives: has {len(negatives):,} lists for {count:,} held-out clicks; give one each."
        )
    lists = [np.asarray(x).reshape(-1) for x in negatives]
    sizes = np.array([len(x) for x in lists], np.int64)
    ids = getattr(model, "column_ids_", None)
    flat = np.concatenate([x for x in lists if len(x)] or [np.zeros(0, np.int64)])
    others = flat.astype(np.int64) if ids is None else find_positions(ids, flat)
    if ids is None and len(others) and not (others.min() >= 0 and others.max() < n):
        raise ValueError(f"negatives: must be columns from 0 to {n - 1:,}.")
    if ids is not None and len(others) and not np.any(others >= 0):
        raise ValueError(
            f"negatives: none of its ids, such as {flat[0]!r}, was fitted; the model knows ids "
            f"such as {ids[0]!r}."
        )
    line = np.repeat(np.arange(count), sizes)[others >= 0]
    pointers = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=count))])
    return pointers.astype(np.int64), others[others >= 0]
