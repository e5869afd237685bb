"""What the quadratic predictors f(x) = Σ λ (vᵀx − t)² + wᵀx + b share."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.events import Listener
from pygeco.algorithm.joint import Affine, minimize_jointly
from pygeco.algorithm.refinements import Free, refine_jointly
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.estimators._feature_model import FeatureModel, make_ridge, take_features
from pygeco.estimators._own_residuals import Fit, fit_by_residuals
from pygeco.estimators._progress import attend_fit, take_seed
from pygeco.estimators._row_span import find_row_span
from pygeco.estimators.feature_choice import ROUGH, Fold, Places, Question, list_alphas
from pygeco.losses import Loss, find_loss
from pygeco.objectives import Quadratic
from pygeco.objectives.risk import Risk
from pygeco.objectives.validation import check_weights, normalize_weights


class _QuadraticForms(FeatureModel):
    """K functions xᵀAx + wᵀx + b with rank(A) ≤ r, each fitted alone on standardized features."""

    loss: str | Loss
    _least_rank = 0  # w and b are left where products say nothing

    def _fit_forms(self, X: Any, targets: list[Any], sample_weight: Array | None) -> None:
        Z, center, scale = _standardize(X, sample_weight)
        given = find_loss(self.loss)
        with attend_fit(self) as listener:
            seed = take_seed(self.random_state)
            labels = np.argmax(np.column_stack([0 * targets[0], *targets]), axis=1)
            ask = partial(self._ask, X, Z, targets, sample_weight, seed)
            rank = self._settle(X, labels, X.shape[1], seed, ask)
            span = find_row_span(Z)
            found = [
                self._one(span.Z, y, given, sample_weight, listener, rank, seed) for y in targets
            ]
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
        self,
        X: Any,
        y: Any,
        given: Loss,
        sample_weight: Array | None,
        listener: Listener,
        rank: int,
        seed: int,
    ) -> Fit:
        d = X.shape[1]
        rank, penalty = min(rank, d), make_ridge(self.alpha_)

        def fit(loss: Loss) -> Fit:
            objective = Quadratic(X, y, loss, sample_weight=sample_weight)
            free = _make_free(objective, self.alpha_)
            settings: dict[str, Any] = {"penalty": penalty, "random_state": seed}
            found = minimize_jointly(
                objective, rank, free, self.solver, listener=listener, **settings
            )
            r = found.A.rank
            size = r * d - r * (r - 1) // 2 + d + 1
            return Fit(found, objective.risk, objective.measure(found.A) + free.F @ found.c, size)

        return fit_by_residuals(given, sample_weight, fit)

    def _ask(
        self,
        X: Any,
        Z: Any,
        targets: list[Any],
        weights: Array | None,
        seed: int,
        ranks: range,
    ) -> Question:
        """What is tried where the ridge or the rank is to be found."""
        given = find_loss(self.loss)
        risks = [Quadratic(Z, y, given, sample_weight=weights).risk for y in targets]
        loss = risks[-1].loss

        def fold(rest: Places, held: Places, ranks: range) -> Fold:
            some = None if weights is None else weights[rest]
            rows, center, scale = _standardize(X[rest], some)
            span = find_row_span(rows)
            others = _scale(X[held], center, scale)
            others = others if span.basis is None else others @ span.basis
            objectives = [Quadratic(span.Z, y[rest], loss, sample_weight=some) for y in targets]
            settings = {"solver": self.solver, "random_state": seed}
            return _QuadraticFold(objectives, others, [*ranks], settings)

        alphas = list_alphas(float(np.mean([_find_bend(risk) for risk in risks])))
        y = np.column_stack([risk.y for risk in risks])
        return Question(alphas, ranks, loss, y, weights, fold)

    def _forms(self, X: Any) -> Array:
        """f(x) for each of the K functions, (N, K). O(K r d) a sample; nothing d × d."""
        check_is_fitted(self)
        X = take_features(self, X)
        z = X @ self.coef_.T + self.intercept_
        for k, (V, t) in enumerate(zip(self.components_, self.shifts_, strict=True)):
            z[:, k] += (X @ V.T - t) ** 2 @ self.eigenvalues_[k]
        return z


class _QuadraticFold:
    """The fits without some samples: rank by rank first, then each from its fit before."""

    def __init__(
        self, objectives: list[Quadratic], held: Any, ranks: list[int], settings: dict[str, Any]
    ) -> None:
        self.objectives, self.held, self.ranks, self.settings = objectives, held, ranks, settings
        self.most = min(ranks[-1], objectives[0].shape[0])
        self.found: list[list[tuple[LowRank, Array]]] = [[] for _ in objectives]

    def predict(self, alpha: float) -> list[Array]:
        forms = []
        for k, objective in enumerate(self.objectives):
            self.found[k] = self._fit(objective, self.found[k], alpha)
            forms.append([self._predict(A, c) for A, c in self.found[k]])
        return [np.column_stack(each) for each in zip(*forms, strict=True)]

    def _fit(
        self, objective: Quadratic, found: list[tuple[LowRank, Array]], alpha: float
    ) -> list[tuple[LowRank, Array]]:
        free, penalty = _make_free(objective, alpha), make_ridge(alpha)
        if not found or found[-1][0].rank < self.most:
            every = minimize_jointly(
                objective, self.most, free, penalty=penalty, **self.settings
            ).steps
            return [every[min(rank, len(every) - 1)] for rank in self.ranks]
        moved = [refine_jointly(objective, A, penalty, free._replace(c=c), ROUGH) for A, c in found]
        return [(one.A, one.c) for one in moved]

    def _predict(self, A: LowRank, c: Array) -> Array:
        z: Array = ((self.held @ A.U) * (self.held @ A.V)) @ A.s
        return z + self.held @ c[:-1, 0] + c[-1, 0]


def _make_free(objective: Quadratic, alpha: float) -> Free:
    """The linear part wᵀx + b with its ridge, at the best constant.

    From zero, a descent rests at the mean of far targets.
    """
    X = objective.X
    rows, d = X.shape
    ones = np.ones((rows, 1))
    F: Any = sp.hstack([X, ones]).tocsr() if sp.issparse(X) else np.column_stack([X, ones])
    c, ridge = np.zeros((d + 1, 1)), np.full((d + 1, 1), alpha)
    c[-1] = replace(objective.risk, intercept=True).settle(np.zeros((rows, 1)))[1]
    ridge[-1] = 0.0
    return Free(F, c, ridge)


def _find_bend(risk: Risk) -> float:
    """ℓ″ in the mean at the best constant."""
    risk = replace(risk, intercept=True)
    at, _ = risk.settle(np.zeros((len(risk.weights), 1)))
    return float(risk.curvature(at, stiff=True).diagonal.sum())


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
    return _scale(X, center, scale), center, scale


def _scale(X: Any, center: Array, scale: Array) -> Any:
    """(X − center) / scale; a sparse X has no center."""
    return X.multiply(1 / scale).tocsr() if sp.issparse(X) else (X - center) / scale
