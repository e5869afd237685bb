"""What to show: the best columns for a row, columns alike, and why."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.kinds import answer, contiguous, host, on
from pygeco.arrays.low_rank import Array
from pygeco.bayes.posterior import contributions
from pygeco.estimators._cluster import asked, asked_one, drop_slab_models, spread_out
from pygeco.estimators._ids import find_ids, ids_at, index_of, row_ids_of
from pygeco.estimators._seen import given_cells, hide_cells, sort_cells
from pygeco.estimators._tables import linear_at
from pygeco.estimators.ranking import Best, Ranking, list_length, rank_lines
from pygeco.estimators.similarity import alike, alike_on_cluster
from pygeco.io.tables import is_table

KNOWN = ("seen_", "held_out_")  # attributes with cells that a row knows already


class Reasons(NamedTuple):
    """How much each column that the row has rated adds to a prediction, strongest first."""

    columns: NDArray[Any]
    contributions: Array
    base: float


class Recommending:
    """Top-k lists from `factors_` and `biases_`; needs `seen_`, the fitted cells by row."""

    def recommend(
        self,
        rows: Any = None,
        k: int = 10,
        *,
        exclude_seen: bool = True,
        items: ArrayLike | None = None,
        exclude: ArrayLike | None = None,
        unknown: str = "mean",
    ) -> Ranking:
        """The k columns with the highest prediction for each row, best first.

        A model fitted from a table takes and gives ids.

        Parameters
        ----------
        rows : one, an array or a table of them, or None
            One row gives 1-dimensional arrays, None lists for every fitted row.
        k : int, default=10
        exclude_seen : bool, default=True
            Leave out the row's fitted cells, and those given to `keep_held_out`.
        items : array or None
            The candidates; None stands for every column.
        exclude : array or None
            Columns that are in no list.
        unknown : "mean", "nan" or "error", default="mean"
            An id that was not fitted gets the list of the average row, of which a warning tells,
            an empty one, or an error, as in `predict`.

        Returns
        -------
        Ranking
            `columns` and `scores`, which are predictions as `predict` gives them;
            `recommend().to_pandas()` is a table for everyone.
        """
        check_is_fitted(self)
        model: Any = self
        rows = row_ids_of(model, rows) if is_table(rows) and hasattr(rows, "columns") else rows
        given = _everyone(model) if rows is None else rows
        at = (
            np.arange(model.factors_.shape[0])
            if rows is None
            else find_ids(model, "rows", given, 0, unknown)
        )
        hide, allowed = KNOWN if exclude_seen else (), _candidates(model, items, exclude)
        index = at if model.row_ids_ is None else np.maximum(at, 0)
        best = self._best(index, k, hide=hide, allowed=allowed)
        if model.row_ids_ is not None and np.any(at < 0):
            best = self._answer_unknown(best, at, unknown, allowed)
        columns, scores = (answer(x, given) for x in best)
        names = (*_sides(model), "prediction")
        return Ranking(ids_at(model.column_ids_, columns), scores, given, names)

    def _answer_unknown(
        self, best: Best, at: NDArray[Any], unknown: str, allowed: NDArray[np.bool_] | None
    ) -> Best:
        """The lists with those of unknown rows: the average row's, or none."""
        model: Any = self
        columns, scores = host(best.columns).copy(), host(best.scores).copy()
        columns[at < 0], scores[at < 0] = -1, -np.inf
        if unknown == "mean":
            n = model.factors_.shape[1]
            z = host(linear_at(model, np.full(n, -1), np.arange(n)))
            ranked = z if allowed is None else np.where(allowed, z, -np.inf)
            order = np.argsort(-ranked, kind="stable")[: columns.shape[-1]]
            columns[at < 0], scores[at < 0] = order, model._response(z[order])
        return Best(columns, scores)

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

    def _best(
        self,
        index: NDArray[Any],
        k: int,
        *,
        hide: tuple[str, ...],
        allowed: NDArray[np.bool_] | None = None,
    ) -> Best:
        """The same for positions, in positions, where the model is, without the cells to hide."""
        model: Any = self
        if spread_out(model):
            return asked(model, _best_there, index, k=k, hide=hide, allowed=allowed)
        wanted = list_length(k, model.factors_.shape[1] if allowed is None else int(allowed.sum()))
        # What differs within a row, in double precision: a large mean would hide it.
        left = model.factors_.left.astype(float)
        right = contiguous(model.factors_.V.T, float)
        col = model.biases_.col - model.biases_.col.mean()
        hidden = [cells for cells in map(vars(model).get, hide) if cells is not None]

        def scores(flat: NDArray[Any]) -> Array:
            table = left[flat] @ right
            table += col
            if allowed is not None:
                table[:, on(~allowed, left)] = -np.inf
            for cells in hidden:
                hide_cells(table, flat, cells)
            return table

        found, _ = rank_lines(index, wanted, scores, left)
        rows = on(index, left)[..., None]
        answers = model._response(linear_at(model, rows, np.maximum(found, 0)))
        answers[found < 0] = -np.inf
        return Best(found, answers)

    def similar(self, columns: ArrayLike, k: int = 10) -> Ranking:
        """The k columns most like each given one: the cosine of their vectors, itself left out."""
        check_is_fitted(self)
        model: Any = self
        index = index_of(model, "columns", columns, 1)
        found, best = (answer(x, columns) for x in alike(model.factors_.T.left, index, k))
        name = _sides(model)[1]
        names = (name, f"similar_{name}", "similarity")
        return Ranking(ids_at(model.column_ids_, found), best, columns, names)

    def similar_rows(self, rows: ArrayLike, k: int = 10) -> Ranking:
        """The k rows most like each given one, `similar` for rows; its `columns` are rows here."""
        check_is_fitted(self)
        model: Any = self
        index = index_of(model, "rows", rows, 0)
        if spread_out(model):
            nearest = alike_on_cluster(model, index, k)
        else:
            nearest = alike(model.factors_.left, index, k)
        found, best = (answer(x, rows) for x in nearest)
        name = _sides(model)[0]
        names = (name, f"similar_{name}", "similarity")
        return Ranking(row_ids_at(model, found), best, rows, names)

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


def _best_there(model: Any, rows: NDArray[Any], **settings: Any) -> Best:
    return model._best(rows, **settings)


def _everyone(model: Any) -> NDArray[Any]:
    """Ids of all rows, or their positions."""
    if model.row_ids_ is None:
        return np.arange(model.factors_.shape[0])
    ids = model.row_ids_
    return ids.get() if hasattr(ids, "get") else ids


def row_ids_at(model: Any, at: NDArray[Any]) -> NDArray[Any]:
    """Ids of rows at positions, or the positions."""
    return at if model.row_ids_ is None else ids_at(_everyone(model), at)


def _sides(model: Any) -> tuple[str, str]:
    """What rows and columns are called."""
    names = vars(model).get("table_columns_")
    return (names[0], names[1]) if names else ("row", "column")


def _candidates(model: Any, items: Any, exclude: Any) -> NDArray[np.bool_] | None:
    """Which columns may be listed; None where all may."""
    if items is None and exclude is None:
        return None
    allowed = np.full(model.factors_.shape[1], items is None)
    if items is not None:
        allowed[host(index_of(model, "items", items, 1))] = True
    if exclude is not None and np.size(exclude):
        allowed[host(index_of(model, "exclude", exclude, 1))] = False
    if not allowed.any():
        raise ValueError("items: none is left to recommend; give more of them, or exclude fewer.")
    return allowed


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
