"""The small problem of any loss, against the objective itself."""

import numpy as np
import pytest

from entries_cases import EVERY, SHAPES, problem
from pygeco import LowRank
from pygeco.data import make_low_rank
from pygeco.objectives.spans import kronecker


@EVERY
@SHAPES
def test_span_is_the_objective_on_cores(name, shape):
    entries, dense = problem(name, shape)
    A = make_low_rank(shape, 3, random_state=2)
    span = entries.span(A)
    B = np.random.default_rng(6).standard_normal((3, 3))
    full = A.U @ B @ A.V.T
    np.testing.assert_allclose(span.value(B), dense.value(full), rtol=1e-12)
    slope = A.U.T @ dense.gradient(full) @ A.V
    np.testing.assert_allclose(span.slope(B), slope, atol=1e-13)
    K = dense.curvature(full, A.U, A.V)
    ridge = 0.3
    step = np.linalg.solve(K + ridge * np.eye(9), -(slope + ridge * B).reshape(-1)).reshape(3, 3)
    np.testing.assert_allclose(span.newton(B, ridge), step, rtol=1e-9)
    np.testing.assert_allclose(span.slope(B), slope, atol=1e-13)  # remembered, not recomputed
    np.testing.assert_allclose(span.value(B), dense.value(full), rtol=1e-12)
    b = np.array([1.0, -0.5, 0.2])
    diagonal = A.U @ np.diag(b) @ A.V.T
    slope_b, curvature_b = span.diagonal(b)
    np.testing.assert_allclose(slope_b, np.diag(A.U.T @ dense.gradient(diagonal) @ A.V), atol=1e-13)
    K = dense.curvature(diagonal, A.U, A.V)
    np.testing.assert_allclose(curvature_b, K[::4, ::4], atol=1e-13)


@EVERY
@SHAPES
def test_span_grows_and_turns(name, shape):
    entries, dense = problem(name, shape)
    A = make_low_rank(shape, 2, random_state=2).append(np.ones(shape[0]), np.arange(shape[1]) - 1.0)
    span = entries.span(LowRank(A.U[:, :2], A.s[:2], A.V[:, :2]))
    span = span.append(A.U[:, 2], A.V[:, 2])
    rng = np.random.default_rng(7)
    P, Q = (
        np.linalg.qr(rng.standard_normal((3, 3)))[0],
        np.linalg.qr(rng.standard_normal((3, 2)))[0],
    )
    turned = span.rotate(P, Q)
    B = rng.standard_normal((3, 2))
    full = A.U @ P @ B @ Q.T @ A.V.T
    np.testing.assert_allclose(turned.value(B), dense.value(full), rtol=1e-11)
    slope = (A.U @ P).T @ dense.gradient(full) @ (A.V @ Q)
    np.testing.assert_allclose(turned.slope(B), slope, atol=1e-12)
    K = dense.curvature(full, A.U @ P, A.V @ Q)
    step = np.linalg.solve(K + np.eye(6), -(slope + B).reshape(-1)).reshape(3, 2)
    np.testing.assert_allclose(turned.newton(B, 1.0), step, rtol=1e-9)


@EVERY
def test_lipschitz_bounds_the_curvature_at_zero(name):
    entries, dense = problem(name)
    A = make_low_rank((9, 6), 3, random_state=2)
    K = dense.curvature(np.zeros((9, 6)), A.U, A.V)
    assert entries.span(A).lipschitz() >= np.linalg.eigvalsh(K)[-1] * (1 - 1e-12)


@pytest.mark.parametrize("name", ["logistic", "poisson", "huber"])
def test_conjugate_gradients_give_the_same_step(name, monkeypatch):
    entries, _ = problem(name, (30, 20))
    A = make_low_rank((30, 20), 4, random_state=2)
    B = np.random.default_rng(6).standard_normal((4, 4))
    direct = entries.span(A).newton(B, 0.01)
    monkeypatch.setattr(kronecker, "MAX_FORMED_UNKNOWNS", 0)
    np.testing.assert_allclose(entries.span(A).newton(B, 0.01), direct, rtol=1e-3, atol=1e-5)
