"""alpha="auto" and rank="auto": what samples held out say, against scikit-learn's ridge."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from feature_cases import classes, data, multi_target
from pygeco import LowRankClassifier, QuadraticClassifier, QuadraticRegressor, ReducedRankRegressor
from pygeco.estimators.feature_choice import FOLDS, split_samples

AUTO = {"alpha": "auto", "rank": "auto", "random_state": 0}
KINDS = [LowRankClassifier, ReducedRankRegressor, QuadraticClassifier, QuadraticRegressor]


def test_the_loss_of_a_trial_is_that_of_ridges_without_its_samples():
    X, rng = data()
    y = X @ [1.0, 0.2, 0.0, -1.0] + 3 * rng.standard_normal(len(X))
    w = rng.uniform(0.5, 2, len(X))
    model = ReducedRankRegressor(1, alpha="auto", random_state=0).fit(X, y, sample_weight=w)
    folds = split_samples(X, None, 0)
    assert set(folds) == set(range(FOLDS))
    expected = []
    for trial in model.choice_.trials:
        loss = 0.0
        for k in range(FOLDS):
            rest = folds != k
            ridge = Ridge(trial.alpha * w[rest].sum()).fit(X[rest], y[rest], w[rest])
            loss += w[~rest] @ (ridge.predict(X[~rest]) - y[~rest]) ** 2
        expected.append(loss / w.sum())
    found = [trial.loss for trial in model.choice_.trials]
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    assert model.alpha_ == model.choice_.trials[int(np.argmin(found))].alpha == model.choice_.alpha
    whole = Ridge(model.alpha_ * w.sum()).fit(X, y, w)
    np.testing.assert_allclose(model.predict(X), whole.predict(X), rtol=1e-6)
    assert list(model.choice_.to_pandas().columns) == ["alpha", "rank", "loss", "error"]


def test_the_rank_of_the_data_is_found():
    X, Y = multi_target(150, 5, 4)
    model = ReducedRankRegressor(**AUTO).fit(X, Y)
    assert model.rank_ == model.choice_.rank == 2
    known = ReducedRankRegressor("auto", alpha=0.0, random_state=0).fit(X, Y)
    assert (known.rank_, known.alpha_) == (2, 0.0)
    assert {trial.rank for trial in known.choice_.trials} == set(range(1, 5))
    assert ReducedRankRegressor(random_state=0).fit(X, Y).choice_ is None


def test_where_products_say_nothing_none_are_kept():
    X, rng = data()
    y = X[:, 0] - X[:, 2] + rng.standard_normal(len(X))
    model = QuadraticRegressor("auto", alpha=1e-5, random_state=0).fit(X, y)
    assert model.rank_ == model.choice_.rank == 0
    np.testing.assert_allclose(model.predict(X), X @ model.coef_[0] + model.intercept_)
    y += X[:, 0] * (X[:, 1] - X[:, 1].mean())
    assert QuadraticRegressor("auto", random_state=0).fit(X, y).rank_ == 2


def test_new_samples_are_predicted_better_than_with_a_weak_ridge():
    X, y = load_breast_cancer(return_X_y=True)
    X, new, y, answer = train_test_split(StandardScaler().fit_transform(X), y, random_state=0)

    def loss(alpha):
        model = LowRankClassifier(1, alpha=alpha, random_state=0).fit(X, y)
        return -model.predict_log_proba(new)[np.arange(len(new)), answer].mean()

    assert loss("auto") < 0.7 * loss(1e-4)
    X, y = load_diabetes(return_X_y=True)
    X, new, y, answer = train_test_split(X, y, random_state=0)
    found, weak = (QuadraticRegressor(alpha=alpha, random_state=0) for alpha in ("auto", 1e-5))
    assert found.fit(X, y).score(new, answer) > weak.fit(X, y).score(new, answer) + 0.02


def make(kind):
    """Samples, and weights that are whole numbers."""
    X, y = classes(3, seed=1)
    y = X[:, 0] * X[:, 1] + X[:, 2] if kind is QuadraticRegressor else y
    y = X[:, :3] ** 2 if kind is ReducedRankRegressor else y
    X, y = X[:45, :4].round(1), y[:45]
    return np.where(np.abs(X) < 0.4, 0.0, X), y, np.random.default_rng(0).integers(0, 3, len(X))


@pytest.mark.parametrize("kind", [LowRankClassifier, QuadraticRegressor])
def test_weights_are_repeats_and_order_does_not_matter(kind):
    X, y, counts = make(kind)
    settings = {"rank": 1, "alpha": "auto", "random_state": 0}
    one = kind(**settings).fit(X, y, sample_weight=counts)
    many = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), counts))
    other = kind(**settings).fit(X[many], y[many])
    thin = kind(**settings).fit(sp.csr_array(X), y, sample_weight=counts)
    found = [[trial.loss for trial in model.choice_.trials] for model in (one, other, thin)]
    near = slice(4)  # of weaker ridges, a quadratic function may rest elsewhere
    np.testing.assert_allclose(found[1][near], found[0][near], rtol=1e-3)
    assert one.alpha_ == pytest.approx(other.alpha_)
    if kind is LowRankClassifier:  # the other does not center sparse features
        np.testing.assert_allclose(found[2][near], found[0][near], rtol=1e-3)


@pytest.mark.parametrize("kind", [LowRankClassifier, QuadraticRegressor])
def test_a_common_unit_of_the_features_does_not_matter(kind):
    X, y, _ = make(kind)
    one, other = (kind(1, alpha="auto", random_state=0).fit(u * X, y) for u in (1, 1024))
    unit = 1 if kind is QuadraticRegressor else 1024**2
    assert other.alpha_ == pytest.approx(unit * one.alpha_)


def test_each_class_is_spread_over_the_folds_and_one_sample_of_its_own_is_always_fitted():
    X = np.random.default_rng(0).standard_normal((61, 2))
    labels = np.repeat([0, 1, 2, 3], [40, 15, 5, 1])
    folds = split_samples(X, labels, 0)
    assert folds[-1] == -1
    counts = np.array([np.bincount(folds[labels == k], minlength=FOLDS) for k in range(3)])
    assert (counts == [[8] * 5, [3] * 5, [1] * 5]).all()
    assert (split_samples(X, labels, 1) != folds).any()
    model = LowRankClassifier(1, alpha="auto", random_state=0).fit(X, labels)
    assert np.isfinite(model.choice_.trials[0].loss)
    assert model.predict_proba(X).shape == (61, 4)


@pytest.mark.parametrize("loss", ["huber", "absolute", "poisson", "ordinal", "logistic"])
def test_any_loss(loss):
    X, rng = data()
    y = (X[:, 0] > 0) * 1.0 if loss == "logistic" else np.round(np.exp(X[:, 0] / 2))
    y = np.minimum(y, 3) if loss == "ordinal" else y
    for kind in (ReducedRankRegressor, QuadraticRegressor):
        model = kind(1, loss=loss, alpha="auto", random_state=0).fit(X, y + 0 * rng.random(len(X)))
        losses = [trial.loss for trial in model.choice_.trials]
        assert min(losses) < 0.99 * losses[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("settings", "rows", "message"),
    [
        ({"alpha": "auto2"}, 60, r"^alpha: must be a finite number ≥ 0 or 'auto', not 'auto2'"),
        ({"alpha": np.nan}, 60, r"^alpha: must be a finite number ≥ 0 or 'auto', not nan"),
        ({"alpha": -1.0, "rank": "auto"}, 60, r"^alpha: must be a finite number ≥ 0 or 'auto'"),
        ({"rank": "Auto"}, 60, r"^rank: expected an integer or 'auto', not 'Auto'"),
        ({"rank": 0, "alpha": "auto"}, 60, r"^rank: expected an integer of at least 1 or 'auto'"),
        ({"alpha": "auto"}, 1, r"^X: 'auto' holds samples out, for which at least two different"),
    ],
)
def test_what_cannot_be(kind, settings, rows, message):
    X, y, _ = make(kind)
    rows = [np.unique(y, return_index=True)[1] if y.dtype == int else [0], range(45)][rows > 1]
    with pytest.raises(ValueError, match=message):
        kind(**settings).fit(X[rows], y[rows])
