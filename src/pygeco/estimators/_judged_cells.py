"""What is judged by its lists, and by which cells: anything that scores, clicks in any form.

New rows, and columns beside held-out clicks, are found by their ids.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.kinds import as_array, host
from pygeco.arrays.low_rank import LowRank
from pygeco.diagnostics.judging import to_data_scale
from pygeco.errors.visible_text import quote_id
from pygeco.estimators._ids import find_row_ids
from pygeco.estimators._tables import find_cell_values, find_listed, locate_cells, locate_ratings
from pygeco.estimators.cell_list import CellList
from pygeco.io.column_names import find_role
from pygeco.io.tables import find_positions, is_frame, is_table, list_columns, refuse_partitioned
from pygeco.models.completion import CompletionModel
from pygeco.models.scoring import FactorScorer, Scorer, as_scores
from pygeco.models.seen import Seen, sort_cells


class Clicks(NamedTuple):
    """Cells as positions, −1 for an unknown id, in the order in which they were given."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]

    def take(self, keep: NDArray[np.bool_]) -> Clicks:
        return Clicks(self.rows[keep], self.cols[keep])

    def sort(self, shape: tuple[int, int]) -> Seen:
        """By row, each cell once, without those of an unknown id."""
        known = (self.rows >= 0) & (self.cols >= 0)
        key = np.unique(self.rows[known] * shape[1] + self.cols[known])
        rows, cols = np.divmod(key, shape[1])
        return sort_cells(rows, cols, np.ones(len(key), np.float32), shape)


def find_scorer(model: Any) -> Scorer:
    """What gives the scores of a model, a pair of factors or a rival."""
    if isinstance(model, Scorer):
        return model
    if isinstance(model, LowRank):
        model = model.astype(np.float32) if model.U.dtype == np.float16 else model
        return FactorScorer(as_scores(model.left), as_scores(model.V))
    if isinstance(model, (tuple, list)) and len(model) == 2:
        left, right = (as_scores(np.asarray(x)) for x in model)
        if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
            raise ValueError(
                f"model: expected factors (m, r) and (n, r), not {left.shape} and {right.shape}."
            )
        return FactorScorer(left, right)
    if not hasattr(model, "fit"):
        raise ValueError(
            f"model: expected a fitted estimator, factors (U, V) or an object with shape and "
            f"score_rows(rows), not a {type(model).__name__}."
        )
    check_is_fitted(model)
    fitted = getattr(model, "model_", None)
    if not isinstance(fitted, CompletionModel):
        raise ValueError(
            "model: its rows are on a cluster, or it has no lists; call to('cpu') first."
        )
    return fitted.make_scorer()


def find_seen(model: Any, given: Any, shape: tuple[int, int]) -> Seen:
    """The cells that lists leave out: those given, or those that the model was fitted to."""
    if given is not None:
        return find_clicks(model, given, shape, name="seen").sort(shape)
    own = getattr(getattr(model, "model_", model), "seen", None)
    if own is None:
        raise ValueError(
            "seen: give the clicks that the model was fitted to, which lists leave out; an empty "
            "matrix leaves out nothing."
        )
    return Seen(host(own.pointers), host(own.indices), host(own.values))


def fold_in(model: Any, given: Any) -> Scorer:
    """What scores new rows, each known by its given cells alone."""
    if hasattr(model, "fold_in"):
        return model.fold_in(given)
    if not hasattr(model, "transform"):
        raise ValueError(
            "model: protocol='new-rows' needs one that folds rows in, by fold_in or transform."
        )
    W = host(model.transform(given))
    fitted = model.model_
    return FactorScorer(W, host(fitted.components).T, host(fitted.biases.col))


def find_clicks(
    model: Any,
    X: Any,
    shape: tuple[int, int],
    *,
    threshold: float | None = None,
    name: str = "X",
    drops_zeros: bool = True,
) -> Clicks:
    """Rows and columns of the clicks in X; with a threshold, of the values from it on."""
    rows, cols, values = _take(model, X, name)
    rows, cols = (np.asarray(host(x)) for x in (rows, cols))
    if rows.shape != cols.shape or rows.ndim != 1 or rows.dtype.kind + cols.dtype.kind not in _INT:
        raise ValueError(f"{name}: expected whole numbers of one length for rows and columns.")
    found = Clicks(rows.astype(np.int64), cols.astype(np.int64))
    for side, index, size in zip(("row", "column"), found, shape, strict=True):
        ends = int(index.max(initial=-1)), int(index.min(initial=0))
        if ends[0] >= size or ends[1] < -1:
            wrong = ends[0] if ends[0] >= size else ends[1]
            raise ValueError(f"{name}: has a {side} {wrong}, but the model has {size:,} {side}s.")
    if threshold is not None:
        if values is None:
            raise ValueError("threshold: the clicks have no values; leave it out.")
        return found.take(np.asarray(values, dtype=float) >= threshold)
    if values is not None and drops_zeros and not getattr(model, "_needs_values", True):
        return found.take(np.asarray(host(values)) != 0)  # which are no clicks, as in a fit
    return found


_INT = {a + b for a in "iu" for b in "iu"}


def _take(model: Any, X: Any, name: str) -> tuple[Any, Any, Any]:
    if is_frame(X):
        refuse_partitioned(X, name, "clicks")
    if isinstance(X, CellList):
        at = (X.rows, X.cols) if X.row_ids is None else find_listed(model, X)
        return (*at, X.values)
    if isinstance(X, tuple):
        if len(X) not in (2, 3, 4):
            raise ValueError(f"{name}: a tuple must be (rows, cols[, values[, shape]]).")
        return X[0], X[1], X[2] if len(X) > 2 else None
    if hasattr(X, "tocoo"):
        coo = X.tocoo()
        order = np.argsort(coo.row.astype(np.int64) * coo.shape[1] + coo.col, kind="stable")
        order = order[coo.data[order] != 0]
        return coo.row[order], coo.col[order], coo.data[order]
    if is_table(X):
        return _take_table(model, X, name)
    table = as_array(X)
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise ValueError(f"{name}: expected clicks as a matrix, triplets or a table.")
    rows, cols = np.nonzero(np.nan_to_num(table))
    return rows, cols, table[rows, cols]


def _take_table(model: Any, X: Any, name: str) -> tuple[Any, Any, Any]:
    if getattr(model, "row_ids_", None) is None:
        raise ValueError(
            f"{name}: a table of ids needs a model fitted from a table; give a sparse matrix."
        )
    names = list_columns(X)
    if model.table_columns_[-1] in names or find_role(names, "rating") is not None:
        found = locate_ratings(model, X)
        return found.rows, found.cols, to_data_scale(model.loss_, found.values)
    cells = locate_cells(model, X)
    return cells.rows, cells.cols, None


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
    held, is_of_clicks = locate_cells(model, X), not getattr(model, "_needs_values", True)
    test = Clicks(find_positions(ids, asked), held.cols)
    if threshold is None:
        return matrix, test.take(find_cell_values(model, held) != 0) if is_of_clicks else test
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
            f"negatives: none of its ids, such as {quote_id(flat[0])}, was fitted; the model knows "
            f"ids such as {quote_id(ids[0])}."
        )
    line = np.repeat(np.arange(count), sizes)[others >= 0]
    pointers = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=count))])
    return pointers.astype(np.int64), others[others >= 0]
