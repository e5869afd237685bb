"""Quadratic classification, against logistic regression on monomials."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from feature_cases import data
from pygeco import QuadraticClassifier
from pygeco.losses import SmoothedHinge


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
    z = model.decision_function(3 * X)
    assert np.abs(z).max() > 45  # a probability that is below rounding of one
    both = expit(np.column_stack([-z, z]))
    np.testing.assert_allclose(model.predict_proba(3 * X), both, rtol=1e-12)


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
    assert hasattr(model, "predict_log_proba") == (loss == "logistic")


def test_probabilities_sum_to_one_even_far_away():
    X, rng = data(seed=2)
    y = rng.integers(0, 3, 150)
    model = QuadraticClassifier(rank=1, random_state=0).fit(X, y)
    p = model.predict_proba(np.vstack([X, 1e6 * X, -1e6 * X]))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[np.argmax(p[:150], axis=1)])


def test_where_every_probability_is_next_to_nothing_the_best_is_the_one_that_is_predicted():
    """Far away each function may be below −745, whose probability is zero in double precision."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 3))
    y = np.argmin(X**2 + 0.1 * rng.standard_normal((150, 3)), axis=1)
    model = QuadraticClassifier(rank=3, random_state=0).fit(X, y)
    forms = model.decision_function(1e3 * X)
    far = 1e3 * X[forms.max(axis=1) < -745]
    assert len(far) > 20
    chosen = np.argmax(model.predict_proba(far), axis=1)
    np.testing.assert_array_equal(model.classes_[chosen], model.predict(far))
    logs = model.predict_log_proba(X)
    each = -np.logaddexp(0, -model.decision_function(X))
    expected = each - np.logaddexp.reduce(each, axis=1, keepdims=True)
    np.testing.assert_allclose(logs, expected, atol=1e-9)
    np.testing.assert_allclose(np.exp(logs), model.predict_proba(X), rtol=1e-12)
