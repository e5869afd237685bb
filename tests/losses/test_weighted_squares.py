"""Weighted squares in a robust loss's place touch it from above where they are made."""

import numpy as np
import pytest

from pygeco import losses
from pygeco.losses.weighted_squares import Weighing

ROBUST = [losses.Huber(0.7), losses.PseudoHuber(0.5), losses.LogCosh(0.8), losses.Absolute(0.3)]


@pytest.mark.parametrize("loss", ROBUST, ids=lambda loss: loss.name)
def test_a_parabola_of_these_weights_lies_above_the_loss_and_touches_it(loss) -> None:
    x, other = np.linspace(-5, 5, 101)[:, None], np.linspace(-8, 8, 321)
    zero = np.zeros(())
    weight = Weighing.settled(loss, x).weights(x)
    # w (z² − x²) c + ℓ(x), c such that the slopes agree.
    slope = loss.slope(x, zero)
    c = np.where(np.abs(x) > 1e-9, slope / np.where(x == 0, 1, 2 * x * weight), np.nan)
    assert np.nanmax(c) == pytest.approx(np.nanmin(c))  # one for all: weights are ℓ′(x)/x
    above = weight * np.nanmean(c) * (other**2 - x**2) + loss.value(x, zero)
    assert np.all(above >= loss.value(other, zero) - 1e-9)


def test_a_threshold_that_is_left_open_comes_from_the_residuals_and_counts_twice() -> None:
    x = np.random.default_rng(0).standard_normal(2000)
    found = Weighing.settled(losses.Huber(), x)
    assert found.power == 2
    assert Weighing.settled(losses.Huber(), 10 * x).loss.delta == pytest.approx(
        10 * found.loss.delta
    )
    wild = np.array([0.0, 100.0])
    once = Weighing(found.loss).weights(wild)
    np.testing.assert_allclose(found.weights(wild), once**2)
    np.testing.assert_allclose(found._replace(mean=0.5).weights(wild), 2 * once**2)
