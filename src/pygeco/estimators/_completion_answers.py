"""What can be asked of a fitted matrix completion: values, scores, lists and reasons."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.low_rank import Array
from pygeco.estimators._choosing import settle_lists
from pygeco.estimators._cold import predict_new, recommend_new
from pygeco.estimators._completion_state import _CompletionState
from pygeco.estimators._folding import complete_rows
from pygeco.estimators._list_filters import choose_candidates
from pygeco.estimators._predicting import is_matrix, predict_linear, predict_values, score_cells
from pygeco.estimators._recommending import (
    explain_cell,
    find_similar,
    recommend_columns,
)
from pygeco.estimators.ranking import Ranking
from pygeco.models.ranking import Reasons


class _CompletionAnswers(_CompletionState):
    """The questions that `MatrixCompletion` answers."""

    def predict(
        self,
        rows: Any,
        cols: ArrayLike | None = None,
        *,
        return_std: bool = False,
        unknown: str = "mean",
        new_rows: Any = None,
        new_columns: Any = None,
        times: Any = None,
    ) -> Any:
        """Predict the values at cells; given one matrix, complete its rows.

        On the scale of the observed values: a probability of the label 1 for the logistic loss,
        a mean count for Poisson, a mean level for the ordinal loss, the margin for the hinge.

        Parameters
        ----------
        rows : array, CellList, table or matrix
            With `cols`, the cells are (rows[t], cols[t]). A model fitted from a table takes ids, or
            one table of ids. A matrix has rows to complete.
        cols : array or None, default=None
            The columns of the cells.
        return_std : bool, default=False
            Give standard deviations too; needs the evidence. Those of a matrix's rows are the
            evidence's own, whether there are draws or not.
        unknown : "mean", "nan" or "error", default="mean"
            An id that was not fitted stands for the average row or column, gives NaN, or is an
            error. A table's column `known` marks such cells, and a warning tells of them where ids
            are given one by one.
        new_rows, new_columns : table, dict, matrix or None, default=None
            The attributes of rows and columns that were not fitted, in the form of those of the
            fit, with their ids: cells of these ids are then predicted by what is known of them. A
            dict of single values is one line. Where the fit had no ids, new lines are numbered on
            from its own. Of a matrix, `new_rows` has a line for each of its rows, in their order.
        times : time, array of times or None, default=None
            When the cells are predicted for, where time says something; by default at the end of
            the data. Of a table, its column of times. A period that the fit has not seen adds
            nothing but to the deviation.

        Returns
        -------
        array, pair of arrays, or table
            Of a table, one of the same kind with a column `prediction` (and `deviation` with
            `return_std`); of a Dask DataFrame a lazy one, which the workers compute where the rows
            are.
        """
        check_is_fitted(self)
        if new_rows is not None or new_columns is not None:
            if cols is None and new_columns is None and is_matrix(self, rows):
                return complete_rows(self, rows, new_rows, return_std=return_std)
            return predict_new(self, rows, cols, return_std, (new_rows, new_columns), times)
        return predict_values(self, rows, cols, return_std, unknown, times)

    def decision_function(self, rows: Any, cols: ArrayLike | None = None) -> Array:
        """Give the linear predictor ⟨u_i s, v_j⟩ + μ + b_i + c_j.

        Parameters
        ----------
        rows : array, CellList, table or matrix
            As `predict` takes them.
        cols : array or None, default=None
            The columns of the cells.

        Returns
        -------
        array
        """
        check_is_fitted(self)
        return predict_linear(self, rows, cols)

    def score(self, X: Any, y: Any = None) -> float:
        """Measure −RMSE over the known cells of X; higher is better.

        For labels, counts and levels it is minus the mean loss, so minus the mean negative
        log-likelihood for the logistic and ordinal losses (and for Poisson, up to a constant); by
        the evidence, that of the predicted probabilities.

        Parameters
        ----------
        X : cells as `fit` takes them
            A table, `pygeco.cells(...)` or a tuple (rows, cols, values[, shape]) has cells of the
            fitted matrix. A matrix with as many rows as the fit has, and no other value at any cell
            that was fitted, is that matrix too. The rows of any other are new, as scikit-learn's
            cross-validation asks about them: each cell is predicted from four fifths of the others
            of its row.
        y : array or None, default=None
            The values of a table of pairs.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return score_cells(self, X, y)

    def recommend(
        self,
        rows: Any = None,
        k: int = 10,
        *,
        by: str = "auto",
        exclude_seen: bool = True,
        items: Any = None,
        exclude: Any = None,
        unknown: str = "mean",
        new_rows: Any = None,
        new_columns: Any = None,
        time: Any = None,
    ) -> Ranking:
        """Find the k columns to recommend to each row, best first.

        A model fitted from a table takes and gives ids. What someone would like most is often what
        hardly anyone chooses, so lists are by both: how likely a row is to choose a column, and how
        likely it is to like it, weighed by cells held out. This is learned when it is first asked
        for, from 10,000 cells on, and kept with the model; `learn_lists` does so beforehand.

        Parameters
        ----------
        rows : one, an array or a table of them, or None, default=None
            One row gives 1-dimensional arrays, None lists for every fitted row.
        k : int, default=10
            The length of a list.
        by : "auto", "value" or "choice", default="auto"
            By both, by the predicted value alone, or by the choice alone. With fewer cells, and on
            a cluster, "auto" is by value.
        exclude_seen : bool, default=True
            Leave out the row's fitted cells, and those given to `keep_held_out`.
        items : array, dict, table or None, default=None
            The candidates; None stands for every column. A dict {row: columns} or a table of rows
            and columns gives rows their own; rows that it does not name get no list.
        exclude : array, dict, table or None, default=None
            Columns that are in no list, or in that of a row.
        unknown : "mean", "nan" or "error", default="mean"
            An id that was not fitted gets the list of the average row, of which a warning tells,
            an empty one, or an error, as in `predict`.
        new_rows : table, dict, matrix or None, default=None
            The attributes of rows that were not fitted, as in `predict`; without `rows` there is a
            list for each of them.
        new_columns : table, dict, matrix or None, default=None
            The attributes of columns that were not fitted, with their ids: candidates beside
            `items`, by value. With `items=[]` lists are of these alone.
        time : time or None, default=None
            When the lists are for; by default at the end of the data.

        Returns
        -------
        Ranking
            `columns` and `scores`, which are predictions as `predict` gives them, in the order of
            the list; `recommend().to_pandas()` is a table for everyone.
        """
        check_is_fitted(self)
        if new_rows is not None or new_columns is not None:
            filters = choose_candidates(self, items, exclude, may_be_none=new_columns is not None)
            hides = {"exclude_seen": exclude_seen, "time": time}
            return recommend_new(self, rows, k, (new_rows, new_columns), filters, **hides)
        return recommend_columns(
            self,
            rows,
            k,
            exclude_seen=exclude_seen,
            items=items,
            exclude=exclude,
            unknown=unknown,
            by=by,
            time=time,
        )

    def learn_lists(self) -> Self:
        """Learn what rows choose, which `recommend` counts beside what they would like.

        `recommend` does so by itself when it is first asked for lists.

        Returns
        -------
        MatrixCompletion
            The estimator itself.
        """
        check_is_fitted(self)
        settle_lists(self, "auto")
        return self

    def similar(self, columns: ArrayLike, k: int = 10) -> Ranking:
        """Find the k columns most like each given one: by the cosine of their vectors.

        Parameters
        ----------
        columns : one or an array of them
            Ids, where the fit was to a table.
        k : int, default=10
            The length of a list, which leaves out the column itself.

        Returns
        -------
        Ranking
            `columns` and `scores`, the cosines.
        """
        check_is_fitted(self)
        return find_similar(self, columns, k, side=1)

    def similar_rows(self, rows: ArrayLike, k: int = 10) -> Ranking:
        """Find the k rows most like each given one: `similar` for rows.

        Parameters
        ----------
        rows : one or an array of them
            Ids, where the fit was to a table.
        k : int, default=10
            The length of a list, which leaves out the row itself.

        Returns
        -------
        Ranking
            Its `columns` are rows here.
        """
        check_is_fitted(self)
        return find_similar(self, rows, k, side=0)

    def explain(self, row: Any, column: Any, k: int = 5, *, time: Any = None) -> Reasons:
        """Say which of the row's known columns drive its prediction at `column`.

        A row's vector is linear in its cells and attributes, so the prediction is a sum: `base`,
        which the offset of the column and the prior say, what each known cell adds, and what the
        row's attributes add. With `posterior`, `base` also has by how much the mean of draws, which
        `predict` gives, differs from the evidence's own prediction. Where the row knows `column`
        itself, it is the prediction from its other cells that is explained. Needs the evidence.

        Parameters
        ----------
        row, column : id, or position
            The cell.
        k : int, default=5
            How many columns, the strongest first.
        time : time or None, default=None
            When; by default at the end of the data.

        Returns
        -------
        Reasons
            `columns`, `contributions`, `base`, `attributes`: a dict of what each group adds, and
            `time`: what the period adds.
        """
        check_is_fitted(self)
        return explain_cell(self, row, column, k, time)
