"""The loss of counts."""

import numpy as np
import pytest

from pygeco import MatrixCompletion, losses


def test_conjugate_of_counts():
    """x log x − x at the rate x = a + y, zero at rate zero, and beyond e^cap that of a parabola."""
    y = np.array([0.0, 2.0, 5.0])
    loss = losses.Poisson(cap=0.5)
    np.testing.assert_allclose(loss.conjugate(-y, y), 0.0)
    assert np.all(np.isinf(loss.conjugate(-y - 1e-6, y)))
    assert np.all(np.isfinite(loss.conjugate(-y - 1e-16, y)))
    top = np.exp(0.5)
    np.testing.assert_allclose(loss.conjugate(1.0 - y, y), -1.0)
    np.testing.assert_allclose(loss.conjugate(top - y, y), -top / 2)
    for rate in (2.0, 10.0):  # the maximum over a fine grid of z
        z = np.linspace(0, 10, 100_001)[:, None]
        highest = np.max((rate - y) * z - loss.value(z, y), axis=0)
        np.testing.assert_allclose(loss.conjugate(rate - y, y), highest, rtol=1e-6)


def test_counts():
    with pytest.raises(ValueError, match=r"values: the poisson loss needs counts ≥ 0.* hold -2\."):
        losses.Poisson().targets([0, 3, -2])


def test_counts_of_any_kind():
    np.testing.assert_array_equal(losses.Poisson().targets([0, 3]), [0, 3])
    assert losses.Poisson().targets(np.zeros(0)).shape == (0,)
    assert losses.Poisson(cap=40).smoothness == pytest.approx(np.exp(40))
    for cap in (0.0, -1.0, 40.5):
        with pytest.raises(ValueError, match=r"^cap: must be above 0 and at most 40, not"):
            losses.Poisson(cap=cap)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 1e7, 1e9, 1e12])
def test_counts_of_any_size_are_predicted(scale, dtype):
    rng = np.random.default_rng(0)
    rate = scale * np.exp(np.outer(rng.standard_normal(30), rng.standard_normal(20)))
    Y = rng.poisson(rate).astype(dtype)
    model = MatrixCompletion(loss="poisson", random_state=0).fit(Y)
    assert model.loss_.cap >= max(20, np.log(Y.max()))
    np.testing.assert_allclose(model.to_dense().mean(), Y.mean(), rtol=0.05)
    np.testing.assert_allclose(model.biases_.mean, np.log(Y.mean()), atol=2)


def test_a_cap_that_is_given_stays_and_counts_beyond_all_caps_are_refused():
    assert losses.Poisson(cap=3.0).fitted(np.array([1e9])).cap == 3
    assert losses.Poisson().fitted(np.array([5.0])).cap == losses.Poisson().top == 20
    with pytest.raises(ValueError, match=r"^values: the poisson loss takes counts up to 4.3e\+15"):
        losses.Poisson().targets([1.0, 1e16])
