"""Low-rank linear models against closed forms and scikit-learn's full-rank ones."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import (
    HuberRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pygeco import LowRankClassifier, ReducedRankRegressor
from pygeco.losses import Huber, Poisson


def classes(K, seed=0, **settings):
    return make_classification(
        200, 8, n_informative=5, n_classes=K, random_state=seed, class_sep=0.7, **settings
    )


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


def multi_target(N=60, d=6, K=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, d)) + 1
    W = rng.standard_normal((K, 2)) @ rng.standard_normal((2, d))
    return X, X @ W.T + rng.standard_normal((N, K)) + 2


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_closed_form_of_reduced_rank_regression(rank, fit_intercept):
    """The fitted values of least squares, projected on their leading right singular vectors."""
    X, Y = multi_target()
    centre = (X.mean(0), Y.mean(0)) if fit_intercept else (0, 0)
    Xc, Yc = X - centre[0], Y - centre[1]
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
