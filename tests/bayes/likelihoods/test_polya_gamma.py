"""Draws of Pólya–Gamma variables: their moments, and the posterior that they lead to."""

import decimal

import numpy as np
from scipy import stats

from pygeco.bayes.likelihoods.counts import Counts
from pygeco.bayes.likelihoods.labels import Labels
from pygeco.bayes.likelihoods.levels import Levels
from pygeco.bayes.likelihoods.polya_gamma import (
    draw_polya_gamma,
    polya_gamma_mean,
    polya_gamma_variance,
)


def draw_posterior(likelihood, y, rng, sweeps=1500):
    """Draws of one z under a standard normal prior, one cell each for y, all of one z."""
    z, found = 0.0, []
    for _ in range(sweeps):
        weights, targets = likelihood.draw_squares(y, np.full(len(y), z), rng)
        precision = 1 + weights.sum()
        z = (weights * targets).sum() / precision + rng.standard_normal() / precision**0.5
        found.append(z)
    return np.array(found[100:])


def integrate(likelihood, y):
    """Mean and deviation of the same z on a grid, exactly."""
    z = np.linspace(-6, 6, 2001)
    log = -0.5 * z**2 - sum(likelihood.loss.value(z, np.full(len(z), t)) for t in y)
    p = np.exp(log - log.max())
    p /= p.sum()
    mean = p @ z
    return mean, (p @ (z - mean) ** 2) ** 0.5


def test_draws_have_the_distribution_of_the_series():
    rng = np.random.default_rng(0)
    for z in (0.0, 1.5, 8.0):
        x = draw_polya_gamma(np.full(40_000, z), rng)
        k = np.arange(1, 201) - 0.5
        exact = rng.standard_exponential((10_000, 200)) @ (1 / (2 * np.pi**2 * k**2 + z**2 / 2))
        assert stats.ks_2samp(x, exact).statistic < 0.025
        np.testing.assert_allclose(x.mean(), polya_gamma_mean(np.array(z)), rtol=0.02)
        np.testing.assert_allclose(x.var(), polya_gamma_variance(np.array(z)), rtol=0.08)


def test_draws_far_from_zero_are_near_their_mean():
    """Var[ω] / E[ω]² falls as 2 / |z|, for any shape: no draw is next to nothing."""
    rng = np.random.default_rng(2)
    for z in (500.0, -3e3, 1e5, 1e9, 1e14):
        size = abs(z)
        for shape in (None, np.full(4000, 0.01), np.full(4000, 7.0)):
            count = 1.0 if shape is None else shape[0]
            x = draw_polya_gamma(np.full(4000, z), rng, shape) * 2 * size / count
            spread = 2 / size / count
            np.testing.assert_allclose(x.mean(), 1, atol=5 * (spread / 4000) ** 0.5)
            np.testing.assert_allclose(x.var(), spread, rtol=0.5 if spread > 0.1 else 0.15)
            assert x.min() > 0


def test_gibbs_of_labels_and_levels_is_their_posterior():
    rng = np.random.default_rng(1)
    levels = Levels((1.0, 2.0, 3.0, 4.0), (-1.0, 0.0, 1.5))
    for likelihood, y in ((Labels(), [1, 1, 1, -1, 1.0]), (levels, [0, 1, 3, 2, 2, 1.0])):
        y = np.array(y)
        found, (mean, deviation) = draw_posterior(likelihood, y, rng), integrate(likelihood, y)
        np.testing.assert_allclose(found.mean(), mean, atol=0.06)
        np.testing.assert_allclose(found.std(), deviation, rtol=0.08)


def test_a_cell_of_weight_ten_is_drawn_as_ten_cells():
    """The posterior of z under a standard normal prior is that of p(y | z)ʷ, for any weight."""
    rng = np.random.default_rng(3)
    levels, counts = Levels((1.0, 2.0, 3.0), (-1.0, 1.0)), Counts(2.0)
    grid = np.linspace(-8, 8, 4001)
    for likelihood, y, weight in (
        (Labels(), 1.0, 10.0), (Labels(), -1.0, 1e-9), (levels, 1.0, 10.0), (counts, 3.0, 5.0),
    ):  # fmt: skip
        y, w, z = np.full(4000, y), np.full(4000, weight), np.zeros(4000)
        for _ in range(40):
            drawn, targets = likelihood.draw_squares(y, z, rng, w)
            precision = 1 + w * drawn
            z = w * drawn * targets / precision + rng.standard_normal(4000) / precision**0.5
        log = -0.5 * grid**2 - weight * likelihood.expect_loss(y[:1], grid, 0 * grid)
        p = np.exp(log - log.max())
        p /= p.sum()
        deviation = (p @ (grid - p @ grid) ** 2) ** 0.5
        np.testing.assert_allclose(z.mean(), p @ grid, atol=0.07 * deviation)
        np.testing.assert_allclose(z.std(), deviation, rtol=0.06)


def test_moments_of_polya_gamma_are_those_of_its_series():
    z = np.array([0.0, 5e-4, 0.04, 0.06, 1.0, 4.0, 30.0])
    k = np.arange(1, 200_001)[:, None] - 0.5
    sizes = 1 / (2 * np.pi**2 * k**2 + z**2 / 2)
    np.testing.assert_allclose(polya_gamma_mean(z), sizes.sum(0), rtol=1e-4)
    np.testing.assert_allclose(polya_gamma_variance(z), (sizes**2).sum(0), rtol=1e-5)


def test_moments_of_polya_gamma_far_from_zero_are_those_of_its_closed_form():
    """In 60 digits, as sinh and cosh of large numbers are beyond any float."""
    for size in (0.05, 0.3, 20.0, 299.0, 301.0, 719.0, 1e4, 1e8):
        with decimal.localcontext(prec=60, Emax=10**9, Emin=-(10**9)):
            x = decimal.Decimal(size)
            up, down = x.exp(), (-x).exp()
            mean = (up - 1) / (up + 1) / (2 * x)
            variance = ((up - down) / 2 - x) / (x**3 * (2 + up + down))
        z = np.array([size, -size])
        np.testing.assert_allclose(polya_gamma_mean(z), float(mean), rtol=1e-12)
        np.testing.assert_allclose(polya_gamma_variance(z), float(variance), rtol=1e-9)


def test_draws_of_a_small_shape_leave_targets_that_single_precision_holds():
    """Counts of which nearly all are zero: gamma variables of shape 0.01 are 1e-50 now and then."""
    rng = np.random.default_rng(0)
    y, z = np.zeros(200_000), rng.standard_normal(200_000)
    weights, targets = (x.astype(np.float32) for x in Counts(0.01).draw_squares(y, z, rng))
    assert np.isfinite(targets).all()
    np.testing.assert_allclose(weights * (targets - np.log(0.01)), -0.005, rtol=1e-3, atol=1e-6)
