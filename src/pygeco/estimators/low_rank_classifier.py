"""Multinomial logistic regression whose coefficient matrix has low rank."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

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
from pygeco.estimators._linear import _LowRankLinear
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_contents import CLASSES, LINEAR, MAY_LACK
from pygeco.losses import Logistic, Loss, Multinomial


class LowRankClassifier(ClassifierMixin, _LowRankLinear):  # type: ignore[misc]
    """Multinomial logistic regression with a coefficient matrix W of low rank.

    Minimizes the mean loss + alpha ‖W‖²_F over rank(W) ≤ rank, with free intercepts. For K classes
    the rank is at most K − 1; at that rank it is plain logistic regression with
    C = 1 / (2 alpha N). Two classes have one row of coefficients, as in scikit-learn.

    Features may have any units and any means; only the ridge depends on their units. If the fit
    does not converge, scikit-learn's ConvergenceWarning says so.

    Parameters
    ----------
    rank : int or "auto", default=10
        The highest rank; the path holds every rank up to it. It is capped at what the numbers of
        classes and features allow. "auto": the lowest rank, of up to 20, that is as good as any
        other at samples held out, but for their noise.
    alpha : float or "auto", default=1e-4
        The ridge. Zero is allowed, but linearly separable classes then have no optimum. "auto": the
        one of the least mean loss at samples held out in five turns, of powers of ten in units of
        the data; classes are spread over the turns. It takes the time of some ten fits.
    fit_intercept : bool, default=True
        Whether the predictions have free constants.
    class_weight : dict, "balanced" or None, default=None
        What each class counts, times `sample_weight`; a class that a dict leaves out counts one.
        "balanced" gives all classes the same total, as in scikit-learn.
    solver : Solver or None, default=None
        None is `Solver(refine=True)`.
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
    coef_ : array (K, d), or (1, d) for two classes
        W, computed on demand.
    intercept_ : array (K,) or (1,)
        The constants.
    factors_ : LowRank
        W as `U diag(s) Vᵀ`; predictions cost O((d + K) rank) per sample.
    path_ : Path
        One step per rank.
    rank_ : int
        The rank of W.
    alpha_ : float
        The ridge: as given, or as held-out samples chose it.
    choice_ : FeatureChoice or None
        What held-out samples chose, and all trials; None where nothing was "auto".
    trials_ : tuple of tuples
        The same trials as plain numbers.
    n_iter_ : int
        Steps of the path.
    n_features_in_ : int
        d.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pygeco import LowRankClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LowRankClassifier(rank=1, random_state=0).fit(X, y)
    >>> model.rank_, bool(model.score(X, y) > 0.9)
    (1, True)
    """

    _contents, _may_lack = LINEAR | CLASSES, MAY_LACK

    def __init__(
        self,
        rank: int | str = 10,
        *,
        alpha: float | str = 1e-4,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        solver: Solver | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(rank, alpha, solver, random_state, n_jobs, verbose)
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept

    @all_or_nothing
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> LowRankClassifier:
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
        LowRankClassifier
            The estimator itself.
        """
        X, y, w = take_samples(self, X, y, sample_weight)
        self.classes_, codes = code_labels(y)
        w = weigh_classes(self.class_weight, self.classes_, codes, w)
        self._minimize(X, codes, w, self._loss())
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes, from which probabilities are computed.

        Parameters
        ----------
        X : array or sparse matrix (N, d)

        Returns
        -------
        array (N, K), or (N,) for two classes
            The largest of a row decides; of two classes, the sign.
        """
        return one_column_if_binary(self._linear(X))

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x).

        Parameters
        ----------
        X : array or sparse matrix (N, d)

        Returns
        -------
        array (N, K)
            In the order of `classes_`.
        """
        scores = self.decision_function(X)
        return self._loss().probabilities(scores)

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
        return log_probabilities(self._linear(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each sample.

        Parameters
        ----------
        X : array or sparse matrix (N, d)

        Returns
        -------
        array (N,)
        """
        return choose_classes(self._linear(X), self.classes_)

    def _loss(self) -> Loss:
        K = len(self.classes_)
        return Logistic() if K == 2 else Multinomial(tuple(range(K)))
