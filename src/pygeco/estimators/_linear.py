"""What the linear models of low rank share."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.run import minimize
from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import Array
from pygeco.estimators._feature_model import FeatureModel, take_features
from pygeco.estimators._progress import attend_fit, take_seed
from pygeco.objectives import Features


class _LowRankLinear(FeatureModel):
    """z = x Aᵀ + b with rank(A) ≤ r, from one path of GECO."""

    def _minimize(self, objective: Features, dtype: Any) -> None:
        with attend_fit(self) as listener:
            path = minimize(
                objective,
                self._limit_rank(min(objective.shape)),
                Solver(refine=True) if self.solver is None else self.solver,
                penalty=self._penalty(),
                random_state=take_seed(self.random_state),
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
        X = take_features(self, X)
        A = self.factors_
        return (X @ (A.V * A.s)) @ A.U.T + self.intercept_
