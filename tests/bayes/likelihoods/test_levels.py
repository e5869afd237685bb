"""Cut points: at the optimum of the expected log-likelihood, in order, whatever the data."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pygeco.bayes.likelihoods.levels import Levels
from pygeco.losses import Ordinal


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(0, 1.5, 3000), rng.uniform(0, 0.5, 3000)
    z = mean + variance**0.5 * rng.standard_normal(3000) + rng.logistic(size=3000)
    return np.searchsorted([-2.0, -0.5, 1.0], z).astype(float), mean, variance


def test_cut_points_are_those_of_a_general_minimizer(cells):
    y, mean, variance = cells
    levels = (1.0, 2.0, 3.0, 4.0)

    def value(x):
        cuts = tuple(np.cumsum([x[0], *np.exp(x[1:])]))
        return Levels(levels, cuts).expect_loss(y, mean, variance).sum()

    found = Levels(levels, (-1.0, 0.0, 0.3))
    for _ in range(10):
        found = found.update(y, mean, variance)
    best = minimize(value, [-1.0, 0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-6})
    np.testing.assert_allclose(found.cuts, np.cumsum([best.x[0], *np.exp(best.x[1:])]), atol=1e-3)


def test_weights_count_as_repeats(cells):
    y, mean, variance = (x[:400] for x in cells)
    weights = np.arange(400) % 3
    start = Levels((1.0, 2.0, 3.0, 4.0), (-1.0, 0.0, 1.0))
    repeated = start.update(*(np.repeat(x, weights) for x in (y, mean, variance)))
    weighted = start.update(y, mean, variance, weights.astype(float))
    np.testing.assert_allclose(weighted.cuts, repeated.cuts)


def test_a_level_without_cells_keeps_the_cut_points_in_order(cells):
    y, mean, variance = cells
    found = Levels((1.0, 2.0, 3.0, 4.0, 9.0), (-1.0, 0.0, 1.0, 2.0))
    for _ in range(5):
        found = found.update(np.where(y == 1, 2.0, y), mean, variance)
    assert (np.diff(found.cuts) > 0).all()
    assert np.isfinite(found.cuts).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_deviation_that_is_small_is_not_zero(dtype):
    """Far below the cuts and far above them, where y is nearly certain."""
    model = Levels((1.0, 2.0, 5.0), (-1.0, 2.0))
    z = np.array([-20.0, -8.0, -1.0, 0.3, 2.0, 9.0, 22.0])
    none = 0 * z
    found = model.deviate(z.astype(dtype), none.astype(dtype))
    assert found.dtype == dtype
    ends = 1 / (1 + np.exp(z - np.array([[-1.0], [2.0]])))
    rest = 1 / (1 + np.exp(np.array([[-1.0], [2.0]]) - z))
    squares = ends[0] * rest[0] + 9 * ends[1] * rest[1] + 6 * ends[0] * rest[1]
    np.testing.assert_allclose(found, squares**0.5, rtol=1e-5)
    middle = slice(1, 6)
    chances = model.find_probabilities(z, none)[middle]
    mean = chances @ model.levels
    direct = (chances * (np.array(model.levels) - mean[:, None]) ** 2).sum(axis=1)
    np.testing.assert_allclose(found[middle], direct**0.5, rtol=1e-5)


def test_a_loss_without_levels_is_refused():
    with pytest.raises(ValueError, match="call `fitted"):
        Levels.of(Ordinal())
