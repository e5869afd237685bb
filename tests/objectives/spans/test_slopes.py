"""Cores by value and slopes alone: those of the same function in any unit, and of a dense one."""

import numpy as np
import pytest

from pygeco import Custom, LowRank, Ridge, Solver, Trace, minimize
from pygeco.objectives.custom import CustomSpan

rng = np.random.default_rng(0)
Y, WEIGHTS = rng.standard_normal((7, 5)), 10.0 ** rng.uniform(-3, 0, (7, 5))

# Functions of A − Y, each with its slope and the power of the unit that it grows by.
FUNCTIONS = {
    "squares": (lambda x, c: WEIGHTS * x**2, lambda x, c: 2 * WEIGHTS * x, 2),
    "fourth powers": (lambda x, c: x**4, lambda x, c: 4 * x**3, 4),
    "absolute": (
        lambda x, c: (x * x + (0.3 * c) ** 2) ** 0.5,
        lambda x, c: x / (x * x + (0.3 * c) ** 2) ** 0.5,
        1,
    ),
}
WAYS = {
    "core": (Solver(), lambda c, power: None),
    "diagonal": (Solver(correction="diagonal"), lambda c, power: None),
    "ridge": (Solver(), lambda c, power: Ridge(0.1 * c ** (power - 2))),
    "trace": (Solver(), lambda c, power: Trace(0.2 * c ** (power - 1))),
}


def objective(name, c):
    value, slope, _ = FUNCTIONS[name]
    return Custom(
        Y.shape,
        lambda A: float(np.sum(value(A.to_dense() - c * Y, c))),
        lambda A: slope(A.to_dense() - c * Y, c),
        nonnegative=True,
    )


@pytest.mark.parametrize("unit", [1e-12, 1e-7, 1e12])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_data_may_be_of_any_size(name, way, unit):
    power, (solver, penalty) = FUNCTIONS[name][2], WAYS[way]

    def fit(c):
        return minimize(objective(name, c), 2, solver, penalty=penalty(c, power), random_state=0)

    plain, moved = fit(1.0), fit(unit)
    assert [step.rank for step in moved] == [step.rank for step in plain]
    np.testing.assert_allclose(
        [step.objective / unit**power for step in moved],
        [step.objective for step in plain],
        rtol=1e-6,
    )


def test_value_slope_and_curvature_of_a_dense_function():
    A = LowRank.from_dense(rng.standard_normal((7, 5)), 3)
    span = CustomSpan(objective("squares", 1.0), A.U, A.V)
    B = rng.standard_normal((3, 3))
    X = A.U @ B @ A.V.T - Y
    assert span.value(B) == pytest.approx(np.sum(WEIGHTS * X**2))
    np.testing.assert_allclose(span.slope(B), A.U.T @ (2 * WEIGHTS * X) @ A.V)
    M = np.stack([np.outer(u, v).reshape(-1) for u in A.U.T for v in A.V.T], axis=1)
    H = M.T @ (2 * WEIGHTS.reshape(-1, 1) * M)
    C = rng.standard_normal((3, 3))
    found = span.model(B).slope(B + C) - span.slope(B)
    np.testing.assert_allclose(found.reshape(-1), H @ C.reshape(-1), rtol=1e-6, atol=1e-9)
    best = np.linalg.solve(H + np.eye(9), 2 * M.T @ (WEIGHTS * Y).reshape(-1))
    np.testing.assert_allclose((B + span.newton(B, 1.0)).reshape(-1), best, atol=1e-6)


@pytest.mark.parametrize("power", [-9, 0, 9])
def test_unit_is_the_length_of_the_function(power):
    A = LowRank.from_dense(rng.standard_normal((7, 5)), 2)
    length, value = CustomSpan(objective("fourth powers", 10.0**power), A.U, A.V).units
    assert 1e-2 < length / 10.0**power < 1e2
    assert 1e-3 < value / 10.0 ** (4 * power) < 1e4


def test_a_function_without_curvature_has_the_unit_one():
    flat = Custom(Y.shape, lambda A: float(np.sum(A.to_dense() * Y)), lambda A: Y)
    assert CustomSpan(flat, np.eye(7, 2), np.eye(5, 2)).units.length == 1.0
    zero = Custom(Y.shape, lambda A: 0.0, lambda A: 0 * Y)
    assert CustomSpan(zero, np.eye(7, 2), np.eye(5, 2)).units == (1.0, 1.0)
