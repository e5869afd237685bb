"""What the estimators on features share: scikit-learn's checks, weights of classes."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import pygeco
from feature_cases import classes
from pygeco import LowRankClassifier, QuadraticClassifier


# A larger ridge where 15 samples have several minima.
@parametrize_with_checks(
    [
        pygeco.LowRankClassifier(),
        pygeco.ReducedRankRegressor(rank=2),
        pygeco.QuadraticClassifier(),
        pygeco.QuadraticRegressor(rank=2, alpha=0.3),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


NAMES = np.array(["many", "some", "few"])


def uneven():
    """Classes of 120, 54 and 26 samples, with names, and weights of the samples."""
    X, y = classes(3, weights=[0.6, 0.27])
    return X, NAMES[y], np.random.default_rng(0).uniform(0.5, 2, len(y))


@pytest.mark.parametrize("kind", [LowRankClassifier, QuadraticClassifier])
@pytest.mark.parametrize("given", ["balanced", {"few": 3.0, "many": 0.5}])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_class_weight_is_a_sample_weight(kind, given, weighted):
    X, y, w = uneven()
    w = w if weighted else np.ones(len(y))
    share = {c: w.sum() / (3 * w[y == c].sum()) for c in NAMES}
    each = np.array([(share if given == "balanced" else {"some": 1.0} | given)[c] for c in y])
    settings = {"rank": 2, "alpha": 1e-2, "random_state": 0}
    found = kind(class_weight=given, **settings).fit(X, y, sample_weight=w if weighted else None)
    expected = kind(**settings).fit(X, y, sample_weight=w * each)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    plain = kind(**settings).fit(X, y, sample_weight=w)
    assert np.abs(plain.predict_proba(X) - expected.predict_proba(X)).max() > 0.05


def test_class_weights_are_those_of_scikit_learn():
    X, y, _ = uneven()
    full = LogisticRegression(C=1 / (0.02 * len(X)), class_weight="balanced", tol=1e-9)
    ours = LowRankClassifier(alpha=0.01, class_weight="balanced", random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), full.fit(X, y).predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("kind", [LowRankClassifier, QuadraticClassifier])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("even", r"^class_weight: expected 'balanced', a dict .* not 'even'"),
        ([1, 2, 3], r"^class_weight: expected 'balanced', a dict"),
        ({"fwe": 2.0}, r"^class_weight: 'fwe' is not a class of y"),
        ({"few": -1}, r"^class_weight: the weight of 'few' must be a finite number > 0, not -1"),
        ({"few": np.nan}, r"^class_weight: the weight of 'few' must be"),
        ({"few": "2"}, r"^class_weight: the weight of 'few' must be .* not '2'"),
    ],
)
def test_class_weights_that_cannot_be(kind, given, message):
    X, y, _ = uneven()
    with pytest.raises(ValueError, match=message):
        kind(class_weight=given).fit(X, y)
