"""Targets outside a loss's domain, scales from the data, and losses of the user's own."""

import numpy as np
import pytest
import scipy.stats

from loss_cases import cube_slope, cube_value
from pygeco import losses


@pytest.mark.parametrize("name", ["logistic", "smoothed-hinge"])
def test_labels(name):
    loss = losses.named(name)
    for given in ([0, 1, 1], [-1, 1, 1], [False, True, True], np.float32([0, 1, 1])):
        np.testing.assert_array_equal(loss.targets(given), [-1, 1, 1])
    assert loss.targets(np.float32([0, 1])).dtype == np.float32
    with pytest.raises(ValueError, match=r"values: .*labels −1 and \+1.* hold −?-1, 0, 1\."):
        loss.targets([-1, 0, 1])
    with pytest.raises(ValueError, match=r"hold 1, 2, 3, 4, …"):
        loss.targets([1, 2, 3, 4, 5])


def test_counts():
    with pytest.raises(ValueError, match=r"values: the poisson loss needs counts ≥ 0.* hold -2\."):
        losses.Poisson().targets([0, 3, -2])


def test_ordinal_levels_and_thresholds():
    stars = np.array([1.0, 5, 3, 3, 5, 5, 1, 5])
    loss, y = losses.prepared("ordinal", stars)
    np.testing.assert_array_equal(y, [0, 2, 1, 1, 2, 2, 0, 2])
    chance = loss.probabilities(np.zeros(1))[0]
    np.testing.assert_allclose(chance, [2 / 8, 2 / 8, 4 / 8])  # the shares of the levels
    with pytest.raises(ValueError, match="values: 2 is not one of the ordinal levels 1, 3, 5"):
        loss.targets([1, 2])
    with pytest.raises(ValueError, match="values: 7 is not one"):
        loss.targets([7.0])
    with pytest.raises(ValueError, match="at least two different levels"):
        losses.prepared("ordinal", np.ones(4))
    tenths = np.float32([0.1, 0.2, 0.2])
    np.testing.assert_array_equal(losses.Ordinal((0.1, 0.2)).targets(tenths), [0, 1, 1])
    unseen = losses.Ordinal((1.0, 2.0, 3.0, 4.0)).fitted(np.array([1.0, 4.0, 4.0]))
    assert np.all(np.diff(unseen.thresholds) > 0)
    with pytest.raises(ValueError, match="call `fitted"):
        losses.Ordinal().value(np.zeros(2), np.zeros(2))


def test_huber_threshold_follows_the_scale():
    rng = np.random.default_rng(0)
    y = 3 * rng.standard_normal(20_000)
    y[:1000] = 1e6
    found = losses.Huber().fitted(y).delta
    scale = scipy.stats.median_abs_deviation(y, scale="normal")
    np.testing.assert_allclose(found, 2 * scale, rtol=1e-4)
    np.testing.assert_allclose(found, 2 * 3, rtol=0.1)
    assert losses.Huber().fitted(y, y / 10).delta == pytest.approx(found / 10)
    assert losses.Huber(2.0).fitted(y).delta == 2.0
    assert losses.Huber().fitted(np.ones(5)).delta == 1.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: losses.Huber(0.0), "delta: must be a finite number > 0, not 0.0"),
        (lambda: losses.Quantile(1.5), "q: must be strictly between 0 and 1"),
        (lambda: losses.Quantile(0.5, -1), "width: must be a finite"),
        (lambda: losses.Poisson(100), "cap: must be above 0 and at most 40"),
        (lambda: losses.Ordinal((1, 1)), "levels: must increase strictly"),
        (lambda: losses.Ordinal((1,)), "levels: at least two"),
        (lambda: losses.Ordinal((1, 2), (0.0, 1.0)), "thresholds: 2 levels have 1 threshold"),
        (lambda: losses.Custom(cube_value, cube_slope, smoothness=0), "smoothness: must be > 0"),
        (lambda: losses.named("hubber"), r"loss: unknown name 'hubber'; use one of \['abs"),
        (lambda: losses.named(3), "loss: expected a name or a pygeco.losses.Loss, not 3"),
    ],
)
def test_bad_settings(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_own_loss_is_accepted():
    y = np.linspace(-1, 1, 30)
    mine, targets = losses.prepared(losses.Custom(cube_value, cube_slope), y)
    np.testing.assert_array_equal(targets, y)
    z = np.linspace(-2, 2, 30)
    np.testing.assert_allclose(mine.curvature(z, y), 2 * np.abs(z - y) + 0.1, atol=2e-3)
    given = losses.Custom(cube_value, cube_slope, lambda z, y: 2 * np.abs(z - y) + 0.1)
    np.testing.assert_allclose(given.curvature(z, y), 2 * np.abs(z - y) + 0.1)
    bounded = losses.Custom(lambda z, y: (z - y) ** 2, lambda z, y: 2 * (z - y), smoothness=2.0)
    np.testing.assert_array_equal(bounded.curvature(z, y), np.full(30, 2.0))


def test_own_loss_by_derivation():
    class Cube(losses.Loss):
        name = "cube"

        def value(self, z, y):
            return cube_value(z, y)

        def slope(self, z, y):
            return cube_slope(z, y)

    loss, _ = losses.prepared(Cube(), np.zeros(3))
    assert loss.smoothness == np.inf

    class Half(Cube):
        def slope(self, z, y):
            return cube_slope(z, y) / 2

    with pytest.raises(ValueError, match=r"loss: the slope of cube is .* but its value rises by"):
        losses.prepared(Half(), np.zeros(3))
    with pytest.raises(TypeError, match=r"Loss has no `value\(z, y\)`"):
        losses.prepared(losses.Loss(), np.zeros(3))


@pytest.mark.parametrize(
    ("value", "slope", "words"),
    [
        (lambda z, y: z**2, lambda z, y: z, "the slope of Custom is"),
        (lambda z, y: z / 0 * 0 + np.nan, lambda z, y: z, "the value of Custom is nan"),
        (lambda z, y: z**2, lambda z, y: z + np.inf, "the slope of Custom is inf"),
        (np.cos, lambda z, y: -np.sin(z), "not convex"),
        (lambda z, y: float(np.sum(z * z)), lambda z, y: 2 * z, r"has shape \(\)"),
    ],
)
def test_own_loss_that_cannot_be(value, slope, words):
    def safe(z, y):
        with np.errstate(all="ignore"):
            return value(z) if value is np.cos else value(z, y)

    with pytest.raises(ValueError, match=words):
        losses.prepared(losses.Custom(safe, slope), np.linspace(0, 4, 9))
