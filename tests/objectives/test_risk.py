"""The mean loss of measurements with intercepts eliminated, against plain minimization."""

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


SEPARABLE = [name for name in losses.LOSSES if name != "ordinal"]


@pytest.mark.parametrize("shift", [30, 100, 1e4])
@pytest.mark.parametrize("spread", [0, 1, 300, 1e5])
@pytest.mark.parametrize("name", SEPARABLE)
def test_the_intercepts_are_the_best_wherever_the_measurements_are(name, spread, shift) -> None:
    rng = np.random.default_rng(1)
    y = {"poisson": rng.poisson(2, (N, 2))}.get(name, rng.standard_normal((N, 2)))
    y = np.sign(y) if name in ("logistic", "smoothed-hinge") else y
    loss, y = losses.prepare_loss(name, y.astype(float))
    w = rng.uniform(0.5, 2, (N, 1))
    one = Risk(loss, y, w / w.sum(), offset=rng.standard_normal((N, 2)), intercept=True)
    z = spread * rng.standard_normal((N, 2)) + np.array([shift, -shift])
    low = -2 * np.abs(z).max() * np.ones(2) - 100
    high = -low
    for _ in range(100):  # each column alone: the sum of its slopes never falls
        middle = (low + high) / 2
        rises = one.slope(z + one.offset + middle).sum(axis=0) > 0
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    best = one.value(z + one.offset + middle)
    for start in (None, np.zeros(2), np.full(2, 1e3)):
        assert one.value(one.settle(z, start)[0]) <= best + 1e-9 * abs(best)


@pytest.mark.parametrize("shift", [30, 100, 1e4])
@pytest.mark.parametrize("spread", [0, 1, 30])
def test_so_are_those_of_classes(spread, shift) -> None:
    one, z = risk("multinomial", True)
    z = spread * z + shift * np.array([1, -2, 0])
    at, _ = one.settle(z)
    np.testing.assert_allclose(one.slope(at).sum(axis=0), 0, atol=1e-8)
    moved = one.value(one.settle(z - shift * np.array([1, -2, 0]))[0])
    assert one.value(at) == pytest.approx(moved, rel=1e-9)


def test_labels_that_are_all_alike_keep_finite_intercepts() -> None:
    z = np.random.default_rng(0).standard_normal((N, 1)) * 100
    one = Risk(losses.Logistic(), np.ones((N, 1)), np.full((N, 1), 1 / N), intercept=True)
    at, b = one.settle(z)
    assert np.abs(b).max() < 1e3
    assert one.value(at) < 1e-6


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
