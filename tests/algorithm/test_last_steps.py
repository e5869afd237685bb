"""Newton's last steps: to all digits, and never up."""

import numpy as np
import pytest
import scipy.optimize

from pygeco.algorithm.last_steps import ENOUGH, settle_slope


def logistic(seed=0, ridge=1e-3):
    """Value and slope of a logistic regression, and its minimum by dense Newton steps."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 6)), rng.choice([-1.0, 1.0], 40)

    def both(w):
        z = y * (X @ w)
        p = 1 / (1 + np.exp(z))
        return np.logaddexp(0, -z).mean() + ridge * w @ w, -X.T @ (y * p) / 40 + 2 * ridge * w

    w = np.zeros(6)
    for _ in range(30):
        p = 1 / (1 + np.exp(X @ w))
        H = (X * (p * (1 - p))[:, None]).T @ X / 40 + 2 * ridge * np.eye(6)
        w = w - np.linalg.solve(H, both(w)[1])
    return both, w


@pytest.mark.parametrize("seed", range(4))
def test_they_find_the_digits_that_values_do_not_tell(seed) -> None:
    both, best = logistic(seed)
    near = scipy.optimize.minimize(both, np.zeros(6), jac=True, method="L-BFGS-B").x
    assert np.abs(near - best).max() > 1e-7
    found = settle_slope(both, near, 200)
    np.testing.assert_allclose(found.x, best, atol=1e-10)
    assert 1 < found.calls <= 60


def test_turns_of_two_factors_stay_as_they_are() -> None:
    """½‖L Rᵀ − Y‖² is as low at L T and R T⁻ᵀ: its curvature is singular."""
    rng = np.random.default_rng(0)
    L, R = rng.standard_normal((6, 2)), rng.standard_normal((5, 2))
    Y = L @ R.T

    def both(x):
        L, R = x[:12].reshape(6, 2), x[12:].reshape(5, 2)
        E = L @ R.T - Y
        return 0.5 * np.sum(E * E), np.concatenate([(E @ R).ravel(), (E.T @ L).ravel()])

    start = np.concatenate([L.ravel(), R.ravel()])
    start = start + 1e-4 * rng.standard_normal(start.size)
    found = settle_slope(both, start, 500)
    assert np.linalg.norm(both(found.x)[1]) <= ENOUGH
    assert np.linalg.norm(found.x - start) < 1e-2


@pytest.mark.parametrize("start", [0.0, 0.1, 3.0])
def test_they_never_rise_where_there_is_no_minimum(start) -> None:
    """Cosine bends down at zero; e⁻ˣ has no minimum; of a constant nothing is asked."""
    for both in (
        lambda x: (float(np.cos(x[0])), -np.sin(x)),
        lambda x: (float(np.exp(-x[0])), -np.exp(-x)),
        lambda x: (1.0, 0 * x),
    ):
        x = np.array([start])
        found = settle_slope(both, x, 50)
        assert both(found.x)[0] <= both(x)[0]
        assert found.calls <= 60
