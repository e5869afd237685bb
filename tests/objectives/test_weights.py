"""A weight of zero is as good as absent, one of two as given twice: every loss, every estimator."""

import numpy as np
import pytest

from loss_cases import CASES
from pygeco import (
    Dense,
    Entries,
    Features,
    LowRankClassifier,
    MatrixCompletion,
    Quadratic,
    QuadraticClassifier,
    QuadraticRegressor,
    ReducedRankRegressor,
    Sensing,
    losses,
)
from pygeco.bayes.likelihoods import has_likelihood
from pygeco.losses.base import median

OPEN = {"huber": losses.Huber(), "ordinal": losses.Ordinal()}  # these take something from the data
WILD = {"logistic": 1.0, "smoothed-hinge": 1.0, "poisson": 90.0, "ordinal": 17.0}


def loss_and_targets(name, rng, size):
    loss, draw = CASES[name]
    return OPEN.get(name, loss), draw(rng, size)


def test_a_weighted_median_is_that_of_repeated_numbers() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 8, 31):
        x, times = rng.integers(-4, 5, size).astype(float), rng.integers(0, 4, size)
        times[0] += 1
        expected = np.median(np.repeat(x, times))
        assert median(x, times.astype(np.float32)) == expected
        assert median(x, 0.25 * times) == expected


@pytest.mark.parametrize("name", CASES)
def test_what_a_loss_takes_from_the_data_counts_weights(name) -> None:
    rng = np.random.default_rng(1)
    loss, y = loss_and_targets(name, rng, 40)
    times, left = rng.integers(1, 4, 40), rng.standard_normal(40)
    more = np.repeat(y, times), np.repeat(left, times)
    assert loss.fitted(y, left, times.astype(float)) == loss.fitted(*more)
    assert loss.fitted(y, weights=times.astype(float)) == loss.fitted(more[0])


def objectives(y, loss, w, rng):
    """Each objective with these targets and weights."""
    X = rng.standard_normal((len(y), 3))
    yield Entries(np.arange(len(y)) // 5, np.arange(len(y)) % 5, y, loss=loss, sample_weight=w)
    yield Dense(y.reshape(-1, 5), loss, sample_weight=None if w is None else w.reshape(-1, 5))
    yield Features(X, y, loss, sample_weight=w)
    yield Quadratic(X, y, loss, sample_weight=w)
    yield Sensing((X, X), y, loss, sample_weight=w)


@pytest.mark.parametrize("name", CASES)
def test_objectives_settle_the_loss_on_what_counts(name) -> None:
    rng = np.random.default_rng(2)
    loss, y = loss_and_targets(name, rng, 40)
    times = rng.integers(0, 3, 40)
    expected = loss.fitted(np.repeat(y, times))
    spoiled = np.where(times > 0, y, WILD.get(name, 1e4))
    for objective in objectives(spoiled, loss, times.astype(float), rng):
        found = objective.risk.loss if hasattr(objective, "risk") else objective.loss
        assert found == expected, type(objective).__name__


@pytest.mark.parametrize("evidence", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_cells_of_weight_zero_are_absent(name, evidence) -> None:
    rng = np.random.default_rng(3)
    loss, y = loss_and_targets(name, rng, 200)
    if evidence and not (loss.robust or has_likelihood(loss) or name == "squared"):
        pytest.skip("the evidence is not known for this loss")
    rows, cols = np.divmod(rng.permutation(20 * 15)[:200], 15)
    some = rng.random(200) < 0.8
    weights = np.where(some, rng.uniform(0.5, 2, 200), 0.0)
    spoiled = np.where(some, y, WILD.get(name, 1e4))
    settings = {"loss": loss, "penalty": "evidence" if evidence else None, "random_state": 0}
    given = (rows, cols, spoiled, (20, 15))
    fewer = tuple(x[some] for x in (rows, cols, y))
    found = MatrixCompletion(2, **settings).fit(given, sample_weight=weights)
    plain = MatrixCompletion(2, **settings).fit((*fewer, (20, 15)), sample_weight=weights[some])
    assert found.loss_ == plain.loss_
    assert found.range_ == plain.range_
    np.testing.assert_array_equal(found.to_dense(), plain.to_dense())
    np.testing.assert_array_equal(
        found.recommend(0, k=15).columns, plain.recommend(0, k=15).columns
    )


ESTIMATORS = {
    **{
        f"reduced rank, {name}": ReducedRankRegressor(2, loss=name) for name in ("squared", "huber")
    },
    **{f"quadratic, {name}": QuadraticRegressor(2, loss=name) for name in ("squared", "huber")},
    "reduced rank, ordinal": ReducedRankRegressor(2, loss="ordinal"),
    "classes": LowRankClassifier(2),
    "quadratic classes": QuadraticClassifier(2),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_samples_of_weight_two_count_twice_and_of_zero_not_at_all(name) -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((80, 4))
    z = X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * rng.standard_normal(80)
    labels = "classes" in name or "ordinal" in name
    y = np.digitize(z, [-0.7, 0.7]).astype(float) if labels else z
    times = rng.integers(0, 3, 80)
    spoiled = np.where(times > 0, y, 7.0 if labels else 1e4)
    model = ESTIMATORS[name].set_params(random_state=0)
    weighted = model.fit(X, spoiled, sample_weight=times.astype(float)).predict(X)
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict(X)
    if "classes" in name:
        assert 7.0 not in model.classes_
        assert np.mean(weighted == repeated) > 0.97
    else:
        np.testing.assert_allclose(weighted, repeated, rtol=1e-3, atol=1e-3)
