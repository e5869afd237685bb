"""Rows, columns and cells that come after the fit of a matrix completion."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.kinds import answer, on
from pygeco.arrays.low_rank import Array
from pygeco.estimators._completion_spread import _CompletionSpread
from pygeco.estimators._folding import complete_columns, fold_columns, fold_rows
from pygeco.estimators._input import check_points
from pygeco.estimators._updating import take_in_cells
from pygeco.estimators._whole import all_or_nothing


class _CompletionFolding(_CompletionSpread):
    """What `MatrixCompletion` makes of new rows and columns, and how it takes in new cells."""

    def transform(self, X: Any, attributes: Any = None) -> Array:
        """Find coordinates of the rows of X in `components_`, each fitted to its known cells alone.

        Uses the loss of the fit and its penalty (weighted norms included), or the prior if the fit
        used the evidence. Without either, labels, counts and levels get a normal prior with the
        spread of the fitted rows' coordinates.

        Parameters
        ----------
        X : matrix or tuple (rows, cols, values[, shape])
            With the columns of the fit; the rows may be new.
        attributes : table, dict, matrix or None, default=None
            Attributes of these rows, in the form of `row_attributes` in the fit: one line per row
            of X, in their order. The fewer cells a row has, the more its attributes count; rows
            without cells are placed by attributes alone.

        Returns
        -------
        array (rows, rank_), or (rows, rank_ + 1) with offsets for rows
        """
        check_is_fitted(self)
        return fold_rows(self, X, attributes)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return full rows, as `predict` would: coordinates times `components_`, plus offsets.

        Labels, levels and counts are predicted as if the coordinates were known for sure.

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
        W = on(check_points(X, len(self.components_)), self.factors_.V)
        return answer(self.model_.respond(self.model_.complete_rows(W)), X)

    def transform_columns(self, X: Any, attributes: Any = None) -> Array:
        """Find coordinates of new columns, each fitted to its known cells alone.

        A column is then `factors_.U` times its coordinates, plus its offset and those of the rows.
        Uses the loss, penalty and prior of the fit, as `transform` does for rows.

        Parameters
        ----------
        X : matrix or tuple (rows, cols, values[, shape])
            (m, k), with the rows of the fit.
        attributes : table, dict, matrix or None, default=None
            Attributes of these columns: a line for each, as in `transform`.

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
            Attributes of these columns: a line for each, as in `transform`.
        return_std : bool, default=False
            Also return standard deviations; needs the evidence.

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
        """Add new cells without another fit.

        Each row with a new cell is fitted again to all its cells, given the columns; then each
        column with one, given the rows; then those rows again. In the end each of these rows is
        what `transform` makes of it (with a trace norm, nearly). Everything else stays: other rows
        and columns, the penalty or the prior, the noise, the rank, and `path_`. If many cells are
        new, fit again. A mean of draws moves by the change of the evidence's prediction; draws are
        only made again for rows and columns that are mostly new. On a GPU the passes run there.

        O(|cells of those rows and columns| s²). An estimator that is not fitted yet is fitted.

        Parameters
        ----------
        X : cells as fit takes them
            The new cells. A cell that is known already gets its new value. Rows and columns beyond
            the fitted shape are added. If the fit had ids, X is a table too, and new ids are added.
        y : array or None, default=None
            The values of pairs.
        sample_weight : array or None, default=None
            On the same scale as in `fit`; by default a new cell counts as much as a fitted one.
        times : array, str or None, default=None
            As in `fit`; cells without times are placed at the end of the fitted times.

        Returns
        -------
        MatrixCompletion
            The estimator itself.
        """
        if "model_" not in vars(self):
            return self.fit(X, y, sample_weight=sample_weight, times=times)
        take_in_cells(self, X, y, sample_weight, times)
        return self
