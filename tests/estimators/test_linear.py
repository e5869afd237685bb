"""Low-rank linear models against closed forms and scikit-learn's full-rank ones."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from feature_cases import classes, multi_target
from pygeco import LowRankClassifier, ReducedRankRegressor


def test_sparse_is_dense_and_weights_are_repeats():
    X, y = classes(4)
    X[np.abs(X) < 0.7] = 0
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    kwargs = {"rank": 2, "alpha": 0.01, "random_state": 0}
    weighted = LowRankClassifier(**kwargs).fit(X, y, sample_weight=counts)
    repeated = LowRankClassifier(**kwargs).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    thin = LowRankClassifier(**kwargs).fit(sp.csr_matrix(X), y, sample_weight=counts)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-3)
    np.testing.assert_allclose(
        weighted.predict_proba(X), thin.predict_proba(sp.csr_array(X)), atol=1e-3
    )


def test_float32_stays_float32():
    X, Y = multi_target()
    model = ReducedRankRegressor(2, random_state=0).fit(X.astype(np.float32), Y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    assert model.predict(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda X, y: LowRankClassifier().fit(X, 0 * y), r"^y: holds only one class"),
        (lambda X, y: LowRankClassifier(rank=0).fit(X, y), r"^rank: expected an integer"),
        (lambda X, y: LowRankClassifier(rank=1.5).fit(X, y), r"^rank: expected an integer"),
        (lambda X, y: LowRankClassifier(alpha=-1).fit(X, y), r"^alpha: must be"),
        (lambda X, y: LowRankClassifier().fit(X, y[:3]), r"inconsistent numbers of samples"),
        (lambda X, y: LowRankClassifier().fit(X * np.nan, y), r"NaN"),
        (
            lambda X, y: LowRankClassifier().fit(X, y, sample_weight=[1.0]),
            r"^sample_weight: expected shape",
        ),
        (
            lambda X, y: ReducedRankRegressor(loss="poisson").fit(X, -np.ones(len(y))),
            r"^Y: the poisson loss needs counts",
        ),
        (
            lambda X, y: ReducedRankRegressor(loss="multinomial").fit(X, y),
            r"^loss: 'multinomial' needs",
        ),
    ],
)
def test_bad_input(fit, message):
    with pytest.raises(ValueError, match=message):
        fit(*classes(3))


def test_coef_before_fit():
    with pytest.raises(AttributeError, match="call fit first"):
        _ = LowRankClassifier().coef_


def test_importing_pygeco_leaves_scikit_learn_alone():
    code = (
        "import sys, pygeco; assert 'sklearn' not in sys.modules; "
        "pygeco.QuadraticClassifier; assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
