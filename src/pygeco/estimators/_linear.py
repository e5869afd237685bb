"""What the linear models of low rank share."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.run import minimize
from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import Array
from pygeco.estimators import _common
from pygeco.estimators._progress import attend_fit
from pygeco.io.model_file import Saveable
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
