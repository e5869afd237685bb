"""Scales that are left open, beside the noise that was added and scikit-learn's own regressors."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor, QuantileRegressor

from pygeco import QuadraticRegressor, ReducedRankRegressor
from pygeco.losses import Huber, Quantile

NOISE = 0.1  # of targets that spread by some 2.4 otherwise


def problem(rows=600):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 5))
    return X, X @ [1.0, -2.0, 0.5, 0.0, 0.7] + 3, NOISE * rng.standard_normal(rows)


@pytest.mark.parametrize("q", [0.1, 0.9])
def test_a_quantile_has_its_share_of_targets_below(q):
    X, z, noise = problem()
    y, other = z + noise, QuantileRegressor(quantile=q, alpha=0)
    linear = ReducedRankRegressor(1, loss=Quantile(q), random_state=0).fit(X, y)
    np.testing.assert_allclose(linear.predict(X), other.fit(X, y).predict(X), atol=NOISE / 2)
    bent = QuadraticRegressor(1, loss=Quantile(q), alpha=0.0, random_state=0).fit(X, y)
    for model in (linear, bent):
        assert np.mean(y <= model.predict(X)) == pytest.approx(q, abs=0.02)


@pytest.mark.parametrize("loss", ["huber", "pseudo-huber"])
def test_wild_targets_are_told_from_what_features_say(loss):
    X, z, noise = problem()
    wild = z + noise + 50 * (np.random.default_rng(1).random(len(z)) < 0.1)
    model = ReducedRankRegressor(1, loss=loss, random_state=0).fit(X, wild)
    assert 1.8 * NOISE < model.loss_.delta < 3 * NOISE
    other = HuberRegressor(alpha=0, max_iter=1000).fit(X, wild)
    errors = [np.abs(each.predict(X) - z).mean() for each in (model, other)]
    assert errors[0] < 2 * errors[1] < NOISE


def test_units_do_not_matter_and_weights_are_repeats():
    X, z, noise = problem(200)
    y, w = z + noise, np.random.default_rng(2).integers(0, 3, 200)
    one = ReducedRankRegressor(1, loss="huber", random_state=0).fit(X, y, sample_weight=w)
    twice = ReducedRankRegressor(1, loss="huber", random_state=0)
    twice.fit(np.repeat(X, w, 0), 1e6 * np.repeat(y, w))
    assert twice.loss_.delta == pytest.approx(1e6 * one.loss_.delta, rel=1e-3)
    np.testing.assert_allclose(twice.predict(X), 1e6 * one.predict(X), rtol=1e-4)


def test_several_targets():
    X, z, noise = problem()
    Y = np.column_stack([z, -z, 2 * z]) + np.roll(noise, 1)[:, None] * [1.0, -1.0, 1.0]
    model = ReducedRankRegressor(1, loss="huber", random_state=0).fit(X, Y)
    assert model.loss_.delta == pytest.approx(2 * NOISE, rel=0.1)


def test_a_scale_that_is_given_stays():
    X, z, noise = problem(100)
    assert ReducedRankRegressor(loss=Huber(1.5)).fit(X, z + noise).loss_ == Huber(1.5)


def test_residuals_of_fits_through_all_targets_say_nothing():
    """With no more targets than numbers of the model, the scale is that of the targets."""
    X, z, noise = problem(6)
    model = ReducedRankRegressor(1, loss="huber", random_state=0).fit(X, z + noise)
    assert model.loss_ == Huber().fitted(z + noise)


def test_targets_without_noise():
    X, z, _ = problem(100)
    model = ReducedRankRegressor(1, loss="absolute", random_state=0).fit(X, z)
    np.testing.assert_allclose(model.predict(X), z, atol=1e-3)
