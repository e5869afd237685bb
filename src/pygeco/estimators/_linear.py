"""What the linear models of low rank share."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.path import Path, Stop
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.refinements import promise_decrease, refine
from pygeco.algorithm.run import minimize
from pygeco.algorithm.solver import Solver, check_solver
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.errors.telling import warn_caller
from pygeco.estimators._feature_model import FeatureModel, make_ridge, take_features
from pygeco.estimators._own_residuals import Fit, fit_by_residuals
from pygeco.estimators._progress import attend_fit, take_seed
from pygeco.estimators._row_span import RowSpan, find_row_span
from pygeco.estimators.feature_choice import ROUGH, Fold, Places, Question, list_alphas
from pygeco.losses import Loss, Multinomial
from pygeco.objectives import Features

MAX_PROMISE = 1e-4  # of the objective of no model, by which a fit at rest may still fall


class _LowRankLinear(FeatureModel):
    """z = x Aᵀ + b with rank(A) ≤ r, from one path of GECO."""

    fit_intercept: bool

    def _minimize(self, X: Any, y: Any, weights: Array | None, given: Loss) -> Loss:
        """One path; the loss with whatever it estimates."""
        solver = Solver(refine=True) if self.solver is None else check_solver(self.solver)
        with attend_fit(self) as listener:
            seed = take_seed(self.random_state)
            ask = partial(self._ask, X, y, weights, given, solver, seed)
            rank = self._settle(X, y, min(_count_outputs(y, given), X.shape[1]), seed, ask)
            penalty = make_ridge(self.alpha_)
            span = find_row_span(X, weights, center=self.fit_intercept)

            def fit(loss: Loss) -> Fit:
                objective = Features(
                    span.Z, y, loss, sample_weight=weights, intercept=self.fit_intercept
                )
                path = minimize(
                    objective,
                    min(rank, *objective.shape),
                    solver,
                    penalty=penalty,
                    random_state=seed,
                    observer=listener,
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

    def _ask(
        self,
        X: Any,
        y: Any,
        weights: Array | None,
        given: Loss,
        solver: Solver,
        seed: int,
        ranks: range,
    ) -> Question:
        """What is tried where the ridge or the rank is to be found."""
        every = Features(X, y, given, sample_weight=weights, intercept=self.fit_intercept)
        bend = every.row_curvature(LowRank.zero(every.shape))
        loss = every.risk.loss

        def fold(rest: Places, held: Places, ranks: range) -> Fold:
            some = None if weights is None else weights[rest]
            span = find_row_span(X[rest], some, center=self.fit_intercept)
            objective = Features(
                span.Z, y[rest], loss, sample_weight=some, intercept=self.fit_intercept
            )
            most = min(ranks[-1], *objective.shape)
            if isinstance(loss, Multinomial):
                most = min(most, objective.shape[0] - 1)
            settings = {"solver": solver, "random_state": seed}
            return _LinearFold(span, objective, X[held], [*ranks], most, settings)

        alphas = list_alphas(float(np.trace(bend) if bend.ndim == 2 else bend.sum()))
        return Question(alphas, ranks, loss, every.risk.y, weights, fold)

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


class _LinearFold:
    """The fits without some samples: a path first, then each rank from its fit before."""

    def __init__(
        self,
        span: RowSpan,
        objective: Features,
        held: Any,
        ranks: list[int],
        most: int,
        settings: dict[str, Any],
    ) -> None:
        self.span, self.objective, self.held = span, objective, held
        self.ranks, self.most, self.settings = ranks, most, settings
        self.found: list[LowRank] = []

    def predict(self, alpha: float) -> list[Array]:
        penalty = make_ridge(alpha)
        if self.found and self.found[-1].rank == self.most:
            self.found = [refine(self.objective, A, penalty, ROUGH).A for A in self.found]
        else:
            path = minimize(self.objective, self.most, penalty=penalty, **self.settings)
            every = [LowRank.zero(self.objective.shape), *(step.A for step in path)]
            self.found = [every[min(rank, len(every) - 1)] for rank in self.ranks]
        return [self._predict(A) for A in self.found]

    def _predict(self, A: LowRank) -> Array:
        there = LowRank(A.U, A.s, self.span.lift(A.V))
        b = self.span.move_intercepts(self.objective.intercepts(A), there)
        z: Array = (self.held @ (there.V * there.s)) @ there.U.T + b
        return z


def _count_outputs(y: Array, loss: Loss) -> int:
    """The rows of A."""
    if isinstance(loss, Multinomial):
        return len(loss.classes or ())
    return y.shape[1] if y.ndim == 2 else 1


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
