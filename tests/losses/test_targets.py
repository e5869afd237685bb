"""Targets outside a loss's domain, and scales from the data."""

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
    losses.check_size("X", large)  # where only squares in float64 are taken
    losses.check_size("X", np.zeros(0))
    losses.check_size("X", np.array([-1e100, 1e100]))  # up to this size
