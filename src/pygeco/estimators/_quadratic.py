"""What the quadratic predictors f(x) = Σ λ (vᵀx − t)² + wᵀx + b share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.events import Listener
from pygeco.algorithm.joint import Affine, minimize_jointly
from pygeco.algorithm.refinements import Free
from pygeco.arrays.low_rank import Array
from pygeco.estimators._feature_model import FeatureModel, take_features
from pygeco.estimators._own_residuals import Fit, fit_by_residuals
from pygeco.estimators._progress import attend_fit, take_seed
from pygeco.estimators._row_span import find_row_span
from pygeco.losses import Loss, find_loss
from pygeco.objectives import Quadratic
from pygeco.objectives.validation import check_weights, normalize_weights


class _QuadraticForms(FeatureModel):
    """K functions xᵀAx + wᵀx + b with rank(A) ≤ r, each fitted alone on standardized features."""

    loss: str | Loss

    def _fit_forms(self, X: Any, targets: list[Any], sample_weight: Array | None) -> None:
        Z, center, scale = _standardize(X, sample_weight)
        given = find_loss(self.loss)
        with attend_fit(self) as listener:
            span = find_row_span(Z)
            found = [self._one(span.Z, y, given, sample_weight, listener) for y in targets]
        fits: list[Affine] = [fit.found for fit in found]
        self.loss_ = found[-1].risk.loss
        rank = max(fit.A.rank for fit in fits)
        directions = np.zeros((len(fits), rank, X.shape[1]), dtype=X.dtype)
        values = np.zeros((len(fits), rank), dtype=X.dtype)
        for k, fit in enumerate(fits):
            signs = np.sign(np.sum(fit.A.U * fit.A.V, axis=0))
            directions[k, : fit.A.rank] = (span.lift(fit.A.U) / scale[:, None]).T
            values[k, : fit.A.rank] = fit.A.s * signs
        slopes = np.stack([span.lift(fit.c[:-1])[:, 0] / scale for fit in fits])
        self.components_, self.eigenvalues_ = directions, values
        self.shifts_ = (directions @ center).astype(X.dtype)
        self.coef_ = slopes.astype(X.dtype)
        self.intercept_ = np.array([fit.c[-1, 0] for fit in fits]) - slopes @ center
        self.intercept_ = self.intercept_.astype(X.dtype)
        self.objectives_ = [fit.objectives for fit in fits]
        self.rank_ = rank
        self.n_iter_ = max(len(fit.objectives) - 1 for fit in fits)

    def _one(
        self, X: Any, y: Any, given: Loss, sample_weight: Array | None, listener: Listener
    ) -> Fit:
        rows, d = X.shape
        ones = np.ones((rows, 1))
        F: Any = sp.hstack([X, ones]).tocsr() if sp.issparse(X) else np.column_stack([X, ones])
        penalized = np.full((d + 1, 1), self.alpha)
        penalized[-1] = 0.0
        rank, penalty, seed = self._limit_rank(d), self._penalty(), take_seed(self.random_state)

        def fit(loss: Loss) -> Fit:
            objective = Quadratic(X, y, loss, sample_weight=sample_weight)
            c = np.zeros((d + 1, 1))
            # At the best constant: from zero, a descent rests at the mean of far targets.
            c[-1] = replace(objective.risk, intercept=True).settle(np.zeros((rows, 1)))[1]
            free = Free(F, c, penalized)
            settings: dict[str, Any] = {"penalty": penalty, "random_state": seed}
            found = minimize_jointly(
                objective, rank, free, self.solver, listener=listener, **settings
            )
            r = found.A.rank
            size = r * d - r * (r - 1) // 2 + d + 1
            return Fit(found, objective.risk, objective.measure(found.A) + F @ found.c, size)

        return fit_by_residuals(given, sample_weight, fit)

    def _forms(self, X: Any) -> Array:
        """f(x) for each of the K functions, (N, K). O(K r d) a sample; nothing d × d."""
        check_is_fitted(self)
        X = take_features(self, X)
        z = X @ self.coef_.T + self.intercept_
        for k, (V, t) in enumerate(zip(self.components_, self.shifts_, strict=True)):
            z[:, k] += (X @ V.T - t) ** 2 @ self.eigenvalues_[k]
        return z


def _standardize(X: Any, sample_weight: ArrayLike | None) -> tuple[Any, Array, Array]:
    """(X − center) / scale with scale = √d standard deviations, so that rows have norm about 1."""
    rows, d = X.shape
    w = normalize_weights(check_weights(sample_weight, rows), rows)[:, 0]
    X = sp.csr_array(X, dtype=float) if sp.issparse(X) else X.astype(float)
    center = np.zeros(d) if sp.issparse(X) else w @ X
    moved = X if sp.issparse(X) else X - center
    spread = np.sqrt(w @ (moved * moved))
    # A column that rounding alone spreads is constant.
    flat = spread <= 1e-12 * np.abs(center)
    scale = np.where(flat, 1.0, spread) * np.sqrt(d)
    return (moved.multiply(1 / scale).tocsr() if sp.issparse(X) else moved / scale), center, scale
