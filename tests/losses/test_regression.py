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
    many = np.where(np.arange(40) % 4 == 0, y[:40], 0.0)  # most of which are alike
    for open_loss in (losses.Huber(), losses.PseudoHuber()):
        small, large = (open_loss.fitted(many * unit).delta for unit in (1.0, 1e6))
        assert large == pytest.approx(1e6 * small)
        square = np.tile(many[:, None], 3)
        assert open_loss.fitted(square).delta == pytest.approx(small)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_smoothed_quantile_is_within_half_a_width_of_the_pinball(q):
    x = np.linspace(-3, 3, 601)
    pinball = np.maximum(q * x, (q - 1) * x)
    gap = pinball - losses.Quantile(q, 0.01).value(0 * x, x)
    assert gap.min() >= -1e-15
    assert gap.max() <= 0.005


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_cosh_bends_a_little_far_away(dtype):
    x = np.array([0.0, 1e-9, 0.3, 3.0, 20.0, 40.0], dtype)
    found = losses.LogCosh(1.0).curvature(x, 0 * x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, np.cosh(x.astype(float)) ** -2, rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("delta", [1e-10, 1e-5, 1.0])
def test_pseudo_huber_of_wild_cells_in_single_precision(delta):
    x = np.float32([1e-12, 1e-5, 1.0, 1e6, 1e15])
    loss, exact = losses.PseudoHuber(delta), x.astype(float)
    root = np.hypot(1, exact / delta)
    for z in (x, -x):
        found = [f(z, 0 * x) for f in (loss.value, loss.slope, loss.stiffness)]
        expected = [exact**2 / (1 + root), np.sign(z) * exact / root]
        stiff = np.maximum(root**-3.0, 0.1 / root)
        for a, b in zip(found, [*expected, stiff], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
