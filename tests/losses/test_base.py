"""Where each loss is defined: the ends of its conjugate's domain, its targets, its responses."""

import numpy as np
import pytest
from scipy.special import expit

from loss_cases import CASES, cube_slope, cube_value, sample
from pygeco import losses
from pygeco.losses.base import namespace, robust_scale, sigmoid, softplus, xlogx

# The slopes that the loss comes near to, and ℓ* there less a·y, by hand.
ENDS = {
    "huber": [(-0.7, 0.245), (0.7, 0.245)],
    "pseudo-huber": [(-0.5, 0.25), (0.5, 0.25)],
    "log-cosh": [(-1.0, np.log(2)), (1.0, np.log(2))],
    "absolute": [(-1.0, 0.3), (1.0, 0.3)],
    "quantile": [(-0.8, 0.128), (0.2, 0.008)],
}


@pytest.mark.parametrize("name", ENDS)
def test_conjugate_is_finite_up_to_the_steepest_slope_and_no_further(name):
    loss, y = CASES[name][0], np.array([-2.0, 0.0, 3.0])
    for slope, value in ENDS[name]:
        a = np.full(3, slope)
        np.testing.assert_allclose(loss.conjugate(a, y), a * y + value, rtol=1e-12, atol=1e-15)
        assert np.all(np.isinf(loss.conjugate(a * (1 + 1e-6), y)))
        # What rounding adds to a slope at the end is let pass.
        assert np.all(np.isfinite(loss.conjugate(a * (1 + 2e-16), y)))


@pytest.mark.parametrize("name", ["ordinal", "custom"])
def test_a_conjugate_that_is_not_known_says_so(name):
    loss, z, y = sample(name, 5)
    with pytest.raises(TypeError, match=f"^loss: the conjugate of {type(loss).__name__} is not"):
        loss.conjugate(z, y)


@pytest.mark.parametrize("name", CASES)
def test_responses_are_bounded_by_the_targets(name):
    loss, z, y = sample(name, 200)
    low, high = loss.bounds(y)
    if name in ("logistic", "smoothed-hinge"):
        assert (low, high) == (-np.inf, np.inf)
    else:
        assert (low, high) == (y.min(), y.max())
    if name not in ("logistic", "ordinal"):
        words = f"^loss: {type(loss).__name__} has no probabilities; use 'logistic'"
        with pytest.raises(TypeError, match=words):
            loss.probabilities(z)


def test_the_formulas_that_others_share():
    z = np.array([-800.0, -30.0, -1.0, 0.0, 0.5, 30.0, 800.0])
    np.testing.assert_allclose(sigmoid(z) + sigmoid(-z), 1)
    np.testing.assert_allclose(softplus(z) - softplus(-z), z)
    np.testing.assert_allclose(softplus(z)[1:4], np.log1p(np.exp(z[1:4])))
    np.testing.assert_allclose(sigmoid(z)[2:5], 1 / (1 + np.exp(-z[2:5])))
    np.testing.assert_allclose(xlogx(np.array([-1.0, 0.0, 1.0, np.e])), [0, 0, 0, np.e])
    x = np.random.default_rng(0).standard_normal(100_001)
    np.testing.assert_allclose(robust_scale(5 + 3 * x), 3, rtol=0.01)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_curvature_that_is_measured_is_near_the_true_one(dtype):
    """At most the rise of the slope over the step, 1e-4 (1e-2 in single precision) of 1 + |z|."""
    z = np.linspace(-50, 50, 401).astype(dtype)
    y = np.zeros_like(z)
    loss = losses.Custom(cube_value, cube_slope)
    true = 2 * np.abs(z.astype(float)) + 0.1
    step = (1e-4 if dtype is np.float64 else 1e-2) * (1 + np.abs(z.astype(float)))
    found = loss.curvature(z, y)
    assert found.dtype == dtype
    assert np.all(found >= true * (1 - 1e-3))
    assert np.all(found <= true + 1.01 * step + 1e-3 * true)
    far = loss.stiffness(z, y)
    np.testing.assert_allclose(far, found)  # convex enough: nothing to hold up


def test_curvature_is_measured_over_steps_that_the_precision_can_tell():
    """Far from the target a slope has fewer digits after the point, in single precision most."""
    z, y = np.linspace(-1, 1, 50, dtype=np.float32), np.full(50, 1000, np.float32)
    found = losses.Custom(cube_value, cube_slope).curvature(z, y)
    np.testing.assert_allclose(found, 2 * np.abs(z - y) + 0.1, rtol=0.01)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
