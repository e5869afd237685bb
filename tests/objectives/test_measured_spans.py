"""The core problem of every measured objective, against finite differences of itself."""

import numpy as np
import pytest

from measured_cases import CASES, features, random_matrix
from pygeco import LowRank
from pygeco.objectives import measured

EVERY = pytest.mark.parametrize("name", CASES)
# Losses whose Newton steps use their own curvature, nothing stiffer.
PLAIN = pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.loss not in ("huber", "poisson")]
)


def core(case, seed=0):
    """Spans and a core (symmetric where A is)."""
    rank = min(2, *case.shape)
    A = random_matrix(case, rank, seed)
    B = np.random.default_rng(seed + 1).standard_normal((rank, rank)) / 2
    T = A.U.T @ A.V if case.symmetric else np.eye(rank)
    return A, ((B + B.T) / 2 @ T if case.symmetric else B)


def differences(f, B, t=1e-5):
    """df/dB with the axes of f first."""
    columns = []
    for k in range(B.size):
        E = np.zeros(B.size)
        E[k] = t
        E = E.reshape(B.shape)
        columns.append((np.asarray(f(B + E)) - np.asarray(f(B - E))) / (2 * t))
    return np.stack(columns, axis=-1)


@EVERY
def test_value_and_slope(name):
    case = CASES[name]
    A, B = core(case)
    span = case.objective.span(A)
    assert span.value(B) == pytest.approx(case.value(A.U @ B @ A.V.T), rel=1e-12)
    np.testing.assert_allclose(span.slope(B).reshape(-1), differences(span.value, B), atol=1e-7)


@PLAIN
def test_newton_step_solves_the_system_of_the_curvature(name):
    case = CASES[name]
    A, B = core(case)
    span, ridge = case.objective.span(A), 0.05
    H = differences(lambda B: span.slope(B).reshape(-1), B) + ridge * np.eye(B.size)
    step = span.newton(B, ridge).reshape(-1)
    np.testing.assert_allclose(H @ step, -(span.slope(B) + ridge * B).reshape(-1), atol=1e-6)


@PLAIN
def test_model_has_the_slope_and_the_curvature(name):
    case = CASES[name]
    A, B = core(case)
    span = case.objective.span(A)
    C = 2 * B - np.diag(A.s)  # another core of the same spans, symmetric where B is
    model, D = span.model(B), C - B
    H = differences(lambda B: span.slope(B).reshape(-1), B)
    bent = H @ D.reshape(-1)
    np.testing.assert_allclose(
        model.slope(C).reshape(-1), span.slope(B).reshape(-1) + bent, atol=1e-6
    )
    expected = span.value(B) + np.sum(span.slope(B) * D) + bent @ D.reshape(-1) / 2
    assert model.value(C) == pytest.approx(expected, abs=1e-6)
    assert np.linalg.norm(model.slope(C) - model.slope(B)) <= model.lipschitz() * np.linalg.norm(
        D
    ) * (1 + 1e-9)


@PLAIN
def test_diagonal(name):
    case = CASES[name]
    A, _ = core(case)
    b = np.array([0.4, -0.7])[: A.rank]
    span = case.objective.span(A)
    slope, curvature = span.diagonal(b)
    np.testing.assert_allclose(slope, differences(lambda b: span.value(np.diag(b)), b), atol=1e-7)
    expected = differences(lambda b: span.diagonal(b)[0], b)
    np.testing.assert_allclose(curvature, expected, atol=1e-6)


@EVERY
def test_append_and_rotate_are_the_same_problem(name):
    case = CASES[name]
    rank = min(3, *case.shape)
    A = random_matrix(case, rank)
    rng = np.random.default_rng(3)
    grown = case.objective.span(A.truncate(rank - 1)).append(A.U[:, -1], A.V[:, -1])
    whole = case.objective.span(A)
    B = np.diag(A.s)
    assert grown.value(B) == pytest.approx(whole.value(B), rel=1e-12)
    np.testing.assert_allclose(grown.slope(B), whole.slope(B), atol=1e-12)
    P = np.linalg.qr(rng.standard_normal((rank, rank)))[0]
    Q = np.linalg.qr(rng.standard_normal((rank, rank)))[0]
    moved = grown.rotate(P, Q)
    C = P.T @ B @ Q
    assert moved.value(C) == pytest.approx(whole.value(B), rel=1e-10)
    np.testing.assert_allclose(moved.slope(C), P.T @ whole.slope(B) @ Q, atol=1e-9)


@PLAIN
def test_large_cores_by_conjugate_gradients(name, monkeypatch):
    case = CASES[name]
    A, B = core(case)
    span = case.objective.span(A)
    direct, model = span.newton(B, 0.05), span.model(B)
    monkeypatch.setattr(measured, "MAX_FORMED_UNKNOWNS", 0)
    free = case.objective.span(A)
    np.testing.assert_allclose(free.newton(B, 0.05), direct, rtol=1e-4, atol=1e-5)
    if len(free.frame.pack(B)) > 2:  # Lanczos needs more than one dimension
        assert free.model(B).lipschitz() == pytest.approx(model.lipschitz(), rel=0.03)
        np.testing.assert_allclose(free.model(B).slope(0 * B), model.slope(0 * B), atol=1e-9)


def test_a_value_after_a_slope_measures_nothing(monkeypatch):
    case = features("multinomial", intercept=True)
    A, B = core(case)
    span = case.objective.span(A)
    value = span.value(B)
    monkeypatch.setattr(type(span.frame), "forward", None)
    span.slope(B)
    assert span.value(B) == value
    with pytest.raises(TypeError):
        span.value(2 * B)


def test_many_rows_in_blocks(monkeypatch):
    for name in ("features, multinomial", "quadratic", "sensing, pairs, logistic"):
        case = CASES[name]
        A, B = core(case)
        whole = case.objective.span(A).newton(B, 0.1)
        monkeypatch.setattr("pygeco.objectives.features.ROWS_AT_ONCE", 7)
        monkeypatch.setattr("pygeco.objectives.bilinear.ROWS_AT_ONCE", 7)
        np.testing.assert_allclose(case.objective.span(A).newton(B, 0.1), whole, atol=1e-10)


def test_columns_of_any_length_and_angle():
    """A diagonal correction keeps columns that are not orthonormal."""
    case = CASES["sensing, pairs, logistic"]
    rng = np.random.default_rng(0)
    A = LowRank(rng.standard_normal((4, 3)), np.ones(3), rng.standard_normal((6, 3)))
    b = rng.standard_normal(3)
    D = (A.U * b) @ A.V.T
    assert case.objective.span(A).value(np.diag(b)) == pytest.approx(case.value(D), rel=1e-12)
