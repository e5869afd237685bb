"""Targets outside a loss's domain, and scales from the data."""

import numpy as np
import pytest

from loss_cases import cube_slope, cube_value
from pygeco import losses


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
        (lambda: losses.find_loss("hubber"), r"loss: unknown name 'hubber'; use one of \['abs"),
        (lambda: losses.find_loss(3), "loss: expected a name or a pygeco.losses.Loss, not 3"),
    ],
)
def test_bad_settings(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_losses_by_name():
    for name, kind in losses.LOSSES.items():
        assert type(losses.find_loss(name)) is kind
        assert losses.find_loss(name).name == name
    mine = losses.Huber(3.0)
    assert losses.find_loss(mine) is mine


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (
            lambda: losses.find_loss("multinomial"),
            "Features makes; use 'logistic' or 'ordinal' here.",
        ),
        (lambda: losses.Ordinal().bounds(np.zeros(1)), "call `fitted(y)` first."),
        (lambda: losses.Ordinal().fitted(np.ones(2)), "needs at least two different levels."),
        (
            lambda: losses.check_loss(losses.Custom(lambda z, y: -z * z, lambda z, y: -2 * z), []),
            "only convex losses can be minimized here.",
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
            losses.prepare_loss(loss, larger)
    with pytest.raises(ValueError, match=r"^values: .*; pass float64, or divide the data\.$"):
        losses.prepare_loss("huber", large)
    losses.prepare_loss("squared", large)
    losses.prepare_loss("huber", large.astype(float))
    losses.check_size("X", large)  # where only squares in float64 are taken
    losses.check_size("X", np.zeros(0))
    losses.check_size("X", np.array([-1e100, 1e100]))  # up to this size
