"""Quadratic predictors: closed forms, the kernel machine, and what predict costs."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from pygeco import QuadraticClassifier, QuadraticRegressor
from pygeco.losses import Huber, SmoothedHinge


def form(model, x, k=0):
    """f_k(x) as the attributes say it, with the d × d matrix that predict never forms."""
    V, t, values = model.components_[k], model.shifts_[k], model.eigenvalues_[k]
    A = (V.T * values) @ V
    w = model.coef_[k] - 2 * V.T @ (values * t)
    return x @ A @ x + w @ x + model.intercept_[k] + values @ t**2


def data(N=150, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, d)) * [1, 5, 0.2, 1] + [0, 10, -3, 0]
    return X, rng


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


def test_two_classes_at_full_rank_are_logistic_regression_on_monomials():
    X, rng = data(seed=1)
    y = (X[:, 0] * X[:, 3] + 0.5 * rng.standard_normal(150) > 0).astype(int)
    alpha = 0.01
    model = QuadraticClassifier(rank=4, alpha=alpha, random_state=0).fit(X, y)
    Z = StandardScaler().fit_transform(X) / 2
    a, b = np.triu_indices(4)
    P = np.column_stack([Z, Z[:, a] * Z[:, b] * np.where(a == b, 1, np.sqrt(2))])
    full = LogisticRegression(C=1 / (2 * alpha * len(y)), tol=1e-10, max_iter=5000).fit(P, y)
    np.testing.assert_allclose(model.predict_proba(X), full.predict_proba(P), atol=1e-3)
    np.testing.assert_allclose(model.decision_function(X), full.decision_function(P), atol=1e-2)


def test_a_ring_around_a_cluster():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.where(np.linalg.norm(X[:, :2], axis=1) > 1.2, "ring", "core")
    assert LogisticRegression().fit(X, y).score(X, y) < 0.7
    model = QuadraticClassifier(rank=2, random_state=0).fit(X, y)
    assert model.score(X, y) >= 0.99
    np.testing.assert_array_equal(model.classes_, ["core", "ring"])
    assert np.all(model.eigenvalues_ > 0)


@pytest.mark.parametrize("loss", ["logistic", SmoothedHinge(1.0)])
def test_digits_beside_the_polynomial_kernel(loss):
    X, y = load_digits(n_class=4, return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train, test = slice(0, 350), slice(350, None)
    kernel = SVC(kernel="poly", degree=2).fit(X[train], y[train])
    model = QuadraticClassifier(rank=4, loss=loss, random_state=0).fit(X[train], y[train])
    assert model.score(X[test], y[test]) >= kernel.score(X[test], y[test]) - 0.01
    assert model.components_.shape == (4, 4, 64)
    assert hasattr(model, "predict_proba") == (loss == "logistic")


def test_probabilities_sum_to_one_even_far_away():
    X, rng = data(seed=2)
    y = rng.integers(0, 3, 150)
    model = QuadraticClassifier(rank=1, random_state=0).fit(X, y)
    p = model.predict_proba(np.vstack([X, 1e6 * X, -1e6 * X]))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[np.argmax(p[:150], axis=1)])


def test_robust_regression_ignores_outliers():
    X, rng = data(N=300, seed=3)
    y = (X[:, 0] + X[:, 3]) ** 2 + 0.1 * rng.standard_normal(300)
    wild = y + 100 * (rng.random(300) < 0.1)
    errors = [
        np.abs(QuadraticRegressor(2, loss=loss, random_state=0).fit(X, wild).predict(X) - y).mean()
        for loss in ("squared", Huber(0.3))
    ]
    assert errors[1] < 0.2 < errors[0]


def test_units_do_not_matter():
    X, rng = data(seed=4)
    y = X[:, 0] * X[:, 1] + rng.standard_normal(150)
    scale, shift = np.array([1e3, 1e-3, 7.0, 1.0]), np.array([5.0, 0.0, -1.0, 100.0])
    one = QuadraticRegressor(2, random_state=0).fit(X, y)
    other = QuadraticRegressor(2, random_state=0).fit(X * scale + shift, y)
    np.testing.assert_allclose(one.predict(X), other.predict(X * scale + shift), atol=1e-4)


def test_sparse_and_constant_columns():
    X, rng = data(seed=5)
    X = np.column_stack([X * (rng.random(X.shape) < 0.5), np.full(150, 3.0), np.zeros(150)])
    y = (X[:, 0] > 0).astype(int)
    dense = QuadraticClassifier(2, random_state=0).fit(X, y)
    assert np.all(np.isfinite(dense.decision_function(X)))
    thin = QuadraticClassifier(2, random_state=0).fit(sp.csr_array(X), y)
    assert thin.score(sp.csr_array(X), y) >= dense.score(X, y) - 0.05
    np.testing.assert_allclose(
        thin.decision_function(sp.csc_array(X)), thin.decision_function(X), atol=1e-8
    )


def test_objectives_fall_with_the_rank():
    X, rng = data(seed=6)
    y = rng.standard_normal(150)
    model = QuadraticRegressor(4, random_state=0).fit(X, y)
    (values,) = model.objectives_
    assert len(values) == 5
    assert list(values) == sorted(values, reverse=True)
    assert model.rank_ == 4


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda X, y: QuadraticClassifier().fit(X, 0 * y), r"^y: holds only one class"),
        (lambda X, y: QuadraticClassifier(rank=-1).fit(X, y), r"^rank: expected an integer"),
        (lambda X, y: QuadraticClassifier(alpha=-1).fit(X, y), r"^alpha: must be"),
        (lambda X, y: QuadraticRegressor().fit(X, y[:3]), r"inconsistent numbers of samples"),
        (lambda X, y: QuadraticRegressor(loss="logistic").fit(X, y + 5), r"^y: the logistic loss"),
        (lambda X, y: QuadraticClassifier().fit(X, y, sample_weight=-y), r"^sample_weight"),
    ],
)
def test_bad_input(fit, message):
    X, rng = data()
    with pytest.raises(ValueError, match=message):
        fit(X, rng.integers(0, 2, 150))
