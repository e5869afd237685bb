"""What the linear models of low rank share."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.path import Path, Stop
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.refinements import promise_decrease
from pygeco.algorithm.run import minimize
from pygeco.algorithm.solver import Solver, check_solver
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.errors.telling import warn_caller
from pygeco.estimators._feature_model import FeatureModel, take_features
from pygeco.estimators._own_residuals import Fit, fit_by_residuals
from pygeco.estimators._progress import attend_fit, take_seed
from pygeco.estimators._row_span import find_row_span
from pygeco.losses import Loss
from pygeco.objectives import Features

MAX_PROMISE = 1e-4  # of the objective of no model, by which a fit at rest may still fall


class _LowRankLinear(FeatureModel):
    """z = x Aᵀ + b with rank(A) ≤ r, from one path of GECO."""

    fit_intercept: bool

    def _minimize(self, X: Any, y: Any, weights: Array | None, given: Loss) -> Loss:
        """One path; the loss with whatever it estimates."""
        solver = Solver(refine=True) if self.solver is None else check_solver(self.solver)
        penalty = self._penalty()
        with attend_fit(self) as listener:
            seed = take_seed(self.random_state)
            span = find_row_span(X, weights, center=self.fit_intercept)

            def fit(loss: Loss) -> Fit:
                objective = Features(
                    span.Z, y, loss, sample_weight=weights, intercept=self.fit_intercept
                )
                rank = self._limit_rank(min(objective.shape))
                path = minimize(
                    objective, rank, solver, penalty=penalty, random_state=seed, observer=listener
                )
                at, _ = objective.risk.settle(objective.measure(path.A))
                (K, d), r = objective.shape, path.A.rank
                size = r * (K + d - r) + K * self.fit_intercept
                return Fit((objective, path), objective.risk, at, size)

            objective, path = fit_by_residuals(given, weights, fit).found
        if solver.refine or path.stop is Stop.STALLED:
            _warn_unless_at_rest(objective, path, penalty)
        self.path_ = span.lift_path(path)
        b = span.move_intercepts(objective.intercepts(path.A), self.path_.A)
        self.factors_ = self.path_.A.svd().astype(X.dtype)
        self.intercept_ = b.astype(X.dtype)
        self.rank_ = self.factors_.rank
        self.n_iter_ = len(path)
        return objective.risk.loss

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
        X = take_features(self, X)
        A = self.factors_
        return (X @ (A.V * A.s)) @ A.U.T + self.intercept_


def _warn_unless_at_rest(objective: Features, path: Path, penalty: Penalty | None) -> None:
    """Warn where the slope at the end promises more: what the path had taken for its rest."""
    start = abs(objective.value(LowRank.zero(objective.shape)))
    fall = promise_decrease(objective, path.A, penalty, whole=path.stop is Stop.STALLED)
    if fall > MAX_PROMISE * start:
        advice = (
            "bring the columns of X to one scale, with scikit-learn's StandardScaler for instance"
            if penalty is not None or objective.risk.loss.regression
            else "give alpha, without which labels that can be told apart have no minimum"
        )
        warn_caller(
            f"The fit of rank {path.A.rank} did not converge: by its slope the objective can fall "
            f"by about {fall:.2g}, and is {start:.2g} without a model; {advice}.",
            ConvergenceWarning,
        )
