"""Rows, columns and cells that come after the fit of a matrix completion."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.kinds import answer, on
from pygeco.arrays.low_rank import Array
from pygeco.estimators._completion_spread import _CompletionSpread
from pygeco.estimators._folding import complete_columns, fold_columns, fold_rows
from pygeco.estimators._updating import take_in_cells
from pygeco.estimators._whole import all_or_nothing


class _CompletionFolding(_CompletionSpread):
    """What `MatrixCompletion` makes of new rows and columns, and how it takes in new cells."""

    def transform(self, X: Any, attributes: Any = None) -> Array:
        """Find coordinates of the rows of X in `components_`, each fitted to its known cells alone.

        By the loss of the fit and its penalty, weighted norms included; by the prior, where it was
        the evidence. Without any, labels, counts and levels take a normal prior with the spread of
        the fitted rows' own coordinates.

        Parameters
        ----------
        X : matrix or tuple (rows, cols, values[, shape])
            With the columns of the fit; the rows may be new.
        attributes : table, dict, matrix or None, default=None
            What is known of these rows beside their cells, in the form of `row_attributes` of the
            fit: a line for each row of X, in their order. With few cells they say much, with many
            little; rows without any are where attributes alone put them.

        Returns
        -------
        array (rows, rank_), or (rows, rank_ + 1) with offsets for rows
        """
        check_is_fitted(self)
        return fold_rows(self, X, attributes)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Give full rows, dense, as `predict` would: coordinates times `components_`, plus offsets.

        Labels, levels and counts are those at the coordinates, as if these were known for sure.

        Parameters
        ----------
        X : array
            Coordinates, as `transform` gives them.

        Returns
        -------
        array (rows, n)
            On the scale of the observed values.
        """
        check_is_fitted(self)
        return answer(self.model_.respond(self.model_.complete_rows(on(X, self.factors_.V))), X)

    def transform_columns(self, X: Any, attributes: Any = None) -> Array:
        """Find coordinates of new columns, each fitted to its known cells alone.

        A column is then `factors_.U` times its coordinates, plus its offset and those of the rows.
        By the loss, penalty and prior of the fit, as `transform` does for rows.

        Parameters
        ----------
        X : matrix or tuple (rows, cols, values[, shape])
            (m, k), with the rows of the fit.
        attributes : table, dict, matrix or None, default=None
            What is known of these columns beside their cells: a line for each, as in `transform`.

        Returns
        -------
        array (k, rank_), or (k, rank_ + 1) with offsets for columns
        """
        check_is_fitted(self)
        return fold_columns(self, X, attributes)

    def complete_columns(self, X: Any, attributes: Any = None, *, return_std: bool = False) -> Any:
        """Complete new columns, as `predict` completes rows.

        Parameters
        ----------
        X : matrix or tuple (rows, cols, values[, shape])
            (m, k), with the rows of the fit.
        attributes : table, dict, matrix or None, default=None
            What is known of these columns beside their cells: a line for each, as in `transform`.
        return_std : bool, default=False
            Give standard deviations too; needs the evidence.

        Returns
        -------
        array (m, k), or pair of such
        """
        check_is_fitted(self)
        return complete_columns(self, X, attributes, return_std=return_std)

    @all_or_nothing
    def partial_fit(
        self, X: Any, y: Any = None, *, sample_weight: ArrayLike | None = None, times: Any = None
    ) -> Self:
        """Take in new cells without another fit.

        Each row with a new cell is fitted again to all its cells given the columns, then each such
        column given the rows, then those rows again: at the end every one of these rows is what
        `transform` makes of it (with a trace norm, nearly). All else stays: other rows and columns,
        the penalty or the prior and the noise, the rank, `path_`. Where many are new, fit again.
        A mean of draws moves by what that changes in the evidence, and no draw is made again but
        those of rows and columns that are mostly new. On a GPU the passes run there.

        O(|cells of those rows and columns| s²). A model that was never fitted is fitted.

        Parameters
        ----------
        X : cells as `fit` takes them
            The new cells. One that is known already gets its new value. Rows and columns beyond the
            fitted shape are added. Where the fit had ids, X is a table too, and new ids are added.
        y : array or None, default=None
            The values of pairs.
        sample_weight : array or None, default=None
            In the unit of those that `fit` got; by default, cells count as one of the fit's does.
        times : array, str or None, default=None
            As in `fit`; cells without times are of the end of the fit's.

        Returns
        -------
        MatrixCompletion
            The estimator itself.
        """
        if "model_" not in vars(self):
            return self.fit(X, y, sample_weight=sample_weight, times=times)
        take_in_cells(self, X, y, sample_weight, times)
        return self
