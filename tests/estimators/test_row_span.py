"""Models of more features than samples: the closed forms, at the cost of the samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, LogisticRegression

from pygeco import Features, LowRankClassifier, QuadraticRegressor, ReducedRankRegressor
from pygeco.estimators import _row_span
from pygeco.estimators._row_span import find_row_span


def wide(rows=16, columns=70, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 3)) @ rng.standard_normal((3, columns)) + 5
    return X + rng.standard_normal((rows, columns)), rng


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("size", [1e-150, 1.0, 1e90])
def test_as_many_coordinates_as_samples_say_it_all(center, size):
    X, rng = wide()
    X[:, 3] = X[:, 4] = 7.0
    w = rng.integers(1, 4, len(X)).astype(float)
    span = find_row_span(size * X, w, center=center)
    mean = span.center if center else np.zeros(X.shape[1])
    k = 15 if center else 16  # deviations from a mean have one direction less
    assert span.Z.shape == (16, k)
    np.testing.assert_allclose(span.basis.T @ span.basis, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(span.Z @ span.basis.T + mean, size * X, atol=1e-12 * size)
    if center:
        np.testing.assert_allclose(mean, size * np.average(X, axis=0, weights=w), rtol=1e-12)


def test_where_it_saves_nothing_samples_stay_as_they_are(monkeypatch):
    X, _ = wide(40)
    for given in (X, sp.csr_array(X[:10])):
        assert find_row_span(given).Z is given
    monkeypatch.setattr(_row_span, "MAX_SAMPLES", 9)
    assert find_row_span(X[:10]).Z.shape == (10, 70)
    assert find_row_span(X[:9]).Z.shape == (9, 9)


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_a_row_of_weight_three_is_three_rows(alpha):
    X, rng = wide(10, 24)
    Y, w = rng.standard_normal((10, 2)), rng.integers(1, 6, 10)
    model = ReducedRankRegressor(2, alpha=alpha, random_state=0)
    weighted = model.fit(X, Y, w).coef_
    assert len(np.repeat(X, w, 0)) > 24
    repeated = model.fit(np.repeat(X, w, 0), np.repeat(Y, w, 0)).coef_
    np.testing.assert_allclose(weighted, repeated, atol=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_a_ridge_it_is_the_least_norm_of_least_squares(fit_intercept, weighted):
    X, rng = wide()
    Y, w = rng.standard_normal((16, 3)), rng.uniform(0.5, 2, 16) if weighted else None
    ours = ReducedRankRegressor(3, fit_intercept=fit_intercept, random_state=0).fit(X, Y, w)
    full = LinearRegression(fit_intercept=fit_intercept).fit(X, Y, w)
    np.testing.assert_allclose(ours.coef_, full.coef_, atol=1e-7)
    np.testing.assert_allclose(ours.intercept_, full.intercept_, atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_with_one_it_is_logistic_regression_and_every_step_is_of_the_features(K):
    X, rng = wide(seed=1)
    y, alpha = rng.permutation(np.arange(16) % K), 0.01
    ours = LowRankClassifier(K, alpha=alpha, random_state=0).fit(X, y)
    full = LogisticRegression(C=1 / (2 * alpha * 16), tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, full.coef_, atol=3e-5)
    np.testing.assert_allclose(ours.predict_proba(X), full.predict_proba(X), atol=3e-5)
    loss, labels = ("logistic", 2 * y - 1) if K == 2 else ("multinomial", y)
    objective = Features(X, labels, loss, intercept=True)
    for step in ours.path_:
        G, s = objective.gradient(step.A), step.A.s
        assert step.A.shape == ours.path_.shape == objective.shape
        assert step.objective == pytest.approx(G.value + alpha * float(s @ s), rel=1e-9)
        assert step.certificate.trace_norm == pytest.approx(float(s.sum()))
        whole = np.column_stack([G.matvec(e) for e in np.eye(70)]) + 2 * alpha * step.A.to_dense()
        assert np.linalg.norm(whole, 2) <= step.certificate.upper * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quadratic_functions_are_those_of_the_kernel(dtype):
    X, rng = wide(12, 50, seed=2)
    y, alpha = rng.standard_normal(12), 1e-3
    model = QuadraticRegressor(12, alpha=alpha, random_state=0).fit(X.astype(dtype), y)
    Z = (X - X.mean(0)) / X.std(0) / np.sqrt(50)
    K, ones = (Z @ Z.T) ** 2 + Z @ Z.T, np.ones((12, 1))
    M = np.block([[K + alpha * 12 * np.eye(12), ones], [ones.T, np.zeros((1, 1))]])
    a = np.linalg.solve(M, np.append(y, 0))
    found = model.predict(X.astype(dtype))
    np.testing.assert_allclose(found, K @ a[:12] + a[12], atol=1e-3)
    assert model.coef_.dtype == dtype
    assert model.components_.shape == (1, model.rank_, 50)
