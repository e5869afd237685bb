"""Targets outside a loss's domain, scales from the data, and losses of the user's own."""

import re

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
        (lambda: losses.SmoothedHinge(0.0), "^width: must be a finite number > 0, not 0.0"),
        (lambda: losses.Absolute(np.inf), "^width: must be a finite number > 0, not inf"),
        (lambda: losses.PseudoHuber(np.nan), "^delta: must be a finite number > 0, not nan"),
        (lambda: losses.Quantile(0.0), "^q: must be strictly between 0 and 1, not 0.0"),
        (lambda: losses.Quantile(1.0), "^q: must be strictly between 0 and 1, not 1.0"),
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


def test_labels_in_the_message_are_all_there_are_up_to_four():
    loss = losses.Logistic()
    with pytest.raises(ValueError, match=r"hold 1, 2, 3, 4\.$"):
        loss.targets([1, 2, 3, 4])
    assert loss.targets([1, 1]).dtype == loss.targets([0, 0]).dtype == np.float64
    np.testing.assert_array_equal(loss.targets([0, 0]), [-1, -1])


def test_counts_of_any_kind():
    np.testing.assert_array_equal(losses.Poisson().targets([0, 3]), [0, 3])
    assert losses.Poisson().targets(np.zeros(0)).shape == (0,)
    assert losses.Poisson(cap=40).smoothness == pytest.approx(np.exp(40))
    for cap in (0.0, -1.0, 40.5):
        with pytest.raises(ValueError, match=r"^cap: must be above 0 and at most 40, not"):
            losses.Poisson(cap=cap)


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


def test_classes_are_those_given_or_those_found():
    assert losses.Multinomial(("x", "y")).fitted(np.array(["x"])).classes == ("x", "y")
    with pytest.raises(ValueError, match=r"^Y: the multinomial loss needs .* not only \['a'\]\.$"):
        losses.Multinomial().fitted(np.array(["a", "a"]))
    assert losses.Multinomial().fitted(np.array([2, 1])).classes == (1, 2)


def test_losses_by_name():
    for name, kind in losses.LOSSES.items():
        assert type(losses.named(name)) is kind
        assert losses.named(name).name == name
    mine = losses.Huber(3.0)
    assert losses.named(mine) is mine


def test_own_loss_is_checked_even_where_it_derives_from_one_of_ours():
    class Tilted(losses.Squared):
        def slope(self, z, y):
            return 2 * (z - y) + 1

    with pytest.raises(ValueError, match=r"^loss: the slope of squared is"):
        losses.prepared(Tilted(), np.zeros(3))


@pytest.mark.parametrize("y", [np.zeros(0), np.array([5.0]), np.arange(1000.0)])
def test_own_loss_is_checked_at_any_number_of_targets(y):
    good = losses.Custom(lambda z, y: (z - y) ** 2, lambda z, y: 2 * (z - y))
    losses.check(good, y)
    for bad in (0.99, 1.01):
        with pytest.raises(ValueError, match=r"^loss: the slope of Custom"):
            losses.check(losses.Custom(good.value, lambda z, y, bad=bad: 2 * bad * (z - y)), y)
    with pytest.raises(ValueError, match=r"^loss: the value of Custom is not convex near"):
        losses.check(losses.Custom(lambda z, y: -(z**2), lambda z, y: -2 * z), y)


def numbers(words):
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", words)]


def test_the_error_of_a_wrong_slope_tells_where_and_how_much():
    def slope(z, y):
        return 2 * (z - y) + np.where((z > 3) & (y > 5), 0.5, 0.0)

    with pytest.raises(ValueError, match="slope") as error:
        losses.check(losses.Custom(lambda z, y: (z - y) ** 2, slope), np.arange(10.0))
    told, z, y, rise = numbers(str(error.value))
    assert z > 3
    assert y > 5
    assert told == pytest.approx(slope(np.array(z), np.array(y)), rel=1e-3, abs=1e-2)
    assert rise == pytest.approx(told - 0.5, abs=1e-3)


def test_the_error_of_a_value_tells_where():
    def value(z, y):
        return np.where((z > 2) & (y == 3), np.inf, (z - y) ** 2)

    with pytest.raises(ValueError, match=r"value of Custom is inf at .* must be finite") as error:
        losses.check(losses.Custom(value, lambda z, y: 2 * (z - y)), np.arange(5.0))
    z, y = numbers(str(error.value))
    assert z > 2
    assert y == 3

    def bent(z, y):  # concave beyond z = 4, for one target
        return np.where((z > 4) & (y == 3), 8 * z - z * z, z * z) + 0 * y

    def bend(z, y):
        return np.where((z > 4) & (y == 3), 8 - 2 * z, 2 * z) + 0 * y

    with pytest.raises(ValueError, match="not convex") as error:
        losses.check(losses.Custom(bent, bend), np.arange(5.0))
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
        losses.check(losses.Custom(lambda z, y: (z - y) ** 2, slope), np.arange(5.0))
    np.testing.assert_allclose(numbers(str(error.value))[1:3], where, rtol=1e-3)


def test_a_constant_in_the_value_is_no_fault():
    """Differences of large values are rounded: that is not taken for a wrong slope."""
    loss = losses.Custom(lambda z, y: (z - y) ** 2 + 1e9, lambda z, y: 2 * (z - y))
    losses.check(loss, np.linspace(-1, 1, 7))


def test_a_loss_without_a_slope_says_so():
    class Half(losses.Loss):
        def value(self, z, y):
            return (z - y) ** 2

    with pytest.raises(TypeError, match=r"^loss: Half has no `slope\(z, y\)`; write one\.$"):
        losses.prepared(Half(), np.zeros(3))


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (lambda: losses.named("multinomial"), "Features makes; use 'logistic' or 'ordinal' here."),
        (lambda: losses.Ordinal().bounds(np.zeros(1)), "call `fitted(y)` first."),
        (lambda: losses.Ordinal().fitted(np.ones(2)), "needs at least two different levels."),
        (
            lambda: losses.check(losses.Custom(lambda z, y: -z * z, lambda z, y: -2 * z), []),
            "only convex losses can be minimised here.",
        ),
    ],
)
def test_errors_say_what_to_do(make, advice):
    with pytest.raises(ValueError, match=r"^(loss|values): ") as error:
        make()
    assert advice in str(error.value)


def test_values_whose_squares_overflow_are_named() -> None:
    """Squares of float32 overflow sooner, but of the squared loss they are taken in float64."""
    large, larger = np.float32([1e16, 1.0]), np.array([1.0, -1e120])
    for loss in ("huber", "squared"):
        with pytest.raises(
            ValueError, match=r"^values: the largest is 1e\+120 .*; divide the data"
        ):
            losses.prepared(loss, larger)
    with pytest.raises(ValueError, match=r"^values: .*; pass float64, or divide the data\.$"):
        losses.prepared("huber", large)
    losses.prepared("squared", large)
    losses.prepared("huber", large.astype(float))
