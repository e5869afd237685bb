"""The mean loss of measurements with intercepts eliminated, against plain minimisation."""

import numpy as np
import pytest
import scipy.optimize

from pygeco import losses
from pygeco.losses import Multinomial
from pygeco.objectives.risk import Risk

N = 30


def risk(name: str, intercept: bool) -> tuple[Risk, np.ndarray]:
    rng = np.random.default_rng(0)
    w = rng.uniform(0.5, 2, (N, 1))
    if name == "multinomial":
        loss, y, K = Multinomial((0, 1, 2)), rng.integers(0, 3, N), 3
    else:
        loss = losses.find_loss(name)
        labels = {"logistic": rng.choice([-1.0, 1.0], (N, 2)), "poisson": rng.poisson(2, (N, 2))}
        y, K = labels.get(name, rng.standard_normal((N, 2))).astype(float), 2
    return Risk(loss, y, w / w.sum(), intercept=intercept), rng.standard_normal((N, K))


@pytest.mark.parametrize("name", ["squared", "logistic", "poisson", "multinomial"])
def test_the_intercepts_are_the_best_and_the_slope_is_there(name) -> None:
    one, z = risk(name, True)
    at, b = one.settle(z)
    free = Risk(one.loss, one.y, one.weights)
    best = scipy.optimize.minimize(lambda b: free.value(z + b), np.zeros(z.shape[1]), tol=1e-12)
    assert one.value(at) == pytest.approx(best.fun, rel=1e-8)
    np.testing.assert_allclose(one.slope(at).sum(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose(at, z + b)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", ["squared", "logistic", "poisson", "multinomial"])
def test_slope_and_curvature_are_the_derivatives(name, intercept) -> None:
    one, z = risk(name, intercept)
    dz = np.random.default_rng(1).standard_normal(z.shape)

    def slope(t):
        return one.slope(one.settle(z + t * dz)[0])

    def value(t):
        return one.value(one.settle(z + t * dz)[0])

    t = 1e-4
    assert (value(t) - value(-t)) / (2 * t) == pytest.approx(np.sum(slope(0) * dz), rel=1e-5)
    found = one.curvature(one.settle(z)[0]).act(dz)
    np.testing.assert_allclose(found, (slope(t) - slope(-t)) / (2 * t), atol=1e-6)
