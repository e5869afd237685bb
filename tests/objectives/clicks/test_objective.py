"""Clicks against dense arrays: value, gradient, spans, sweeps, paths, certificates."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from click_cases import clicks
from fake_device import FAKE_ENGINE, wrapped
from oracles import Matrix, dense, random_low_rank
from pygeco import Clicks, LowRank, Ridge, Schatten, Solver, Trace, minimize
from pygeco.arrays.kinds import host
from pygeco.objectives.clicks.objective import ClicksGradient

CASES = [{}, {"powers": (0.5, -0.7)}, {"plain": True, "powers": (0.0, 1.0)}, {"shape": (9, 14)}]


@pytest.mark.parametrize("settings", CASES)
def test_value_and_gradient_are_those_of_the_dense_formula(settings) -> None:
    case = clicks(**settings)
    A = random_low_rank(case.W.shape)
    M = A.to_dense()
    G = case.objective.gradient(A)
    assert case.objective.value(A) == pytest.approx(case.value(M), rel=1e-12)
    assert G.value == pytest.approx(case.value(M), rel=1e-12)
    assert G.inner == pytest.approx(np.sum(case.gradient(M) * M), rel=1e-10)
    np.testing.assert_allclose(dense(G), case.gradient(M), atol=1e-12)
    X = np.random.default_rng(1).standard_normal((len(M), 3))
    np.testing.assert_allclose(G.rmatmat(X), case.gradient(M).T @ X, atol=1e-11)
    assert case.objective.value_at_zero == pytest.approx(case.value(0 * M), rel=1e-12)


@pytest.mark.parametrize("settings", CASES)
def test_smoothness_bounds_the_curvature_of_every_cell(settings) -> None:
    case = clicks(**settings)
    largest = 2 * (case.W + case.B).max() / case.W.sum()
    assert largest <= case.objective.smoothness * (1 + 1e-12)
    assert case.objective.smoothness <= 2 * (case.W.max() + case.B.max()) / case.W.sum() + 1e-12


@pytest.mark.parametrize("settings", CASES)
def test_the_span_is_the_objective_over_cores(settings) -> None:
    case = clicks(**settings)
    A = random_low_rank(case.W.shape).svd()
    rng = np.random.default_rng(2)
    m, n = case.W.shape
    span = case.objective.span(A)
    A = A.append(rng.standard_normal(m), rng.standard_normal(n))
    span = span.append(A.U[:, -1], A.V[:, -1])
    B = rng.standard_normal((4, 4))
    M = A.U @ B @ A.V.T
    assert span.value(B) == pytest.approx(case.value(M), rel=1e-10)
    np.testing.assert_allclose(span.slope(B), A.U.T @ case.gradient(M) @ A.V, atol=1e-11)
    C = B + span.newton(B, 0.0)
    np.testing.assert_allclose(span.slope(C), 0, atol=1e-10)
    slope, curvature = span.diagonal(np.ones(4))
    design = np.einsum("ik,jk->kij", A.U, A.V).reshape(4, -1)
    weight = 2 * (case.W + case.B).reshape(-1) / case.W.sum()
    np.testing.assert_allclose(curvature, (design * weight) @ design.T, atol=1e-11)
    np.testing.assert_allclose(slope, design @ case.gradient(A.U @ A.V.T).reshape(-1), atol=1e-11)


@pytest.mark.parametrize("ridge", [0.0, 0.02])
@pytest.mark.parametrize("settings", CASES)
def test_half_sweeps_minimize_over_a_side(settings, ridge) -> None:
    case = clicks(**settings)
    rng = np.random.default_rng(3)
    for side, one in (("column", case), ("row", case.T)):
        fixed = rng.standard_normal((len(one.W), 3))
        start = rng.standard_normal((one.W.shape[1], 3))
        lift = ridge * rng.uniform(0.5, 2.0, len(start))
        W = case.objective.half_sweep(fixed, start, side=side, ridge=lift)
        np.testing.assert_allclose(W, one.solve_columns(fixed, lift), atol=1e-10)


@pytest.mark.parametrize(
    ("correction", "penalty"),
    [
        *itertools.product(["core", "diagonal", "sweep", "descent"], [None, Ridge(0.01)]),
        *itertools.product(["core", "sweep", "descent"], [Trace(0.01), Trace(0.01, gamma=0.5)]),
    ],
)
def test_paths_fall_and_no_certificate_is_violated(correction, penalty) -> None:
    case = clicks(powers=(0.4, 0.3))
    path = minimize(
        case.objective, 4, Solver(correction=correction), penalty=penalty, random_state=0
    )
    values = [step.objective for step in path.steps]
    assert len(values) >= 2
    assert all(b < a for a, b in itertools.pairwise(values))
    best = minimize(case.objective, 9, Solver(correction="core", refine=True), random_state=0).A
    for step in path.steps:
        plain = case.value(step.A.to_dense())
        assert case.objective.value(step.A) == pytest.approx(plain, rel=1e-9)
        if penalty is None:
            gap = step.certificate.gap(trace_norm=float(best.s.sum()))
            assert plain - case.value(best.to_dense()) <= gap * (1 + 1e-9)
            assert step.certificate.inner == pytest.approx(0, abs=1e-8)


def test_other_penalties_and_their_refusals() -> None:
    case = clicks()
    path = minimize(case.objective, 3, penalty=Schatten(0.02, p=1.0), random_state=0)
    assert path[-1].objective < case.objective.value_at_zero
    with pytest.raises(ValueError, match=r"^penalty:"):
        minimize(case.objective, 2, Solver(correction="sweep"), penalty=Schatten(0.1, p=1.0))


def test_without_a_background_it_is_the_mean_over_entries() -> None:
    case = clicks(alpha=0.0)
    one = minimize(case.objective, 3, Solver(correction="core"), random_state=0)
    other = minimize(case.objective.entries, 3, Solver(correction="core"), random_state=0)
    for a, b in zip(one.steps, other.steps, strict=True):
        assert a.objective == pytest.approx(b.objective, rel=1e-10)


def test_permuted_clicks_have_a_permuted_path() -> None:
    rng = np.random.default_rng(4)
    X = sp.random_array((20, 15), density=0.3, rng=rng, format="csr")
    p, q = rng.permutation(20), rng.permutation(15)
    settings = {"background": 0.2, "row_power": 0.5, "column_power": 0.5}
    one = Clicks(X, **settings)
    other = Clicks(X[p][:, q], **settings)
    flipped = Clicks(X.T.tocsr(), **settings)
    A = random_low_rank((20, 15))
    B = LowRank(A.U[p], A.s, A.V[q])
    assert other.value(B) == pytest.approx(one.value(A), rel=1e-12)
    assert flipped.value(A.T) == pytest.approx(one.value(A), rel=1e-12)
    np.testing.assert_allclose(dense(other.gradient(B)), dense(one.gradient(A))[p][:, q])
    W = one.half_sweep(A.U, A.V, side="column")
    np.testing.assert_allclose(other.half_sweep(B.U, B.V, side="column"), W[q], atol=1e-9)
    np.testing.assert_allclose(flipped.half_sweep(A.U, A.V, side="row"), W, atol=1e-9)


def test_confidences_are_weights_and_targets() -> None:
    """Σ_E c (1 − z)² + Σ_rest z², as Hu, Koren and Volinsky state it, up to a constant."""
    rng = np.random.default_rng(5)
    C = np.where(rng.random((8, 6)) < 0.5, rng.uniform(1.5, 9.0, (8, 6)), 0.0)
    i, j = np.nonzero(C)
    c = C[i, j]
    objective = Clicks((i, j, c - 1, C.shape), background=1.0, targets=c / (c - 1))
    A, B = (random_low_rank((8, 6), seed=seed) for seed in (6, 7))

    def stated(M):
        return np.sum(np.where(C > 0, C * (1 - M) ** 2, M * M))

    difference = objective.value(A) - objective.value(B)
    expected = (stated(A.to_dense()) - stated(B.to_dense())) / np.sum(c - 1)
    assert difference == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("correction", ["core", "sweep"])
def test_a_device_gives_the_same_path(correction) -> None:
    case = clicks(powers=(0.5, 0.5))
    there = clicks(powers=(0.5, 0.5), engine=FAKE_ENGINE).objective
    solver = Solver(correction=correction)
    one = minimize(case.objective, 3, solver, penalty=Trace(0.01), random_state=0)
    other = minimize(there, 3, solver, penalty=Trace(0.01), random_state=0)
    for a, b in zip(one.steps, other.steps, strict=True):
        assert a.objective == pytest.approx(b.objective, rel=1e-12)
    assert type(other.A.U) is type(wrapped(np.zeros(1)))
    np.testing.assert_allclose(host(other.A.to_dense()), one.A.to_dense(), atol=1e-10)


def test_it_is_the_sum_of_its_parts() -> None:
    one, other = np.random.default_rng(0).standard_normal((2, 4, 3))
    G = ClicksGradient(Matrix(one), Matrix(other), 2.0, 3.0)
    np.testing.assert_allclose(dense(G), one + other)
    assert (G.value, G.inner, G.shape) == (2.0, 3.0, (4, 3))
