"""Logistic regression of low rank, against scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import (
    LogisticRegression,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from feature_cases import classes
from pygeco import LowRankClassifier


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_full_rank_is_logistic_regression(K, fit_intercept):
    X, y = classes(K)
    alpha = 0.01
    full = LogisticRegression(
        C=1 / (2 * alpha * len(X)), fit_intercept=fit_intercept, tol=1e-10, max_iter=5000
    ).fit(X, y)
    ours = LowRankClassifier(rank=K, alpha=alpha, fit_intercept=fit_intercept, random_state=0).fit(
        X, y
    )
    np.testing.assert_allclose(ours.predict_proba(X), full.predict_proba(X), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), full.predict(X))
    assert ours.coef_.shape == full.coef_.shape
    assert ours.decision_function(X).shape == full.decision_function(X).shape
    if K == 2:
        np.testing.assert_allclose(ours.coef_, full.coef_, atol=1e-4)


def test_the_path_of_ranks():
    X, y = classes(5)
    model = LowRankClassifier(rank=3, random_state=0).fit(X, y)
    assert model.rank_ == np.linalg.matrix_rank(model.coef_) == 3
    values = [step.objective for step in model.path_]
    assert len(values) == 3
    assert values == sorted(values, reverse=True)
    np.testing.assert_allclose(
        model.decision_function(X), X @ model.coef_.T + model.intercept_, atol=1e-10
    )
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("K", [2, 4])
def test_logarithms_keep_the_digits_of_small_probabilities(K):
    X, y = classes(K)
    model = LowRankClassifier(rank=K, alpha=0.01, random_state=0).fit(X, y)
    found = model.predict_log_proba(X)
    np.testing.assert_allclose(found, np.log(model.predict_proba(X)), rtol=1e-9)
    z = model.decision_function(1e4 * X)
    z = np.column_stack([0 * z, z]) if K == 2 else z
    far = model.predict_log_proba(1e4 * X)
    assert far.min() < -800  # the logarithm of what is zero in double precision
    below = z - z.max(axis=1, keepdims=True)
    np.testing.assert_allclose(far, below, rtol=1e-6, atol=np.log(K))


def test_digits_at_rank_nine():
    X, y = load_digits(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:700], y[:700]
    train, test = slice(0, 450), slice(450, None)
    full = LogisticRegression(max_iter=1000).fit(X[train], y[train])
    ours = LowRankClassifier(rank=9, alpha=1 / 900, random_state=0).fit(X[train], y[train])
    assert ours.score(X[test], y[test]) >= full.score(X[test], y[test]) - 0.005
    assert ours.path_[-1].gap <= 1e-3 * ours.path_[0].objective


def test_labels_of_any_kind_and_a_pipeline():
    X, y = classes(3)
    names = np.array(["red", "green", "blue"])[y]
    pipe = make_pipeline(StandardScaler(), LowRankClassifier(random_state=0))
    search = GridSearchCV(pipe, {"lowrankclassifier__rank": [1, 2]}, cv=2).fit(X, names)
    assert set(search.predict(X)) == set(names)
    assert search.best_score_ > 0.5
    np.testing.assert_array_equal(search.classes_, ["blue", "green", "red"])
