"""Losses of numbers."""

import numpy as np
import pytest
import scipy.stats

from pygeco import losses


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


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_smoothed_quantile_is_within_half_a_width_of_the_pinball(q):
    x = np.linspace(-3, 3, 601)
    pinball = np.maximum(q * x, (q - 1) * x)
    gap = pinball - losses.Quantile(q, 0.01).value(0 * x, x)
    assert gap.min() >= -1e-15
    assert gap.max() <= 0.005
