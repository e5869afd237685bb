"""Low-rank linear models against closed forms and scikit-learn's full-rank ones."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from feature_cases import classes, multi_target
from pygeco import LowRankClassifier, ReducedRankRegressor, Solver
from pygeco.algorithm import refinements


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
        (lambda X, y: LowRankClassifier().fit(X, 0 * y), r"^y: holds only one class, 0; at least"),
        (lambda X, y: LowRankClassifier(alpha="1").fit(X, y), r"^alpha: must be .* not '1'"),
        (lambda X, y: LowRankClassifier(solver="lbfgs").fit(X, y), r"^solver: expected None or"),
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


def years():
    rng = np.random.default_rng(0)
    year, z = rng.integers(1990, 2020, 300), rng.standard_normal(300)
    return np.column_stack([year, z]), year + 3 * z > 2005


def ugly(K):
    """Classes whose features have units from 1e-4 to 1e4, and large means."""
    X, y = classes(K)
    return X * np.logspace(-4, 4, X.shape[1]) + 1e4, y


UGLY = {
    "wine": load_wine(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "years": years(),
    "two classes": ugly(2),
    "three classes": ugly(3),
}


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", UGLY)
def test_features_in_any_unit_are_as_good_as_scaled_ones(name, form, weights):
    X, y = UGLY[name]
    w = np.random.default_rng(1).uniform(0.2, 2, len(y)) if weights else np.ones(len(y))
    alpha, center = 1e-3, np.average(X, axis=0, weights=w)
    full = LogisticRegression(
        C=1 / (2 * alpha * w.sum()), solver="newton-cholesky", tol=1e-10, max_iter=1000
    ).fit(X - center, y, sample_weight=w)
    ours = LowRankClassifier(alpha=alpha, random_state=0).fit(form(X), y, sample_weight=w)
    found, expected = ours.predict_proba(form(X)), full.predict_proba(X - center)
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize(
    ("form", "shift", "atol"),
    [
        (np.asarray, 0, 1e-9),
        (np.asarray, 1e4, 1e-9),
        (np.asarray, 1e8, 1e-6),
        (sp.csr_array, 1e4, 1e-6),
        (sp.csr_array, 1e6, 1e-3),  # nothing is subtracted of what is stored
    ],
)
def test_regression_is_least_squares_about_the_mean(form, shift, atol):
    X = np.random.default_rng(0).standard_normal((100, 5)) + shift
    y = (X - shift) @ [1.0, 2.0, 0.0, -1.0, 0.5] + np.random.default_rng(1).standard_normal(100)
    best = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    model = ReducedRankRegressor(1, random_state=0).fit(form(X), y)
    np.testing.assert_allclose(model.coef_[0], best, atol=atol)


def test_a_fit_that_ended_early_says_so(monkeypatch):
    X, y = UGLY["breast cancer"]
    monkeypatch.setattr(refinements, "MAX_ITERATIONS", 1)
    with pytest.warns(
        ConvergenceWarning, match=r"^The fit of rank 1 did not converge: by its slope"
    ):
        LowRankClassifier(random_state=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"without a model; give alpha, without which"):
        LowRankClassifier(alpha=0, random_state=0).fit(X, y)
    LowRankClassifier(random_state=0, solver=Solver()).fit(X, y)  # which asks for no descent


def test_coef_before_fit():
    with pytest.raises(AttributeError, match="call fit first"):
        _ = LowRankClassifier().coef_


def test_importing_pygeco_leaves_scikit_learn_alone():
    code = (
        "import sys, pygeco; assert 'sklearn' not in sys.modules; "
        "pygeco.QuadraticClassifier; assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
