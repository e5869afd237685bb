"""What to show: the best columns for a row, columns alike, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays import answer, contiguous, host, on
from pygeco.engines import chosen
from pygeco.estimators._cluster import asked, asked_one, drop_slab_models, spread_out
from pygeco.estimators._ids import find_ids, ids_at, index_of, row_ids_of
from pygeco.estimators._seen import given_cells, hide_cells, sort_cells
from pygeco.estimators._tables import linear_at
from pygeco.factors import Array
from pygeco.posterior import contributions
from pygeco.tables import is_table

KNOWN = ("seen_", "held_out_")  # attributes with cells that a row knows already
ROWS = 512  # rows scored at once: with 10⁴ columns, 40 MB


class Ranking(NamedTuple):
    """Columns (or their ids), best first, and their scores.

    Where there are not enough: −inf, and −1, or None among ids that are text.
    """

    columns: NDArray[Any]
    scores: Array


class Reasons(NamedTuple):
    """How much each column that the row has rated adds to a prediction, strongest first."""

    columns: NDArray[Any]
    contributions: Array
    base: float


class Recommending:
    """Top-k lists from `factors_` and `biases_`; needs `seen_`, the fitted cells by row."""

    def recommend(
        self, rows: Any, k: int = 10, *, exclude_seen: bool = True, unknown: str = "mean"
    ) -> Ranking:
        """The k columns with the highest prediction for each row, best first.

        One row gives 1-dimensional arrays. Scores are predictions, as `predict` gives them. A
        model fitted from a table takes and gives ids; a table of them has one list a row.

        An id that was not fitted gets the list of the average row, of which a warning tells
        (`unknown="mean"`), an empty one ("nan"), or an error ("error"), as in `predict`.
        """
        check_is_fitted(self)
        model: Any = self
        rows = row_ids_of(model, rows) if is_table(rows) and hasattr(rows, "columns") else rows
        hide = KNOWN if exclude_seen else ()
        at = find_ids(model, "rows", rows, 0, unknown)
        best = self._best(at if model.row_ids_ is None else np.maximum(at, 0), k, hide=hide)
        if model.row_ids_ is not None and np.any(at < 0):
            best = self._answer_unknown(best, at, unknown)
        columns, scores = (answer(x, rows) for x in best)
        return Ranking(ids_at(model.column_ids_, columns), scores)

    def _answer_unknown(self, best: Ranking, at: NDArray[Any], unknown: str) -> Ranking:
        """The lists with those of unknown rows: the average row's, or none."""
        model: Any = self
        columns, scores = host(best.columns).copy(), host(best.scores).copy()
        columns[at < 0], scores[at < 0] = -1, -np.inf
        if unknown == "mean":
            n = model.factors_.shape[1]
            z = host(model._response(linear_at(model, np.full(n, -1), np.arange(n))))
            order = np.argsort(-z, kind="stable")[: columns.shape[-1]]
            columns[at < 0], scores[at < 0] = order, z[order]
        return Ranking(columns, scores)

    def keep_held_out(self, X: Any) -> Self:
        """Keep cells that were held out of the fit with the model, and in its file.

        `recommend` then leaves them out as it does those that were fitted, and a report judges by
        them. X is as `fit` takes it; cells with an id that was not fitted are left out.
        """
        check_is_fitted(self)
        model: Any = self
        rows, cols, values = given_cells(model, X)
        model.held_out_ = sort_cells(rows, cols, values, model.factors_.shape)
        drop_slab_models(model)
        return self

    def _best(self, index: NDArray[Any], k: int, *, hide: tuple[str, ...]) -> Ranking:
        """The same for positions, in positions, where the model is, without the cells to hide."""
        model: Any = self
        if spread_out(model):
            return asked(model, _best_there, index, k=k, hide=hide)
        wanted = _count(k, model.factors_.shape[1])
        # What differs within a row, in double precision: a large mean would hide it.
        left = model.factors_.left.astype(float)
        right = contiguous(model.factors_.V.T, float)
        col = model.biases_.col - model.biases_.col.mean()
        hidden = [cells for cells in map(vars(model).get, hide) if cells is not None]

        def scores(flat: NDArray[Any]) -> Array:
            table = left[flat] @ right
            table += col
            for cells in hidden:
                hide_cells(table, flat, cells)
            return table

        found, _ = _ranked(index, wanted, scores, left)
        rows = on(index, left)[..., None]
        answers = model._response(linear_at(model, rows, np.maximum(found, 0)))
        answers[found < 0] = -np.inf
        return Ranking(found, answers)

    def similar(self, columns: ArrayLike, k: int = 10) -> Ranking:
        """The k columns most like each given one: the cosine of their vectors, itself left out."""
        check_is_fitted(self)
        model: Any = self
        index = index_of(model, "columns", columns, 1)
        V = model.factors_.T.left.astype(float)
        size = np.linalg.norm(V, axis=1, keepdims=True)
        V = V / np.where(size > 0, size, 1)

        def scores(flat: NDArray[Any]) -> Array:
            table = V[flat] @ V.T
            table[np.arange(len(table), like=flat), flat] = -np.inf
            return table

        found, best = (answer(x, columns) for x in _ranked(index, _count(k, len(V)), scores, V))
        return Ranking(ids_at(model.column_ids_, found), best)

    def explain(self, row: Any, column: Any, k: int = 5) -> Reasons:
        """Which of the row's known columns drive its prediction at `column`.

        A row's vector is linear in its cells, so the prediction is a sum: `base`, which the offset
        of the column and the prior say, and what each known cell adds. Where the row knows `column`
        itself, it is the prediction from its other cells that is explained. Needs the evidence.
        """
        check_is_fitted(self)
        model: Any = self
        i = int(index_of(model, "row", row, 0))
        target = int(index_of(model, "column", column, 1))
        if model.posterior_ is None:
            raise ValueError("row: explain needs a model fitted with penalty='evidence'.")
        because = (
            asked_one(model, _because, i, target)
            if spread_out(model)
            else _because(model, i, target)
        )
        order = np.argsort(-np.abs(because.contributions), kind="stable")[: max(0, k)]
        columns = ids_at(model.column_ids_, because.columns[order])
        return Reasons(columns, because.contributions[order], because.base)


