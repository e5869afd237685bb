"""How sure a fitted matrix completion is: probabilities and intervals."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.low_rank import Array
from pygeco.estimators._completion_answers import _CompletionAnswers
from pygeco.estimators._predicting import predict_bounds, predict_probabilities
from pygeco.losses import Loss, find_loss


def _has_probabilities(estimator: Any) -> bool:
    return type(find_loss(estimator.loss)).probabilities is not Loss.probabilities


class _CompletionSpread(_CompletionAnswers):
    """What `MatrixCompletion` says of values beside the most likely one."""

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, rows: Any, cols: ArrayLike | None = None) -> Array:
        """Predict the probability of each label, or of each level for the ordinal loss.

        With the evidence, probabilities include the uncertainty of the model: the less is known
        about a cell, the closer they are to each other.

        Parameters
        ----------
        rows : array, CellList, table or matrix
            As `predict` takes them.
        cols : array or None, default=None
            The columns of the cells.

        Returns
        -------
        array (cells, classes)
            P(label −1 or 0) and P(label 1); or P(each level).
        """
        check_is_fitted(self)
        return predict_probabilities(self, rows, cols)

    def predict_interval(
        self,
        rows: Any,
        cols: ArrayLike | None = None,
        coverage: float = 0.9,
        *,
        times: Any = None,
    ) -> tuple[Array, Array]:
        """Predict an interval that contains a new observation with a given probability.

        Half of the remaining probability lies below, half above. For numbers, the tails have the
        shape of the fit's residuals, whatever the noise is, scaled by the deviation. For labels,
        levels and counts they are those of the likelihood, at values that cells can take, so that
        intervals cover at least as much as requested. Needs the evidence.

        Parameters
        ----------
        rows : array, CellList or table
            As `predict` takes them, other than a matrix.
        cols : array or None, default=None
            The columns of the cells.
        coverage : float, default=0.9
            The probability, strictly between 0 and 1.
        times : time, array of times or None, default=None
            As `predict` takes them.

        Returns
        -------
        tuple of two arrays
            The lower and the upper bounds.

        Examples
        --------
        >>> from pygeco import MatrixCompletion
        >>> from pygeco.data import make_ratings
        >>> model = MatrixCompletion(random_state=0).fit(make_ratings((40, 30), 500))
        >>> low, high = model.predict_interval([0, 1], [2, 3], 0.8)
        >>> bool((low < high).all())
        True
        """
        check_is_fitted(self)
        return predict_bounds(self, rows, cols, coverage, times)
