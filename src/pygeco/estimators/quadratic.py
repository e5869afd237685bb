"""Quadratic predictors f(x) = Σ λ (vᵀx − t)² + wᵀx + b: the degree-2 polynomial network."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.events import Listener
from pygeco.algorithm.joint import Affine, minimize_jointly
from pygeco.algorithm.refinements import Free
from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import Array
from pygeco.estimators import _common
from pygeco.estimators._contents import CLASSES, MAY_LACK, QUADRATIC
from pygeco.estimators._progress import attend_fit
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_file import Saveable
from pygeco.losses import Loss, sigmoid
from pygeco.losses import named as loss_named
from pygeco.objectives import Quadratic
from pygeco.objectives.validation import shares, weights


class _QuadraticForms(Saveable, BaseEstimator):
    """K functions xᵀAx + wᵀx + b with rank(A) ≤ r, each fitted alone on standardised features."""

    def _fit_forms(self, X: Any, targets: list[Any], sample_weight: ArrayLike | None) -> None:
        params: Any = self
        Z, centre, scale = _standardised(X, sample_weight)
        fits: list[Affine] = []
        with attend_fit(self) as listener:
            for y in targets:
                objective = Quadratic(Z, y, params.loss, sample_weight=sample_weight)
                fits.append(self._one(objective, listener))
        self.loss_ = objective.risk.loss
        rank = max(fit.A.rank for fit in fits)
        directions = np.zeros((len(fits), rank, X.shape[1]), dtype=X.dtype)
        values = np.zeros((len(fits), rank), dtype=X.dtype)
        for k, fit in enumerate(fits):
            signs = np.sign(np.sum(fit.A.U * fit.A.V, axis=0))
            directions[k, : fit.A.rank] = (fit.A.U / scale[:, None]).T
            values[k, : fit.A.rank] = fit.A.s * signs
        slopes = np.stack([fit.c[:-1, 0] / scale for fit in fits])
        self.components_, self.eigenvalues_ = directions, values
        self.shifts_ = (directions @ centre).astype(X.dtype)
        self.coef_ = slopes.astype(X.dtype)
        self.intercept_ = np.array([fit.c[-1, 0] for fit in fits]) - slopes @ centre
        self.intercept_ = self.intercept_.astype(X.dtype)
        self.objectives_ = [fit.objectives for fit in fits]
        self.rank_ = rank
        self.n_iter_ = max(len(fit.objectives) - 1 for fit in fits)

    def _one(self, objective: Quadratic, listener: Listener) -> Affine:
        params: Any = self
        rows, d = objective.X.shape
        ones = np.ones((rows, 1))
        stack = sp.hstack([objective.X, ones]).tocsr() if sp.issparse(objective.X) else None
        F = np.column_stack([objective.X, ones]) if stack is None else stack
        penalised = np.full((d + 1, 1), params.alpha)
        penalised[-1] = 0.0
        return minimize_jointly(
            objective,
            _common.capped(params.rank, d),
            Free(F, np.zeros((d + 1, 1)), penalised),
            params.solver,
            penalty=_common.ridge(params.alpha),
            random_state=_common.seed(params.random_state),
            listener=listener,
        )

    def _forms(self, X: Any) -> Array:
        """f(x) for each of the K functions, (N, K). O(K r d) a sample; nothing d × d."""
        check_is_fitted(self)
        X = _common.features(self, X)
        z = X @ self.coef_.T + self.intercept_
        for k, (V, t) in enumerate(zip(self.components_, self.shifts_, strict=True)):
            z[:, k] += (X @ V.T - t) ** 2 @ self.eigenvalues_[k]
        return z

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_logistic(estimator: Any) -> bool:
    fitted = vars(estimator).get("loss_")  # of the fit, whatever `set_params` has changed since
    return (fitted or loss_named(estimator.loss)).name == "logistic"


class QuadraticClassifier(ClassifierMixin, _QuadraticForms):
    """Classes by quadratic functions xᵀAx + wᵀx + b with rank(A) ≤ rank, one against the rest.

    Each minimises the mean loss + alpha (‖A‖²_F + ‖w‖²) on features of mean zero, all divided by
    their standard deviation and √d (sparse features are not centred). w and b are free of the
    rank. `predict` costs O(rank · d) a sample and class.

    Parameters
    ----------
    rank : int, default=8
    loss : str or Loss, default="logistic"
        A loss of labels ±1: "logistic" (which gives probabilities) or "smoothed-hinge".
    alpha : float, default=1e-5
    solver : Solver or None, default=None
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads that the fit runs on, for the same bits with any number; None or −1 is all cores.
    verbose : int, default=0
        1 writes a line a second about the fit to standard error, 2 one for every step of it.

    Attributes
    ----------
    classes_ : array (K,)
    components_, eigenvalues_, shifts_, coef_, intercept_ : arrays
        f_k(x) = Σ_i eigenvalues_[k, i] (components_[k, i] · x − shifts_[k, i])² + coef_[k] · x +
        intercept_[k]. One function for two classes, else one a class.
    objectives_ : list of tuples
        What was minimised, after each rank.
    rank_, n_iter_ : int
    """

    _contents, _may_lack = QUADRATIC | CLASSES, MAY_LACK

    def __init__(
        self,
        rank: int = 8,
        *,
        loss: str | Loss = "logistic",
        alpha: float = 1e-5,
        solver: Solver | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.rank = rank
        self.loss = loss
        self.alpha = alpha
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> QuadraticClassifier:
        """Fit to X (N, d), dense or sparse, and labels y (N,)."""
        X, y = _common.training(self, X, y)
        X, y, w = _common.drop_weightless(X, y, sample_weight)
        self.classes_, codes = _common.labels(y)
        chosen = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        self._fit_forms(X, [np.where(codes == k, 1.0, -1.0) for k in chosen], w)
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores (N, K), or (N,) for two classes, whose sign decides."""
        return _common.one_column_if_binary(self._forms(X))

    def predict(self, X: Any) -> NDArray[Any]:
        scores = self._forms(X)
        best = scores[:, 0] > 0 if scores.shape[1] == 1 else np.argmax(scores, axis=1)
        return self.classes_[best.astype(int)]

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """P(class | x), (N, K): each function's own probability, scaled to sum to one."""
        p = sigmoid(self._forms(X))
        if p.shape[1] == 1:
            return np.column_stack([1 - p, p])
        total = p.sum(axis=1, keepdims=True)
        return np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1])


