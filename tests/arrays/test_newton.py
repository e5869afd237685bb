"""Newton's method with a line search, on functions whose minimum is known."""

import numpy as np
import pytest

from pygeco.arrays.newton import descend, search


def test_a_quadratic_takes_one_step() -> None:
    rng = np.random.default_rng(0)
    M = rng.standard_normal((5, 5))
    H, b = M @ M.T + np.eye(5), rng.standard_normal(5)
    steps = []

    def newton(x):
        slope = H @ x - b
        steps.append(1)
        step = -np.linalg.solve(H, slope)
        return step, float(-slope @ step)

    x, value = descend(lambda x: float(x @ H @ x / 2 - b @ x), newton, np.zeros(5), 50)
    np.testing.assert_allclose(x, np.linalg.solve(H, b))
    assert value == pytest.approx(-b @ np.linalg.solve(H, b) / 2)
    assert len(steps) <= 3


@pytest.mark.parametrize("start", [-30.0, -1.0, 0.0, 25.0])
def test_it_descends_from_afar_where_whole_steps_overshoot(start) -> None:
    """Σ log(1 + e^z) − z/4: plain Newton diverges from afar; the minimum is at log(1/3)."""

    def objective(x):
        return float(np.logaddexp(0, x[0]) - x[0] / 4)

    def newton(x):
        p = 1 / (1 + np.exp(-x[0]))
        slope, curvature = p - 0.25, max(p * (1 - p), 1e-12)
        return np.array([-slope / curvature]), slope**2 / curvature

    x, value = descend(objective, newton, np.array([start]), 200)
    assert x[0] == pytest.approx(np.log(1 / 3), abs=1e-6)
    assert value <= objective(np.array([start]))


def test_a_step_that_lowers_nothing_is_not_taken() -> None:
    length, value = search(lambda x: float(x[0] ** 2), np.array([0.0]), np.array([1.0]), 0.0, 0.0)
    assert (length, value) == (0.0, 0.0)


def test_where_a_function_falls_to_zero_at_infinity_it_ends() -> None:
    """Each step on e^x gains nearly all that is left; the last ones would be of zero by zero."""
    seen = []

    def newton(x):
        seen.append(float(np.exp(x[0])))
        return np.array([-30.0]), 30 * seen[-1]

    _, value = descend(lambda x: float(np.exp(x[0])), newton, np.zeros(1), 50)
    assert 0 < value < 1e-30
    assert len(seen) < 5
