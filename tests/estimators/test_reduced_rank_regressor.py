"""Reduced-rank regression, against its closed form and scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import (
    HuberRegressor,
    LinearRegression,
    PoissonRegressor,
    Ridge,
)

from feature_cases import multi_target
from pygeco import ReducedRankRegressor
from pygeco.losses import Huber, Poisson


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_closed_form_of_reduced_rank_regression(rank, fit_intercept):
    """The fitted values of least squares, projected on their leading right singular vectors."""
    X, Y = multi_target()
    center = (X.mean(0), Y.mean(0)) if fit_intercept else (0, 0)
    Xc, Yc = X - center[0], Y - center[1]
    W = np.linalg.lstsq(Xc, Yc)[0]
    _, _, Vt = np.linalg.svd(Xc @ W)
    best = W @ Vt[:rank].T @ Vt[:rank]
    expected = np.sum((Xc @ best - Yc) ** 2) / len(X)
    model = ReducedRankRegressor(rank, fit_intercept=fit_intercept, random_state=0).fit(X, Y)
    assert model.path_[-1].objective == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose(model.coef_, best.T, atol=1e-3)
    assert np.linalg.matrix_rank(model.coef_) == rank


def test_full_rank_is_least_squares_and_ridge():
    X, Y = multi_target()
    ols = LinearRegression().fit(X, Y)
    ours = ReducedRankRegressor(5, random_state=0).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), ols.predict(X), atol=1e-4)
    ridge = Ridge(alpha=0.1 * len(X), tol=1e-10).fit(X, Y)
    ours = ReducedRankRegressor(5, alpha=0.1, random_state=0).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, ridge.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, ridge.intercept_, atol=1e-4)


def test_one_target_under_other_losses():
    X, Y = multi_target(N=200)
    y = Y[:, 0] + 30 * (np.arange(200) % 10 == 0)
    huber = ReducedRankRegressor(loss=Huber(1.0), random_state=0).fit(X, y)
    theirs = HuberRegressor(epsilon=1.35, alpha=0, max_iter=1000).fit(X, y)
    plain = LinearRegression().fit(X, y)
    clean = np.arange(200) % 10 != 0
    errors = [np.abs(m.predict(X) - y)[clean].mean() for m in (huber, theirs, plain)]
    assert errors[0] <= 1.02 * errors[1] < errors[2]

    counts = np.random.default_rng(0).poisson(np.exp(0.3 * X[:, 0] - 0.2 * X[:, 1]))
    ours = ReducedRankRegressor(loss=Poisson(), random_state=0).fit(X, counts)
    theirs = PoissonRegressor(alpha=0, tol=1e-10, max_iter=1000).fit(X, counts)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4)
    assert ours.predict(X).shape == counts.shape


def test_sparse_targets_are_those_of_the_dense_array():
    X, Y = multi_target()
    Y[np.abs(Y) < 1] = 0
    dense = ReducedRankRegressor(2, random_state=0).fit(X, Y)
    thin = ReducedRankRegressor(2, random_state=0).fit(X, sp.csr_array(Y))
    np.testing.assert_array_equal(thin.predict(X), dense.predict(X))


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_units_of_the_targets_do_not_matter(unit):
    X, Y = multi_target()
    model = ReducedRankRegressor(5, random_state=0).fit(X, Y * unit)
    found = model.predict(X) / unit
    np.testing.assert_allclose(found, LinearRegression().fit(X, Y).predict(X), atol=1e-4)
