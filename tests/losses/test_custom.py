"""Losses of the user's own: what is accepted, what is refused, and in which words."""

import re

import numpy as np
import pytest

from loss_cases import cube_slope, cube_value
from pygeco import losses


def test_own_loss_is_accepted():
    y = np.linspace(-1, 1, 30)
    mine, targets = losses.prepare_loss(losses.Custom(cube_value, cube_slope), y)
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

    assert losses.Custom(cube_value, cube_slope).regression
    assert not losses.Custom(cube_value, cube_slope, regression=False).regression
    loss, _ = losses.prepare_loss(Cube(), np.zeros(3))
    assert loss.smoothness == np.inf

    class Half(Cube):
        def slope(self, z, y):
            return cube_slope(z, y) / 2

    with pytest.raises(ValueError, match=r"loss: the slope of cube is .* but its value rises by"):
        losses.prepare_loss(Half(), np.zeros(3))
    with pytest.raises(TypeError, match=r"Loss has no `value\(z, y\)`"):
        losses.prepare_loss(losses.Loss(), np.zeros(3))


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
        losses.prepare_loss(losses.Custom(safe, slope), np.linspace(0, 4, 9))


def test_own_loss_is_checked_even_where_it_derives_from_one_of_ours():
    class Tilted(losses.Squared):
        def slope(self, z, y):
            return 2 * (z - y) + 1

    with pytest.raises(ValueError, match=r"^loss: the slope of squared is"):
        losses.prepare_loss(Tilted(), np.zeros(3))


@pytest.mark.parametrize("y", [np.zeros(0), np.array([5.0]), np.arange(1000.0)])
def test_own_loss_is_checked_at_any_number_of_targets(y):
    good = losses.Custom(lambda z, y: (z - y) ** 2, lambda z, y: 2 * (z - y))
    losses.check_loss(good, y)
    for bad in (0.99, 1.01):
        with pytest.raises(ValueError, match=r"^loss: the slope of Custom"):
            losses.check_loss(losses.Custom(good.value, lambda z, y, bad=bad: 2 * bad * (z - y)), y)
    with pytest.raises(
        ValueError,
        match=r"^loss: the value of Custom is not convex near .*; only convex losses can",
    ):
        losses.check_loss(losses.Custom(lambda z, y: -(z**2), lambda z, y: -2 * z), y)


def numbers(words):
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", words)]


def test_the_error_of_a_wrong_slope_tells_where_and_how_much():
    def slope(z, y):
        return 2 * (z - y) + np.where((z > 3) & (y > 5), 0.5, 0.0)

    with pytest.raises(ValueError, match="slope") as error:
        losses.check_loss(losses.Custom(lambda z, y: (z - y) ** 2, slope), np.arange(10.0))
    told, z, y, rise = numbers(str(error.value))
    assert z > 3
    assert y > 5
    assert told == pytest.approx(slope(np.array(z), np.array(y)), rel=1e-3, abs=1e-2)
    assert rise == pytest.approx(told - 0.5, abs=1e-3)


def test_the_error_of_a_value_tells_where():
    def value(z, y):
        return np.where((z > 2) & (y == 3), np.inf, (z - y) ** 2)

    with pytest.raises(ValueError, match=r"value of Custom is inf at .* must be finite") as error:
        losses.check_loss(losses.Custom(value, lambda z, y: 2 * (z - y)), np.arange(5.0))
    z, y = numbers(str(error.value))
    assert z > 2
    assert y == 3

    def bent(z, y):  # concave beyond z = 4, for one target
        return np.where((z > 4) & (y == 3), 8 * z - z * z, z * z) + 0 * y

    def bend(z, y):
        return np.where((z > 4) & (y == 3), 8 - 2 * z, 2 * z) + 0 * y

    with pytest.raises(ValueError, match="not convex") as error:
        losses.check_loss(losses.Custom(bent, bend), np.arange(5.0))
    z, y = numbers(str(error.value))
    assert z > 4 - 1.4  # the grid's last prediction before
    assert y == 3


@pytest.mark.parametrize("place", [0, 5, -1])
def test_one_wrong_number_is_enough_and_is_the_one_that_is_told(place):
    where = []

    def slope(z, y):
        out = 2 * (z - y)
        out[place] += 0.5
        where[:] = z[place], y[place]
        return out

    with pytest.raises(ValueError, match=r"^loss: the slope of Custom") as error:
        losses.check_loss(losses.Custom(lambda z, y: (z - y) ** 2, slope), np.arange(5.0))
    np.testing.assert_allclose(numbers(str(error.value))[1:3], where, rtol=1e-3)


@pytest.mark.parametrize("place", [0, 5, -1])
def test_one_infinite_number_is_told_too(place):
    def value(z, y):
        out = (z - y) ** 2
        out[place] = np.inf
        return out

    with pytest.raises(ValueError, match=r"^loss: the value of Custom is inf at z = "):
        losses.check_loss(losses.Custom(value, lambda z, y: 2 * (z - y)), np.arange(5.0))


def test_one_bend_is_enough():
    """A slope that falls once, at z = 0.15, for the one target there is."""
    with pytest.raises(ValueError, match=r"^loss: the value of Custom is not convex") as error:
        losses.check_loss(
            losses.Custom(
                lambda z, y: z**2 - 5 * np.maximum(z - 0.15, 0),
                lambda z, y: 2 * z - 5 * (z > 0.15),
            ),
            np.zeros(1),
        )
    assert abs(numbers(str(error.value))[0] - 0.15) < 0.3


@pytest.mark.parametrize("delta", [0.1, 2.0])
def test_a_slope_that_is_level_far_away_is_convex_enough(delta):
    huber = losses.Huber(delta)
    mine = losses.Custom(huber.value, huber.slope, smoothness=0.5)
    losses.check_loss(mine, np.linspace(-1, 1, 7))
    assert mine.smoothness == 0.5


def test_a_constant_in_the_value_is_no_fault():
    """Differences of large values are rounded: that is not taken for a wrong slope."""
    loss = losses.Custom(lambda z, y: (z - y) ** 2 + 1e9, lambda z, y: 2 * (z - y))
    losses.check_loss(loss, np.linspace(-1, 1, 7))


def test_a_loss_without_a_name_is_called_by_its_class():
    class Mine(losses.Loss):
        def value(self, z, y):
            return (z - y) ** 2

        def slope(self, z, y):
            return z - y

    with pytest.raises(ValueError, match=r"^loss: the slope of Mine is"):
        losses.check_loss(Mine(), np.arange(5.0))


def test_a_loss_without_a_slope_says_so():
    class Half(losses.Loss):
        def value(self, z, y):
            return (z - y) ** 2

    with pytest.raises(TypeError, match=r"^loss: Half has no `slope\(z, y\)`; write one\.$"):
        losses.prepare_loss(Half(), np.zeros(3))
