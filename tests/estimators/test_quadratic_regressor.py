"""Quadratic regression, against ridge on monomials."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from feature_cases import data
from pygeco import QuadraticRegressor
from pygeco.losses import Huber


def form(model, x, k=0):
    """f_k(x) as the attributes say it, with the d × d matrix that predict never forms."""
    V, t, values = model.components_[k], model.shifts_[k], model.eigenvalues_[k]
    A = (V.T * values) @ V
    w = model.coef_[k] - 2 * V.T @ (values * t)
    return x @ A @ x + w @ x + model.intercept_[k] + values @ t**2


def test_recovers_a_quadratic_function_exactly():
    X, rng = data()
    u, w = rng.standard_normal(4), rng.standard_normal(4)
    y = (X @ u) ** 2 - (X[:, 0] - 2 * X[:, 3]) ** 2 + X @ w + 7
    model = QuadraticRegressor(rank=2, alpha=0.0, random_state=0).fit(X, y)
    assert model.score(X, y) > 1 - 1e-6
    assert sorted(np.sign(model.eigenvalues_[0])) == [-1, 1]
    for x in X[:5]:
        assert model.predict(x[None])[0] == pytest.approx(form(model, x), rel=1e-8)


def test_full_rank_is_ridge_on_monomials_of_standardised_features():
    X, rng = data()
    y, alpha = rng.standard_normal(150), 0.02
    model = QuadraticRegressor(rank=4, alpha=alpha, random_state=0).fit(X, y)
    Z = StandardScaler().fit_transform(X) / 2  # √d = 2
    P = PolynomialFeatures(2, include_bias=False).fit_transform(Z)
    powers = PolynomialFeatures(2, include_bias=False).fit(Z).powers_
    P = P * np.where(np.sort(powers, axis=1)[:, -2] == 1, np.sqrt(2), 1)  # ‖A‖²_F counts both
    ridge = Ridge(alpha=alpha * len(y), tol=1e-10).fit(P, y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(P), atol=2e-4)


def test_robust_regression_ignores_outliers():
    X, rng = data(N=300, seed=3)
    y = (X[:, 0] + X[:, 3]) ** 2 + 0.1 * rng.standard_normal(300)
    wild = y + 100 * (rng.random(300) < 0.1)
    errors = [
        np.abs(QuadraticRegressor(2, loss=loss, random_state=0).fit(X, wild).predict(X) - y).mean()
        for loss in ("squared", Huber(0.3))
    ]
    assert errors[1] < 0.2 < errors[0]
