"""Laws of every likelihood: its squares touch the expected loss, its answers are those of p."""

import numpy as np
import pytest
from scipy import stats

from pygeco.bayes.likelihoods.base import (
    PART_CELLS,
    Likelihood,
    Softplus,
    expect_sigmoid,
)
from pygeco.bayes.likelihoods.counts import Counts
from pygeco.bayes.likelihoods.labels import Labels
from pygeco.bayes.likelihoods.levels import Levels

NODES, SHARES = np.polynomial.hermite_e.hermegauss(60)
SHARES = SHARES / SHARES.sum()
STEP = 1e-4


def draw_labels(z, rng):
    return np.where(rng.random(z.shape) < 1 / (1 + np.exp(-z)), 1.0, -1.0)


def draw_levels(z, rng):
    return np.searchsorted([-1.0, 0.5, 2.0], z + rng.logistic(size=z.shape)).astype(float)


def draw_counts(z, rng):
    return rng.poisson(np.exp(z) * rng.gamma(3.0, 1 / 3.0, z.shape)).astype(float)


CASES = {
    "labels": (Labels(), draw_labels, np.array([0.0, 1.0])),
    "levels": (Levels((1.0, 2.0, 4.0, 5.0), (-1.0, 0.5, 2.0)), draw_levels, None),
    "counts": (Counts(3.0), draw_counts, None),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def on_scale(likelihood: Likelihood, y):
    """Codes as the values that they stand for."""
    if isinstance(likelihood, Levels):
        return np.array(likelihood.levels)[y.astype(int)]
    return (y + 1) / 2 if isinstance(likelihood, Labels) else y


def test_squares_have_the_slope_of_the_expected_loss(case):
    likelihood, draw, _ = case
    rng = np.random.default_rng(0)
    mean, variance = rng.uniform(-3, 3, 200), rng.uniform(0, 2, 200)
    y = draw(mean, rng)
    weights, targets = likelihood.make_squares(y, mean, variance)
    ahead, behind = (likelihood.expect_loss(y, mean + h, variance) for h in (STEP, -STEP))
    np.testing.assert_allclose(weights * (mean - targets), (ahead - behind) / (2 * STEP), atol=1e-6)
    assert (weights > 0).all()


@pytest.mark.parametrize("name", ["labels", "levels"])
def test_squares_have_the_curvature_of_the_expected_loss(name):
    likelihood, draw, _ = CASES[name]
    rng = np.random.default_rng(1)
    mean, variance = rng.uniform(-3, 3, 200), rng.uniform(0, 2, 200)
    y = draw(mean, rng)
    here, ahead, behind = (likelihood.expect_loss(y, mean + h, variance) for h in (0, 1e-3, -1e-3))
    bend = (ahead - 2 * here + behind) / 1e-6
    np.testing.assert_allclose(likelihood.make_squares(y, mean, variance).weights, bend, atol=5e-5)


def test_response_and_deviation_are_those_of_draws(case):
    likelihood, draw, _ = case
    rng = np.random.default_rng(2)
    mean, variance = np.array([-1.5, 0.0, 1.2]), np.array([0.2, 0.8, 0.5])
    z = mean + variance**0.5 * rng.standard_normal((400_000, 3))
    y = on_scale(likelihood, draw(z, rng))
    np.testing.assert_allclose(likelihood.respond(mean, variance), y.mean(0), rtol=0.02, atol=0.005)
    np.testing.assert_allclose(likelihood.deviate(mean, variance), y.std(0), rtol=0.03)


def test_an_interval_holds_as_many_draws_as_it_says(case):
    likelihood, draw, _ = case
    rng = np.random.default_rng(3)
    mean, variance = rng.uniform(-2, 2, 60_000), rng.uniform(0, 1, 60_000)
    y = on_scale(likelihood, draw(mean + variance**0.5 * rng.standard_normal(60_000), rng))
    for q in (0.05, 0.5, 0.95):
        bound = likelihood.find_quantile(mean, variance, q)
        # Of a discrete y, q lies between P(y < bound) and P(y ≤ bound).
        assert np.mean(y < bound) - 0.01 < q < np.mean(y <= bound) + 0.01


def test_likelihoods_keep_single_precision(case):
    likelihood, draw, _ = case
    rng = np.random.default_rng(4)
    mean = rng.uniform(-3, 3, 50).astype(np.float32)
    y, variance = draw(mean, rng).astype(np.float32), np.full(50, 0.3, np.float32)
    found = [
        *likelihood.make_squares(y, mean, variance),
        likelihood.respond(mean, variance),
        likelihood.deviate(mean, variance),
        likelihood.find_quantile(mean, variance, 0.9),
        likelihood.expect_loss(y, mean, variance),
    ]
    assert {x.dtype for x in found} == {np.dtype(np.float32)}


@pytest.mark.parametrize("name", ["labels", "levels"])
def test_probabilities_make_the_response(name):
    likelihood, _, values = CASES[name]
    values = np.array(likelihood.levels) if values is None else values
    mean, variance = np.linspace(-4, 4, 9), np.linspace(0, 3, 9)
    P = likelihood.find_probabilities(mean, variance)
    np.testing.assert_allclose(P.sum(1), 1)
    np.testing.assert_allclose(P @ values, likelihood.respond(mean, variance))


def test_softplus_is_near_its_integral():
    """Far below zero too, where next to nothing is most of it, and in parts as in one."""
    mean, variance = (x.ravel() for x in np.meshgrid(np.linspace(-8, 8, 17), [0.1, 0.7, 2.0]))
    x = mean[:, None] + variance[:, None] ** 0.5 * NODES
    found = Softplus(mean, variance)
    np.testing.assert_allclose(found.value, np.logaddexp(0, x) @ SHARES, rtol=0.02)
    np.testing.assert_allclose(found.slope, stats.logistic.cdf(x) @ SHARES, rtol=0.02)
    np.testing.assert_allclose(found.curvature, stats.logistic.pdf(x) @ SHARES, rtol=0.03)
    many = Softplus(*(np.resize(x, PART_CELLS + 60) for x in (mean, variance)))
    for name in ("value", "slope", "curvature"):
        whole = np.resize(getattr(found, name), PART_CELLS + 60)
        np.testing.assert_allclose(getattr(many, name), whole, rtol=1e-12)


def test_mean_of_the_sigmoid_is_its_integral():
    mean, variance = (x.ravel() for x in np.meshgrid(np.linspace(-8, 8, 17), [0, 0.1, 1, 4, 8, 30]))
    t = np.linspace(-9, 9, 3001)
    shares = np.exp(-t * t / 2) / np.exp(-t * t / 2).sum()
    exact = stats.logistic.cdf(mean[:, None] + variance[:, None] ** 0.5 * t) @ shares
    error = np.abs(expect_sigmoid(mean, variance) - exact)
    assert error[variance <= 1].max() < 2e-6
    assert error[variance <= 4].max() < 1e-3
    assert error.max() < 0.015


@pytest.mark.parametrize("name", ["labels", "levels"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_score_is_minus_the_logarithm_of_the_probability(name, kind):
    likelihood, _, _ = CASES[name]
    mean, variance = np.linspace(-6, 6, 13).astype(kind), np.linspace(0, 12, 13).astype(kind)
    P = likelihood.find_probabilities(mean, variance)
    for k, y in enumerate([-1.0, 1.0] if name == "labels" else range(4)):
        scores = likelihood.score_loss(np.full(13, y, kind), mean, variance)
        np.testing.assert_allclose(np.exp(-scores), P[:, k], atol=2e-6)
    far = np.array([-1e4, 1e4], kind)
    assert np.isfinite(likelihood.score_loss(np.ones(2, kind), far, np.array([0, 40], kind))).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["labels", "levels"])
def test_probabilities_of_what_is_improbable_are_those_of_the_score(name, dtype):
    likelihood = CASES[name][0]
    mean = np.linspace(-60, 60, 41).astype(dtype)
    variance = (0.3 + 0 * mean).astype(dtype)
    found = likelihood.find_probabilities(mean, variance)
    assert found.dtype == dtype
    for k, y in enumerate([-1.0, 1.0] if name == "labels" else range(4)):
        score = likelihood.score_loss(np.full(41, y, dtype), mean, variance)
        np.testing.assert_allclose(np.log(found[:, k]), -score, rtol=2e-5, atol=1e-6)
    if name == "labels":
        wide = found.astype(float).prod(axis=1) ** 0.5
        np.testing.assert_allclose(likelihood.deviate(mean, variance), wide, rtol=1e-5)
    else:
        np.testing.assert_allclose(
            found @ likelihood.levels, likelihood.respond(mean, variance), rtol=1e-5
        )
