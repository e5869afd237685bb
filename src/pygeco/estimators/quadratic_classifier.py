"""Classes by quadratic functions of low rank: the degree-2 polynomial network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import RandomState
from pygeco.estimators._feature_model import (
    ClassWeight,
    choose_classes,
    code_labels,
    log_probabilities,
    one_column_if_binary,
    take_samples,
    weigh_classes,
)
from pygeco.estimators._quadratic import _QuadraticForms
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_contents import CLASSES, MAY_LACK, QUADRATIC
from pygeco.losses import Loss
from pygeco.losses import find_loss as loss_named
from pygeco.losses.base import softplus


def _is_logistic(estimator: Any) -> bool:
    fitted = vars(estimator).get("loss_")  # of the fit, whatever `set_params` has changed since
    return (fitted or loss_named(estimator.loss)).name == "logistic"


class QuadraticClassifier(ClassifierMixin, _QuadraticForms):  # type: ignore[misc]
    """Classify by quadratic functions xᵀAx + wᵀx + b with rank(A) ≤ rank, one against the rest.

    Each function minimizes the mean loss + alpha (‖A‖²_F + ‖w‖²) on features of mean zero, all
    divided by their standard deviation and √d (sparse features are not centered). The rank does not
    restrict w and b. `predict` costs O(rank · d) per sample and class.

    Parameters
    ----------
    rank : int or "auto", default=8
        The highest rank of each A, at most d. "auto" as in `LowRankClassifier`, one rank for all
        functions; 0, where products of features say nothing, leaves w and b.
    loss : str or Loss, default="logistic"
        A loss of labels ±1: "logistic" (which gives probabilities) or "smoothed-hinge".
    alpha : float or "auto", default=1e-5
        The ridge; "auto" as in `LowRankClassifier`, one for all functions.
    class_weight : dict, "balanced" or None, default=None
        What each class counts, times `sample_weight`; a class that a dict leaves out counts one.
        "balanced" gives all classes the same total, as in scikit-learn.
    solver : Solver or None, default=None
        Settings of the algorithm.
    random_state : int, RandomState or None, default=None
        Seed of the directions; the same seed gives the same bits.
    n_jobs : int or None, default=None
        Number of threads; None or −1 uses all cores. The bits do not depend on it.
    verbose : int, default=0
        1 writes a line per second about the fit to standard error, 2 a line for every step.

    Attributes
    ----------
    classes_ : array (K,)
        The labels, sorted.
    components_, eigenvalues_, shifts_, coef_, intercept_ : arrays
        f_k(x) = Σ_i eigenvalues_[k, i] (components_[k, i] · x − shifts_[k, i])² + coef_[k] · x +
        intercept_[k]. One function for two classes, otherwise one per class.
    loss_ : Loss
        The loss, with the settings that are estimated from the targets.
    objectives_ : list of tuples
        The objective after each rank.
    rank_ : int
        The highest rank of any A.
    alpha_ : float
        The ridge: as given, or as held-out samples chose it.
    choice_ : FeatureChoice or None
        What held-out samples chose, and all trials; None where nothing was "auto".
    trials_ : tuple of tuples
        The same trials as plain numbers.
    n_iter_ : int
        Steps, the most for any function.
    n_features_in_ : int
        d.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import QuadraticClassifier
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> model = QuadraticClassifier(rank=2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _contents, _may_lack = QUADRATIC | CLASSES, MAY_LACK

    def __init__(
        self,
        rank: int | str = 8,
        *,
        loss: str | Loss = "logistic",
        alpha: float | str = 1e-5,
        class_weight: ClassWeight = None,
        solver: Solver | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(rank, alpha, solver, random_state, n_jobs, verbose)
        self.class_weight = class_weight
        self.loss = loss

    @all_or_nothing
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> QuadraticClassifier:
        """Fit to samples and their labels.

        Parameters
        ----------
        X : array or sparse matrix (N, d)
            The samples.
        y : array (N,)
            Labels of any kind.
        sample_weight : array (N,) or None, default=None
            A sample of weight zero counts as absent.

        Returns
        -------
        QuadraticClassifier
            The estimator itself.
        """
        X, y, w = take_samples(self, X, y, sample_weight)
        self.classes_, codes = code_labels(y)
        w = weigh_classes(self.class_weight, self.classes_, codes, w)
        chosen = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        self._fit_forms(X, [np.where(codes == k, 1.0, -1.0) for k in chosen], w)
        return self

    def decision_function(self, X: Any) -> Array:
        """Evaluate the functions.

        Parameters
        ----------
        X : array or sparse matrix (N, d)

        Returns
        -------
        array (N, K), or (N,) for two classes
            The largest of a row decides; of two classes, the sign.
        """
        return one_column_if_binary(self._forms(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class whose function is largest.

        Parameters
        ----------
        X : array or sparse matrix (N, d)

        Returns
        -------
        array (N,)
        """
        return choose_classes(self._forms(X), self.classes_)

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x): each function's own probability, scaled to sum to one.

        Parameters
        ----------
        X : array or sparse matrix (N, d)

        Returns
        -------
        array (N, K)
            In the order of `classes_`.
        """
        return np.exp(self.predict_log_proba(X))

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of `predict_proba`, with all digits where those are next to zero.

        Parameters
        ----------
        X : array or sparse matrix (N, d)

        Returns
        -------
        array (N, K)
            In the order of `classes_`.
        """
        forms = self._forms(X)
        if forms.shape[1] == 1:
            return log_probabilities(forms)
        least = np.finfo(forms.dtype).min  # where a function overflows
        return log_probabilities(np.maximum(-softplus(-forms), least))
