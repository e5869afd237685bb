"""A low-rank part and a free linear part together, against least squares over both."""

import numpy as np
import pytest

from event_cases import Heard
from pygeco import Quadratic, Ridge
from pygeco.algorithm.joint import minimize_jointly
from pygeco.algorithm.refinements import Free

N, D = 60, 3


def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    y = rng.standard_normal(N)
    F = np.column_stack([X, np.ones(N)])
    return X, y, F


def test_at_full_rank_it_is_the_ridge_regression_of_all_products() -> None:
    X, y, F = problem()
    alpha = 1e-3
    free = Free(F, np.zeros((D + 1, 1)), np.full((D + 1, 1), alpha))
    objective = Quadratic(X, y, "squared")
    found = minimize_jointly(objective, D, free, penalty=Ridge(alpha))
    i, j = np.triu_indices(D)
    # xᵀAx has one coefficient A_ii a square and 2 A_ij a product, which count twice in ‖A‖²_F.
    products = X[:, i] * X[:, j] * np.where(i == j, 1.0, np.sqrt(2.0))
    design = np.vstack([np.column_stack([products, F]) / np.sqrt(N), np.sqrt(alpha) * np.eye(10)])
    target = np.append(y / np.sqrt(N), np.zeros(10))
    best = np.sum((target - design @ np.linalg.lstsq(design, target, rcond=None)[0]) ** 2)
    assert found.objectives[-1] == pytest.approx(best, rel=1e-6)


def test_the_objective_never_rises_and_starts_with_the_linear_part_alone() -> None:
    X, y, F = problem()
    free = Free(F, np.zeros((D + 1, 1)), np.zeros((D + 1, 1)))
    heard = Heard()
    heard.on_start(None, 2)
    found = minimize_jointly(Quadratic(X, y, "squared"), 2, free, listener=heard)
    alone = y - F @ np.linalg.lstsq(F, y, rcond=None)[0]
    assert found.objectives[0] == pytest.approx(np.mean(alone**2), rel=1e-5)
    assert np.all(np.diff(found.objectives) <= 1e-12)
    assert len(heard.events) == len(found.objectives) - 1
    assert found.A.rank <= 2