class QuadraticRegressor(RegressorMixin, _QuadraticForms):
    """A target by a quadratic function xᵀAx + wᵀx + b with rank(A) ≤ rank, for any loss.

    Parameters and attributes are those of `QuadraticClassifier`, with one function.
    """

    _contents, _may_lack = QUADRATIC, MAY_LACK

    def __init__(
        self,
        rank: int = 8,
        *,
        loss: str | Loss = "squared",
        alpha: float = 1e-5,
        solver: Solver | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.rank = rank
        self.loss = loss
        self.alpha = alpha
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> QuadraticRegressor:
        """Fit to X (N, d), dense or sparse, and targets y (N,)."""
        X, y = _common.training(self, X, y, y_numeric=True)
        X, y, w = _common.drop_weightless(X, y, sample_weight)
        self._fit_forms(X, [y], w)
        return self

    def predict(self, X: Any) -> Array:
        """Predictions on the scale of the targets, (N,)."""
        z = self._forms(X)[:, 0]
        return self.loss_.response(z)


def _standardised(X: Any, sample_weight: ArrayLike | None) -> tuple[Any, Array, Array]:
    """(X − centre) / scale with scale = √d standard deviations, so that rows have norm about 1."""
    rows, d = X.shape
    w = shares(weights(sample_weight, rows), rows)[:, 0]
    X = sp.csr_array(X, dtype=float) if sp.issparse(X) else X.astype(float)
    centre = np.zeros(d) if sp.issparse(X) else w @ X
    moved = X if sp.issparse(X) else X - centre
    spread = np.sqrt(w @ (moved * moved))
    # A column that rounding alone spreads is constant.
    flat = spread <= 1e-12 * np.abs(centre)
    scale = np.where(flat, 1.0, spread) * np.sqrt(d)
    return (moved.multiply(1 / scale).tocsr() if sp.issparse(X) else moved / scale), centre, scale
