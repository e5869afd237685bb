"""The loss of levels."""

import numpy as np
import pytest
from scipy.special import expit

from loss_cases import sample
from pygeco import Features, LowRank, losses


def test_bounds_of_levels_are_levels():
    loss = losses.Ordinal((1.0, 2.0, 4.5), (0.0, 1.0))
    assert loss.bounds(np.array([0.0, 1.0])) == (1.0, 2.0)
    assert loss.bounds(np.array([1.0, 2.0])) == (2.0, 4.5)


def test_ordinal_levels_and_thresholds():
    stars = np.array([1.0, 5, 3, 3, 5, 5, 1, 5])
    loss, y = losses.prepare_loss("ordinal", stars)
    np.testing.assert_array_equal(y, [0, 2, 1, 1, 2, 2, 0, 2])
    chance = loss.probabilities(np.zeros(1))[0]
    np.testing.assert_allclose(chance, [2 / 8, 2 / 8, 4 / 8])  # the shares of the levels
    with pytest.raises(ValueError, match="values: 2 is not one of the ordinal levels 1, 3, 5"):
        loss.targets([1, 2])
    with pytest.raises(ValueError, match="values: 7 is not one"):
        loss.targets([7.0])
    with pytest.raises(ValueError, match="at least two different levels"):
        losses.prepare_loss("ordinal", np.ones(4))
    tenths = np.float32([0.1, 0.2, 0.2])
    np.testing.assert_array_equal(losses.Ordinal((0.1, 0.2)).targets(tenths), [0, 1, 1])
    unseen = losses.Ordinal((1.0, 2.0, 3.0, 4.0)).fitted(np.array([1.0, 4.0, 4.0]))
    assert np.all(np.diff(unseen.thresholds) > 0)
    with pytest.raises(ValueError, match="call `fitted"):
        losses.Ordinal().value(np.zeros(2), np.zeros(2))


def test_thresholds_are_the_log_odds_of_the_shares_below():
    """A level without any cell counts as half a cell."""
    loss = losses.Ordinal((1.0, 2.0, 3.0, 4.0)).fitted(np.array([1.0, 4.0, 4.0]))
    below = np.array([1.0, 1.5, 2.0]) / 4
    np.testing.assert_allclose(loss.thresholds, np.log(below / (1 - below)))
    np.testing.assert_allclose(loss.probabilities(np.zeros(1))[0], np.array([1, 0.5, 0.5, 2]) / 4)
    kept = losses.Ordinal(thresholds=(0.0,)).fitted(np.array([3.0, 7.0]))
    assert kept == losses.Ordinal((3.0, 7.0), (0.0,))
    given = losses.Ordinal((3, 7), (0.5,))
    assert given.fitted(np.array([3.0, 3.0])) == given


def test_levels_of_any_kind():
    loss = losses.Ordinal(tuple(range(12)), tuple(np.linspace(-2, 2, 11)))
    with pytest.raises(ValueError, match=r"^values: 12 is not .* 0, 1, 2, 3, 4, 5, 6, 7, 8, 9\.$"):
        loss.targets([3, 12])
    assert loss.targets([11, 0]).dtype == np.float64
    assert loss.targets(np.float32([11, 0])).dtype == np.float32
    with pytest.raises(ValueError, match=r"values: 0\.5 is not one"):
        loss.targets([3.0, 0.5])
    for half in (losses.Ordinal((0, 1)), losses.Ordinal(thresholds=(0.0,))):
        with pytest.raises(ValueError, match=r"^loss: Ordinal needs levels and thresholds; call"):
            half.slope(np.zeros(1), np.zeros(1))
    for levels, thresholds in (((0, 1, 2), (0.0,)), ((0, 1), (0.0, 1.0))):
        words = f"thresholds: {len(levels)} levels have {len(levels) - 1} thresholds between them"
        with pytest.raises(ValueError, match=words):
            losses.Ordinal(levels, thresholds)
    with pytest.raises(ValueError, match=r"^thresholds: must increase strictly"):
        losses.Ordinal(thresholds=(1.0, 1.0))


def test_ordinal_value_is_the_log_likelihood():
    loss, z, y = sample("ordinal", 500)
    z[0] = 0.0
    chance = loss.probabilities(z)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    picked = chance[np.arange(500), y.astype(int)]
    np.testing.assert_allclose(loss.value(z, y), -np.log(picked), rtol=1e-9)
    np.testing.assert_allclose(loss.response(z), chance @ np.arange(4))


@pytest.mark.parametrize("gap", [1e-300, 1e-17, 1e-9, 0.5, 0.7, 30.0, 800.0])
def test_levels_between_near_and_far_thresholds(gap):
    """P(y = 1) = e^−θ₀ (1 − e^−gap) / ((1 + e^−θ₀) (1 + e^−θ₁)) at z = 0."""
    loss = losses.Ordinal((1.0, 2.0, 3.0), (0.0, gap))
    log_p = np.log(-np.expm1(-gap)) - np.log(2) - np.log1p(np.exp(-gap))
    np.testing.assert_allclose(loss.value(np.zeros(1), np.ones(1)), -log_p, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_improbable_levels_keep_their_digits(dtype):
    """Against products of the two logistic terms, and shares of what is above each threshold."""
    theta = np.array([-3.0, -2.5, 0.25, 40.0])
    loss = losses.Ordinal((0, 1, 2, 3, 5), tuple(theta.tolist()))
    z = np.linspace(-40, 40, 81).astype(dtype)
    exact, digits = z.astype(float)[:, None], 20 * np.finfo(dtype).eps
    one = np.ones((len(z), 1))
    below = np.hstack([expit(theta - exact), one])
    above = np.hstack([one, expit(exact - theta)])
    chance = below * above * np.array([1, *-np.expm1(-np.diff(theta)), 1])
    found = loss.probabilities(z)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, chance, rtol=digits)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=digits)
    np.testing.assert_allclose(loss.response(z), chance @ [0, 1, 2, 3, 5], rtol=digits)
    for k in range(5):
        y = np.full(len(z), k, dtype)
        np.testing.assert_allclose(loss.value(z, y), -np.log(chance[:, k]), rtol=digits, atol=1e-14)
    for k, ends in ((0, theta[:1]), (2, theta[1:3]), (4, theta[3:])):
        bend = (expit(ends - exact) * expit(exact - ends)).sum(axis=1)
        np.testing.assert_allclose(loss.curvature(z, np.full(len(z), k, dtype)), bend, rtol=digits)


def test_levels_of_several_outputs_are_counted_together():
    """One row a sample: `Features` takes them so, whose rows may have weights."""
    rng = np.random.default_rng(0)
    Y, w = rng.integers(0, 3, (20, 4)).astype(float), rng.integers(1, 4, 20)
    each = np.broadcast_to(w[:, None], Y.shape)
    assert losses.Ordinal().fitted(Y) == losses.Ordinal().fitted(Y.reshape(-1))
    assert losses.Ordinal().fitted(Y, weights=each) == losses.Ordinal().fitted(np.repeat(Y, w, 0))
    X = rng.standard_normal((20, 3))
    weighted = Features(X, Y, "ordinal", sample_weight=w)
    repeated = Features(np.repeat(X, w, 0), np.repeat(Y, w, 0), "ordinal")
    A = LowRank.from_dense(rng.standard_normal((4, 3)), 2)
    assert weighted.value(A) == pytest.approx(repeated.value(A), rel=1e-12)
