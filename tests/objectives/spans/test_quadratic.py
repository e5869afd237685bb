"""The small problem B ↦ R(U B Vᵀ) of the squared loss, against dense formulas."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from oracles import problem, random_low_rank
from pygeco.objectives.spans import quadratic as quadratic_span

SHAPES = [(12, 9), (9, 12)]


@pytest.fixture(params=["direct", "conjugate gradients"])
def span(request, monkeypatch):
    if request.param != "direct":
        monkeypatch.setattr(quadratic_span, "MAX_FORMED_COLUMNS", 1)

    def make(case, A):
        return case.entries.span(A)

    return make


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weights", [False, True])
def test_value_slope_and_newton(span, shape, weights) -> None:
    case, A = problem(shape, 0.8, weights=weights), random_low_rank(shape, 3).svd()
    small = span(case, A)
    B = np.random.default_rng(0).standard_normal((3, 3))

    def value(b):
        return case.value(A.U @ b.reshape(3, 3) @ A.V.T)

    slope = A.U.T @ case.gradient(A.U @ B @ A.V.T) @ A.V
    np.testing.assert_allclose(small.value(B), value(B))
    np.testing.assert_allclose(small.slope(B), slope, atol=1e-12)
    for ridge in (0.0, 0.3):
        best = B + small.newton(B, ridge)
        np.testing.assert_allclose(small.slope(best) + ridge * best, 0, atol=1e-8)
    L = small.lipschitz()
    for C in np.random.default_rng(1).standard_normal((20, 3, 3)):
        change = np.linalg.norm(small.slope(B + C) - small.slope(B))
        assert change <= L * np.linalg.norm(C) * (1 + 1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_rotate_and_append_are_changes_of_basis(span, shape) -> None:
    case, A = problem(shape, 0.8), random_low_rank(shape, 4).svd()
    rng = np.random.default_rng(2)
    P, Q = rng.standard_normal((4, 3)), rng.standard_normal((4, 2))
    B = rng.standard_normal((3, 2))
    turned = span(case, A).rotate(P, Q)
    np.testing.assert_allclose(turned.value(B), case.value(A.U @ P @ B @ Q.T @ A.V.T))
    R = rng.standard_normal((2, 2))
    again = turned.rotate(np.eye(3)[:, :2], R)
    C = rng.standard_normal((2, 2))
    np.testing.assert_allclose(again.value(C), case.value(A.U @ P[:, :2] @ C @ R.T @ Q.T @ A.V.T))
    u, v = rng.standard_normal(shape[0]), rng.standard_normal(shape[1])
    grown = again.append(u, v)
    D = rng.standard_normal((3, 3))
    U, V = np.column_stack([A.U @ P[:, :2], u]), np.column_stack([A.V @ Q @ R, v])
    np.testing.assert_allclose(grown.value(D), case.value(U @ D @ V.T))
    np.testing.assert_allclose(grown.slope(D), U.T @ case.gradient(U @ D @ V.T) @ V, atol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_diagonal_slope_and_curvature(span, shape) -> None:
    case, A = problem(shape, 0.8, weights=True), random_low_rank(shape, 3)
    small = span(case, A)
    b = np.random.default_rng(0).standard_normal(3)

    def value(b):
        return case.value((A.U * b) @ A.V.T)

    slope, curvature = small.diagonal(b)
    np.testing.assert_allclose(slope, approx_fprime(b, value, 1e-6), rtol=1e-4, atol=1e-4)
    steps = np.random.default_rng(1).standard_normal((10, 3))
    for d in steps:
        exact = value(b) + slope @ d + d @ curvature @ d / 2
        np.testing.assert_allclose(value(b + d), exact)