def _best_there(model: Any, rows: NDArray[Any], k: int, hide: tuple[str, ...]) -> Ranking:
    return model._best(rows, k, hide=hide)


def _because(model: Any, row: int, target: int) -> Reasons:
    """All reasons, in the order of the columns, as positions: each column but the target."""
    own = slice(int(model.seen_.pointers[row]), int(model.seen_.pointers[row + 1]))
    cols = host(model.seen_.indices[own]).astype(np.int64)
    others = cols != target
    cols, values = cols[others], host(model.seen_.values[own])[others]
    weights = np.ones(len(cols))
    if len(model.seen_.weights):
        weights = host(model.seen_.weights[own])[others].astype(float)
    if model.posterior_.weighing is not None:
        x = host(linear_at(model, np.full(len(cols), row), cols)) - values
        weights = weights * model.posterior_.weighing.weights(x.astype(float))
    base, parts = contributions(model.posterior_, cols, values, weights, target)
    return Reasons(cols, parts, base)


def _ranked(
    index: NDArray[Any], k: int, scores: Callable[[NDArray[Any]], Array], like: Array
) -> tuple[NDArray[np.int64], Array]:
    """The k best columns for each of `index` and their scores, a block of rows at a time."""
    flat, engine = on(index.reshape(-1), like), chosen(None, like)
    blocks = [flat[at : at + ROWS] for at in range(0, len(flat), ROWS)] or [flat]
    found, best = zip(*(engine.top_k(scores(block), k) for block in blocks), strict=True)
    shape = (*index.shape, k)
    return np.concatenate(found).reshape(shape), np.concatenate(best).reshape(shape)


def _count(k: int, n: int) -> int:
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k: expected an integer of at least 1, not {k!r}.")
    return min(int(k), n)