def test_curvature_is_measured_alike_in_any_unit(unit, dtype):
    """A fourth power over a fixed step of small numbers bends as the step does."""
    loss = losses.Custom(lambda z, y: (z - y) ** 4, lambda z, y: 4 * (z - y) ** 3)
    y = np.linspace(-2, 2, 41)
    z = 0.3 * np.cos(9 * y) + y / 3
    found = loss.curvature((unit * z).astype(dtype), (unit * y).astype(dtype))
    np.testing.assert_allclose(found / unit**2, 12 * (z - y) ** 2, rtol=0.02, atol=1e-4)


def test_stiffness_of_a_loss_without_curvature_is_a_share_of_its_slope():
    """|z| has none away from zero: a tenth of |ℓ′| / (1 + |z| + |y|) stands in."""
    loss = losses.Custom(lambda z, y: np.abs(z), lambda z, y: np.sign(z), regression=False)
    z, y = np.array([-4.0, 3.0, 9.0]), np.array([1.0, -2.0, 0.0])
    np.testing.assert_allclose(loss.stiffness(z, y), 0.1 / np.array([6.0, 6.0, 10.0]))


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_stiffness_of_predictions_is_a_share_of_the_mean_curvature_in_any_unit(unit):
    """|z − y| bends nowhere but at y; exp(z) − y z, which is not flat there, as it does."""
    loss = losses.Custom(lambda z, y: np.abs(z - y), lambda z, y: np.sign(z - y))
    z, y = unit * np.array([-4.0, 3.0, 9.0]), unit * np.array([1.0, -2.0, 0.0])
    np.testing.assert_allclose(loss.stiffness(z, y), 0.1 / np.abs(z - y))
    counts = losses.Custom(lambda z, y: np.exp(z) - y * z, lambda z, y: np.exp(z) - y)
    z, y = np.array([0.0, 1e-3, 2.0]), np.array([0.0, 0.0, 2.0])
    np.testing.assert_allclose(counts.stiffness(z, y), np.exp(z), rtol=1e-3)


def test_stiffness_of_far_residuals_is_a_tenth_of_that_of_reweighting():
    for name in ("huber", "quantile", "pseudo-huber", "absolute", "log-cosh"):
        loss = CASES[name][0]
        z, y = np.array([40.0, -25.0, 3.0]), np.array([0.0, 5.0, 3.0])
        weight = np.abs(loss.slope(z, y)[:2]) / np.abs(z - y)[:2]
        np.testing.assert_allclose(loss.stiffness(z, y)[:2], 0.1 * weight, rtol=1e-2)
        np.testing.assert_allclose(loss.stiffness(z, y)[2], loss.curvature(z, y)[2])


@pytest.mark.parametrize("name", ["squared", "huber"])
def test_the_clipped_form_is_the_slope(name):
    loss, z, y = sample(name, 500)
    delta, scale = loss.clipped
    np.testing.assert_allclose(loss.slope(z, y), scale * np.clip(z - y, -delta, delta))
    assert losses.Logistic().clipped is None


def test_an_array_brings_its_functions():
    class Other:
        def __array_namespace__(self):
            return "its own"

    assert namespace(Other()) == "its own"
    assert namespace(np.zeros(2)) is np
    assert namespace(3.0) is np


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_sigmoid_keeps_the_digits_of_small_probabilities(dtype):
    reach = 87 if dtype == np.float32 else 700
    z = np.concatenate([np.linspace(-reach, reach, 1001), [0, 1e-30, -1e-30]]).astype(dtype)
    digits = 4 * np.finfo(dtype).eps
    found = losses.sigmoid(z)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expit(z.astype(float)), rtol=digits)
    y = np.where(np.arange(len(z)) % 2, 1, -1).astype(dtype)
    exact = -y.astype(float) * expit(-y.astype(float) * z.astype(float))
    loss = losses.Logistic()
    np.testing.assert_allclose(loss.slope(z, y), exact, rtol=digits)
    p, q = expit(z.astype(float)), expit(-z.astype(float))
    np.testing.assert_allclose(loss.curvature(z, y), p * q, rtol=digits)
    np.testing.assert_allclose(loss.probabilities(z), np.stack([q, p], -1), rtol=digits)
    ends = np.array([-np.inf, np.inf, np.nan, -1e10, 1e10], dtype)
    np.testing.assert_array_equal(losses.sigmoid(ends), np.array([0, 1, np.nan, 0, 1], dtype))
