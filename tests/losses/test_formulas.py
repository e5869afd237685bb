"""Laws that hold for every loss, against finite differences and convex duality."""

import pickle

import numpy as np
import pytest

from loss_cases import CASES, CONJUGATE, KINKED, sample
from pygeco import losses

EVERY = pytest.mark.parametrize("name", CASES)


def away_from_kinks(name, z, y, room=1e-3):
    """Cells whose curvature is the same a little to the left and right."""
    if name not in KINKED:
        return np.ones(len(z), bool)
    loss = CASES[name][0]
    return loss.curvature(z - room, y) == loss.curvature(z + room, y)


@EVERY
def test_slope_is_the_derivative_of_the_value(name):
    loss, z, y = sample(name, 2000)
    h = 1e-5
    quotient = (loss.value(z + h, y) - loss.value(z - h, y)) / (2 * h)
    np.testing.assert_allclose(loss.slope(z, y), quotient, atol=2e-5, rtol=1e-6)


@EVERY
def test_curvature_is_the_derivative_of_the_slope(name):
    loss, z, y = sample(name, 2000)
    h = 1e-5
    keep = away_from_kinks(name, z, y)
    assert keep.mean() > 0.9
    quotient = (loss.slope(z + h, y) - loss.slope(z - h, y)) / (2 * h)
    # A loss without a curvature of its own may only over-estimate, and not by much.
    tolerance = 1e-3 if name == "custom" else 1e-7
    np.testing.assert_allclose(loss.curvature(z, y)[keep], quotient[keep], atol=tolerance)


@EVERY
def test_convex_and_smooth(name):
    loss, z, y = sample(name, 2000)
    other = np.random.default_rng(1).permutation(z)
    rise = loss.value(other, y) - loss.value(z, y) - loss.slope(z, y) * (other - z)
    assert rise.min() >= -1e-9
    if np.isfinite(loss.smoothness):
        bound = 0.5 * loss.smoothness * (other - z) ** 2
        assert np.all(rise <= bound * (1 + 1e-9) + 1e-9)
        assert loss.curvature(z, y).max() <= loss.smoothness * (1 + 1e-12)


@EVERY
def test_stiffness_is_positive_where_the_slope_is_not_zero(name):
    loss, z, y = sample(name, 2000)
    stiffness = loss.stiffness(z, y)
    assert np.all(stiffness >= loss.curvature(z, y))
    assert np.all(stiffness[loss.slope(z, y) != 0] > 0)
    far = z + 50 * np.sign(z)
    steep = np.abs(loss.slope(far, y)) > 1e-8
    assert np.all(loss.stiffness(far, y)[steep] > 0) or name in ("logistic", "ordinal", "poisson")


@pytest.mark.parametrize("name", CONJUGATE)
def test_fenchel_young(name):
    loss, z, y = sample(name, 2000)
    a = loss.slope(z, y)
    touch = loss.value(z, y) + loss.conjugate(a, y) - a * z
    np.testing.assert_allclose(touch, 0, atol=1e-9)
    other = np.random.default_rng(1).permutation(z)
    assert np.all(loss.value(other, y) + loss.conjugate(a, y) >= a * other - 1e-9)


@pytest.mark.parametrize("name", [n for n in CONJUGATE if n not in ("squared", "poisson-capped")])
def test_conjugate_is_infinite_where_the_maximum_is(name):
    loss, _, y = sample(name, 50)
    a = np.full(50, -1e3)
    assert np.all(np.isinf(loss.conjugate(a, y)))
    far = -1e6 * np.ones(50)
    assert np.all(a * far - loss.value(far, y) > 1e5)


@EVERY
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept_and_nothing_overflows(name, dtype):
    loss, z, y = sample(name, 400)
    z, y = z.astype(dtype), y.astype(dtype)
    z[:4] = [-1e4, 1e4, -1e4, 1e4]
    with np.errstate(all="raise", under="ignore"):
        for formula in (loss.value, loss.slope, loss.curvature, loss.stiffness):
            out = formula(z, y)
            assert out.dtype == dtype
            assert np.all(np.isfinite(out))
        response = loss.response(z)
    assert response.dtype == dtype
    assert np.all(np.isfinite(response))
    near = loss.value(z.astype(float), y.astype(float))
    np.testing.assert_allclose(loss.value(z, y), near, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["huber", "pseudo-huber", "log-cosh", "absolute", "quantile"])
@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e16), (np.float64, 1e100)])
def test_nothing_overflows_at_the_largest_data(name, dtype, size):
    loss = sample(name, 1)[0]
    z, y = size * np.array([-1, 1, 1, -1], dtype), size * np.array([1, 1, -1, 0.1], dtype)
    with np.errstate(all="raise", under="ignore"):
        for formula in (loss.value, loss.slope, loss.curvature, loss.stiffness):
            assert np.all(np.isfinite(formula(z, y)))


REGRESSION = [name for name in CASES if CASES[name][0].regression]


@pytest.mark.parametrize("name", REGRESSION)
def test_small_residuals_keep_their_digits(name):
    x = np.logspace(-6, 1, 50).astype(np.float32)
    loss, zero = CASES[name][0], np.zeros_like(x)
    for z in (x, -x):
        exact = loss.value(z.astype(float), zero.astype(float))
        np.testing.assert_allclose(loss.value(z, zero), exact, rtol=1e-5)


@EVERY
def test_pickles_and_works_on_empty_arrays(name):
    loss, z, y = sample(name, 20)
    again = pickle.loads(pickle.dumps(loss))
    np.testing.assert_array_equal(again.value(z, y), loss.value(z, y))
    assert loss.value(z[:0], y[:0]).shape == (0,)
    assert loss.stiffness(z[:0], y[:0]).shape == (0,)


@EVERY
def test_formulas_keep_the_shape(name):
    loss, z, y = sample(name, 12)
    np.testing.assert_array_equal(
        loss.slope(z.reshape(3, 4), y.reshape(3, 4)), loss.slope(z, y).reshape(3, 4)
    )


def test_published_values():
    one, zero = np.ones(1), np.zeros(1)
    assert losses.Squared().value(3 * one, one) == 4
    assert losses.Huber(1.0).value(3 * one, zero) == 2.5  # |x| − ½, the paper's section 4
    assert losses.Huber(1.0).value(0.5 * one, zero) == 0.125
    np.testing.assert_allclose(losses.Logistic().value(zero, one), np.log(2))
    np.testing.assert_allclose(losses.LogCosh().value(one, zero), np.log(np.cosh(1)))
    np.testing.assert_allclose(losses.Poisson().value(one, 2 * one), np.e - 2)


@pytest.mark.parametrize(("name", "count"), [("logistic", 2), ("ordinal", 4)])
def test_probabilities_of_any_shape(name, count):
    """(…) predictions have (…, K) probabilities, each as if it were alone."""
    loss, z, _ = sample(name, 12)
    np.testing.assert_array_equal(
        loss.probabilities(z.reshape(3, 4)), loss.probabilities(z).reshape(3, 4, count)
    )
