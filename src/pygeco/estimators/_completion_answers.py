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

        Predictions are on the scale of the observed values: the probability of the label 1 for the
        logistic loss, a mean count for Poisson, a mean level for the ordinal loss, the margin for
        the hinge.

        Parameters
        ----------
        rows : array, CellList, table or matrix
            With `cols`, the cells are (rows[t], cols[t]). If a table was fitted, these are ids, or
            one table of ids. The rows of a matrix are completed.
        cols : array or None, default=None
            The columns of the cells.
        return_std : bool, default=False
            Also return standard deviations; needs the evidence. For rows of a matrix they are the
            evidence's own, even if the model has draws.
        unknown : "mean", "nan" or "error", default="mean"
            What to do with an id that was not fitted: take the average row or column, give NaN, or
            raise an error. A returned table marks such cells in its column `known`; if you pass
            arrays of ids, a warning is given.
        new_rows, new_columns : table, dict, matrix or None, default=None
            Attributes of rows and columns that were not fitted, in the form used in the fit, with
            their ids: cells of these ids are then predicted from their attributes. A dict of single
            values is one row or column. If the fit had no ids, new rows and columns are numbered
            after its own. If `rows` is a matrix, `new_rows` has a line for each of its rows, in
            their order.
        times : time, array of times or None, default=None
            The times to predict for, if the model uses times; by default the end of the data, or
            the table's column of times. A period that the fit has not seen only adds to the
            deviation.

        Returns
        -------
        array, pair of arrays, or table
            For a table, a table of the same kind with a column `prediction` (and `deviation` with
            `return_std`); for a Dask DataFrame a lazy one, which the workers compute where the rows
            are.
        """
        check_is_fitted(self)
        if new_rows is not None or new_columns is not None:
            if cols is None and new_columns is None and is_matrix(self, rows):
                return complete_rows(self, rows, new_rows, return_std=return_std)
            return predict_new(self, rows, cols, return_std, (new_rows, new_columns), times)
        return predict_values(self, rows, cols, return_std, unknown, times)

    def decision_function(self, rows: Any, cols: ArrayLike | None = None) -> Array:
        """Return the linear predictor ⟨u_i s, v_j⟩ + μ + b_i + c_j.

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

        For labels, counts and levels, the score is minus the mean loss: for the logistic and
        ordinal losses the mean log-likelihood (for Poisson, up to a constant). With the evidence,
        it is that of the predicted probabilities.

        Parameters
        ----------
        X : cells as fit takes them
            A table, `pygeco.cells(...)` or a tuple (rows, cols, values[, shape]) refers to cells of
            the fitted matrix. So does a matrix with as many rows as the fit, if its values agree at
            the fitted cells. The rows of any other matrix are new, as in scikit-learn's
            cross-validation: each cell is predicted from four fifths of the other cells of its row.
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

        If a table was fitted, rows and columns are ids. What someone would like most is often what
        hardly anyone chooses, so lists combine how likely a row is to choose a column and how
        likely it is to like it, as held-out cells weigh the two. With 10,000 cells or more, this is
        learned on the first call and kept with the model; `learn_lists` does it beforehand.

        Parameters
        ----------
        rows : one, an array or a table of them, or None, default=None
            One row gives 1-dimensional arrays; None gives lists for every fitted row.
        k : int, default=10
            The length of a list.
        by : "auto", "value" or "choice", default="auto"
            Rank by both, by the predicted value alone, or by the choice alone. With fewer cells,
            and on a cluster, "auto" is by value.
        exclude_seen : bool, default=True
            Leave out the row's fitted cells, and those given to `keep_held_out`.
        items : array, dict, table or None, default=None
            The candidates; None means every column. A dict {row: columns} or a table of rows and
            columns gives each row its own; rows that it does not name get no list.
        exclude : array, dict, table or None, default=None
            Columns to leave out of all lists, or of those of single rows.
        unknown : "mean", "nan" or "error", default="mean"
            What to do with an id that was not fitted: give the list of the average row, with a
            warning, give an empty list, or raise an error.
        new_rows : table, dict, matrix or None, default=None
            Attributes of rows that were not fitted, as in `predict`; without `rows` there is a
            list for each of them.
        new_columns : table, dict, matrix or None, default=None
            Attributes of columns that were not fitted, with their ids: candidates in addition to
            `items`, ranked by value. With `items=[]` they are the only candidates.
        time : time or None, default=None
            The time of the lists; by default the end of the data.

        Returns
        -------
        Ranking
            `columns` and `scores`, which are predictions as `predict` gives them, in the order of
            the list. Labels, levels and counts are listed by what is known of them, and predicted
            by what is not known too: their scores need not descend. `recommend().to_pandas()` is a
            table for everyone.
        """
        check_is_fitted(self)
        if new_rows is not None or new_columns is not None:
            may_be_none = new_columns is not None
            filters = choose_candidates(
                self, items, exclude, exclude_seen=exclude_seen, may_be_none=may_be_none
            )
            return recommend_new(self, rows, k, (new_rows, new_columns), filters, time)
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
        """Learn what rows choose, which `recommend` combines with what they would like.

        `recommend` does this itself on its first call.

        Returns
        -------
        MatrixCompletion
            The estimator itself.
        """
        check_is_fitted(self)
        settle_lists(self, "auto")
        return self

    def similar(self, columns: ArrayLike, k: int = 10) -> Ranking:
        """Find the k columns most similar to each given one, by the cosine of their vectors.

        Parameters
        ----------
        columns : one or an array of them
            Ids, if a table was fitted.
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
        """Find the k rows most similar to each given one, like `similar` for columns.

        Parameters
        ----------
        rows : one or an array of them
            Ids, if a table was fitted.
        k : int, default=10
            The length of a list, which leaves out the row itself.

        Returns
        -------
        Ranking
            In this case, its `columns` are rows.
        """
        check_is_fitted(self)
        return find_similar(self, rows, k, side=0)

    def explain(self, row: Any, column: Any, k: int = 5, *, time: Any = None) -> Reasons:
        """Show which of the row's known columns drive its prediction at `column`.

        A row's vector is linear in its cells and attributes, so the prediction is a sum: `base`,
        from the offset of the column and the prior, plus what each known cell and each attribute
        of the row adds. With `posterior`, `base` includes the difference between the mean of draws,
        which `predict` gives, and the evidence's own prediction. If the row has a known cell at
        `column`, the prediction from its other cells is explained. For labels, levels
        and counts the sum is what the loss makes a prediction of, such as log-odds. Needs the
        evidence.

        Parameters
        ----------
        row, column : id, or position
            The cell.
        k : int, default=5
            How many columns to list, the strongest first.
        time : time or None, default=None
            The time of the prediction; by default the end of the data.

        Returns
        -------
        Reasons
            `columns`, `contributions`, `base`, `attributes` (a dict of what each group adds) and
            `time` (what the period adds).
        """
        check_is_fitted(self)
        return explain_cell(self, row, column, k, time)
