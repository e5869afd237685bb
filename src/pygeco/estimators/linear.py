"""Linear models whose coefficient matrix has low rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.run import minimize
from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import Array
from pygeco.estimators import _common
from pygeco.estimators._contents import CLASSES, LINEAR, MAY_LACK, REGRESSOR
from pygeco.estimators._progress import attend_fit
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_file import Saveable
from pygeco.losses import Logistic, Loss, Multinomial
from pygeco.losses import named as loss_named
from pygeco.objectives import Features


class _LowRankLinear(Saveable, BaseEstimator):
    """z = x Aᵀ + b with rank(A) ≤ r, from one path of GECO."""

    def _minimise(self, objective: Features, dtype: Any) -> None:
        params: Any = self
        with attend_fit(self) as listener:
            path = minimize(
                objective,
                _common.capped(params.rank, min(objective.shape)),
                Solver(refine=True) if params.solver is None else params.solver,
                penalty=_common.ridge(params.alpha),
                random_state=_common.seed(params.random_state),
                observer=listener,
            )
        self.path_ = path
        self.factors_ = path.A.svd().astype(dtype)
        self.intercept_ = objective.intercepts(path.A).astype(dtype)
        self.rank_ = self.factors_.rank
        self.n_iter_ = len(path)

    @property
    def coef_(self) -> Array:
        """The coefficients as a dense matrix, outputs × inputs; `factors_` is what is kept."""
        try:
            return self.factors_.to_dense()
        except AttributeError:
            raise AttributeError("coef_: call fit first.") from None

    def _linear(self, X: Any) -> Array:
        """The predictions z (N, K). O((d + K) r) a sample."""
        check_is_fitted(self)
        X = _common.features(self, X)
        A = self.factors_
        return (X @ (A.V * A.s)) @ A.U.T + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LowRankClassifier(ClassifierMixin, _LowRankLinear):
    """Multinomial logistic regression with a coefficient matrix W of low rank.

    Minimises the mean loss + alpha ‖W‖²_F over rank(W) ≤ rank, intercepts free. The rank is at
    most K − 1 for K classes; there it is plain logistic regression with C = 1 / (2 alpha N). Two
    classes have one row of coefficients, as in scikit-learn.

    Parameters
    ----------
    rank : int, default=10
        The highest rank; the path holds every rank up to it. A larger one than the number of
        classes or features allows is taken as the largest.
    alpha : float, default=1e-4
        The ridge. Zero is allowed; classes that a line can separate then have no optimum.
    fit_intercept : bool, default=True
    solver : Solver or None, default=None
        None is `Solver(refine=True)`.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads that the fit runs on, for the same bits with any number; None or −1 is all cores.
    verbose : int, default=0
        1 writes a line a second about the fit to standard error, 2 one for every step of it.

    Attributes
    ----------
    classes_ : array (K,)
    coef_ : array (K, d), or (1, d) for two classes
    intercept_ : array (K,) or (1,)
    factors_ : LowRank
        W as `U diag(s) Vᵀ`; predictions cost O((d + K) rank) a sample.
    path_ : Path
    rank_, n_iter_ : int
    """

    _contents, _may_lack = LINEAR | CLASSES, MAY_LACK

    def __init__(
        self,
        rank: int = 10,
        *,
        alpha: float = 1e-4,
        fit_intercept: bool = True,
        solver: Solver | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.rank = rank
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> LowRankClassifier:
        """Fit to X (N, d), dense or sparse, and labels y (N,)."""
        X, y = _common.training(self, X, y)
        X, y, w = _common.drop_weightless(X, y, sample_weight)
        self.classes_, codes = _common.labels(y)
        objective = Features(
            X,
            codes,
            self._loss(),
            sample_weight=w,
            intercept=self.fit_intercept,
        )
        self._minimise(objective, X.dtype)
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores (N, K), or (N,) for two classes, whose sign decides."""
        return _common.one_column_if_binary(self._linear(X))

    def predict_proba(self, X: Any) -> Array:
        """P(class | x), (N, K)."""
        scores = self.decision_function(X)
        return self._loss().probabilities(scores)

    def predict(self, X: Any) -> NDArray[Any]:
        scores = self._linear(X)
        best = scores[:, 0] > 0 if scores.shape[1] == 1 else np.argmax(scores, axis=1)
        return self.classes_[best.astype(int)]

    def _loss(self) -> Loss:
        K = len(self.classes_)
        return Logistic() if K == 2 else Multinomial(tuple(range(K)))


class ReducedRankRegressor(MultiOutputMixin, RegressorMixin, _LowRankLinear):
    """Several targets from one matrix of coefficients W of low rank, for any loss.

    Minimises the mean over samples of Σ_k loss(x W_kᵀ + b_k, y_k) + alpha ‖W‖²_F over
    rank(W) ≤ rank. With the squared loss this is reduced-rank regression (Anderson 1951).

    Parameters
    ----------
    rank : int, default=10
        As in `LowRankClassifier`; one target allows rank 1, which is ordinary regression.
    loss : str or Loss, default="squared"
        Any loss of `pygeco.losses` with one prediction a target.
    alpha : float, default=0.0
    fit_intercept : bool, default=True
    solver : Solver or None, default=None
        None is `Solver(refine=True)`.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads that the fit runs on, for the same bits with any number; None or −1 is all cores.
    verbose : int, default=0
        1 writes a line a second about the fit to standard error, 2 one for every step of it.

    Attributes
    ----------
    coef_ : array (K, d)
    intercept_ : array (K,)
    factors_ : LowRank
    loss_ : Loss
        The loss with whatever it estimates from the targets.
    path_ : Path
    rank_, n_iter_ : int
    """

    _contents, _may_lack = LINEAR | REGRESSOR, MAY_LACK

    def __init__(
        self,
        rank: int = 10,
        *,
        loss: str | Loss = "squared",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        solver: Solver | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.rank = rank
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> ReducedRankRegressor:
        """Fit to X (N, d), dense or sparse, and targets y (N, K) or (N,)."""
        X, y = _common.training(self, X, y, multi_output=True, y_numeric=True)
        X, y, w = _common.drop_weightless(X, y, sample_weight)
        objective = Features(
            X,
            y,
            loss_named(self.loss),
            sample_weight=w,
            intercept=self.fit_intercept,
        )
        self.loss_ = objective.risk.loss
        self.one_target_ = np.ndim(y) == 1
        self._minimise(objective, X.dtype)
        return self

    def predict(self, X: Any) -> Array:
        """Predictions on the scale of the targets, (N, K) or (N,)."""
        z = self._linear(X)
        z = self.loss_.response(z)
        return z[:, 0] if self.one_target_ else z
