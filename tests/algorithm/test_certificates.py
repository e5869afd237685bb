from dataclasses import replace

import numpy as np
import pytest

from oracles import Exact, best, penalty_value, problem, random_low_rank
from pygeco import (
    Dense,
    Entries,
    Lanczos,
    LowRank,
    Power,
    Ridge,
    Schatten,
    Solver,
    Trace,
    guaranteed_gap,
    guaranteed_gap_at_rank,
    guaranteed_rank,
    minimize,
)
from pygeco.algorithm.certificates import Certificate, certify

SLACK = 1e-6  # what CVXPY may be off


@pytest.mark.parametrize("penalty", [None, Ridge(0.02), Trace(0.05), Schatten(0.01, 1.0)])
@pytest.mark.parametrize("shape", [(6, 5), (5, 7)])
@pytest.mark.parametrize(
    "solver",
    [
        Solver(direction=Exact(), correction="core"),
        Solver(direction=Power(max_iter=2), correction="core", signs=True, replacements=2),
    ],
)
def test_gap_holds_against_the_true_optimum(solver, shape, penalty) -> None:
    case = problem(shape, 0.6, weights=True)
    path = minimize(case.entries, 4, solver, penalty=penalty, random_state=0)
    for t in (0.5, 3.0, 12.0):
        optimum = best(case, penalty, trace_norm=t)
        for step in path:
            gap = step.certificate.gap(t)
            assert step.objective - optimum <= gap + SLACK
            assert gap <= step.objective
            if penalty is None:  # no larger than the best scaling of the dual point says
                G, R = case.gradient(step.A.to_dense()), step.objective
                sharp = np.sum(G * step.A.to_dense()) + np.linalg.norm(G, 2) * t
                assert gap >= R * (1 - max(0.0, 1 - sharp / (2 * R)) ** 2) - 1e-12


@pytest.mark.parametrize("penalty", [None, Ridge(0.02)])
def test_gap_holds_for_the_diagonal_variant(penalty) -> None:
    case = problem((6, 5), 0.6)
    path = minimize(case.entries, 4, Solver(correction="diagonal"), penalty=penalty, random_state=0)
    for step in path:
        dense = step.A.to_dense()
        trace_norm = np.linalg.norm(dense, "nuc")
        np.testing.assert_allclose(step.certificate.trace_norm, trace_norm)
        assert step.objective - best(case, penalty, trace_norm=trace_norm) <= step.gap + SLACK


@pytest.mark.parametrize("p", [1.5, 3.0])
def test_gap_with_other_schatten_penalties_holds_against_many_matrices(p) -> None:
    case, penalty = problem((6, 5), 0.8), Schatten(0.01, p)
    path = minimize(case.entries, 5, Solver(correction="core"), penalty=penalty, random_state=0)
    rivals = [
        path[-1].A.to_dense(),
        *(random_low_rank((6, 5), 3, seed).to_dense() for seed in range(50)),
    ]
    for step in path:
        for A in rivals:
            value = case.value(A) + penalty_value(penalty, A)
            gap = step.certificate.gap(np.linalg.norm(A, "nuc"))
            assert step.objective - value <= gap + 1e-9


def test_certificate_from_a_start_that_no_correction_has_seen() -> None:
    """⟨G, A⟩ is measured, not assumed to be zero."""
    case = problem((6, 5), 0.8)
    start = random_low_rank((6, 5), 3)
    step = minimize(case.entries, 3, Solver(correction="core"), start=start, random_state=0)[0]
    dense = start.to_dense()
    inner = np.sum(case.gradient(dense) * dense)
    assert abs(inner) > 0.1
    np.testing.assert_allclose(step.certificate.inner, inner)
    for t in (1.0, 5.0, 20.0):
        assert step.objective - best(case, trace_norm=t) <= step.certificate.gap(t) + SLACK


def test_the_trace_penalty_proves_its_optimum() -> None:
    """σ₁(∇R) ≤ α at a stationary point: no matrix of any rank is better."""
    case, penalty = problem((7, 6), 0.8), Trace(0.15)
    solver = Solver(direction=Lanczos(tau=1e-6, max_iter=100), correction="core")
    path = minimize(case.entries, 6, solver, penalty=penalty, random_state=0)
    np.testing.assert_allclose(path[-1].objective, best(case, penalty), rtol=1e-4)
    assert path[-1].gap < 1e-2 * path[-1].objective


@pytest.mark.parametrize("tau", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("trace_norm", [0.3, 4.0, 900.0])
@pytest.mark.parametrize("gap", [1e-3, 0.2, 50.0])
def test_guaranteed_rank_inverts_guaranteed_gap(gap, trace_norm, tau) -> None:
    beta = 2 / 900_000
    rank = guaranteed_rank(trace_norm, gap, smoothness=beta, tau=tau)
    assert guaranteed_gap(trace_norm, rank, smoothness=beta, tau=tau) <= gap * (1 + 1e-12)
    if rank > 0:
        assert guaranteed_gap(trace_norm, rank - 1, smoothness=beta, tau=tau) > gap * (1 - 1e-12)


def test_the_computed_bounds_in_numbers() -> None:
    """inner + σ₁ t; with a trace norm inner + h(A) + (σ₁ − α)₊ t, t at most value / α."""
    plain = Certificate(1.9, 2.0, -0.5, 3.0, 0.999)
    assert plain.gap() == plain.gap(3.0) == pytest.approx(5.5)
    assert plain.gap(0.0) == 0.0
    assert plain.gap(0.25) == 0.5 * plain.rounding  # −½ + ½, which may hide as much
    assert plain.excess(7.0) == np.inf
    steep = Certificate(1.9, 2.0, -0.5, 3.0, 0.999, Trace(0.5), 1.5)
    assert steep.gap(4.0) == pytest.approx(-0.5 + 1.5 + 1.5 * 4.0)
    assert steep.excess(7.0) == np.inf  # R ≥ 0 is not known
    steep = replace(steep, value=5.5, nonnegative=True)
    assert steep.excess(7.0) == pytest.approx(steep.gap(14.0))
    # At c = α/σ₁ = 1/4 the norm no longer counts: h + (1 − c) R + c ⟨G, A⟩.
    assert steep.gap(np.inf) == pytest.approx(1.5 + 0.75 * 5.5 - 0.25 * 0.5)
    held = Certificate(0.4, 0.45, -1.4, 3.0, 0.999, Trace(0.5), 1.5, 7.5, nonnegative=True)
    assert held.gap(4.0) == held.excess(9.0) == pytest.approx(0.1)
    smooth = Certificate(1.9, 2.0, 0.5, 3.0, 0.999, Ridge(0.5), 1.5)
    assert smooth.gap(4.0) == pytest.approx(8.5)
    assert smooth.excess(7.0) == np.inf


def test_bad_arguments_are_named() -> None:
    for name, wrong in (("rank", -1), ("tau", 1.0), ("smoothness", 0.0)):
        settings = {"rank": 2, "tau": 0.0, "smoothness": 1.0, name: wrong}
        with pytest.raises(ValueError, match=f"^{name}: must be"):
            guaranteed_gap(1.0, **settings)
    for wrong in (np.nan, -1.0, "1"):
        with pytest.raises(ValueError, match=r"^trace_norm: must be a number of at least 0"):
            Certificate(1.9, 2.0, -0.5, 3.0, 0.999).gap(wrong)
    with pytest.raises(ValueError, match=r"^gap: must be positive"):
        guaranteed_rank(1.0, 0.0, smoothness=1.0)
    with pytest.raises(ValueError, match=r"^strong_convexity: must be positive"):
        guaranteed_gap_at_rank(1, 1, smoothness=1.0, strong_convexity=0.0, value_at_zero=1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gap_is_no_proof_where_it_is_rounding(dtype) -> None:
    """Near the minimum for a trace norm, ½ strongly convex, in the spans of that minimum."""
    rng, alpha, (m, n) = np.random.default_rng(0), 0.02, (40, 30)
    Y = (10 + rng.standard_normal((m, n))).astype(dtype)
    U, s, Vt = np.linalg.svd(Y.astype(float), full_matrices=False)
    s = s - alpha * m * n / 2
    k = int(np.sum(s > 0))
    for objective in (Dense(Y), Entries(*np.indices((m, n)).reshape(2, -1), Y.ravel(), (m, n))):
        for size in (1e-6, 1e-8, 1e-9):
            for _ in range(10):
                core = np.diag(s[:k]) + size * rng.standard_normal((k, k))
                P, t, Qt = np.linalg.svd(core)
                A = LowRank(U[:, :k] @ P, t, Vt[:k].T @ Qt.T)
                G = objective.gradient(A)
                pair = Lanczos(1e-9, 100)(G, np.random.default_rng(0))
                found = certify(objective, A, G, pair, penalty=Trace(alpha))
                least = np.sum((core - np.diag(s[:k])) ** 2) / (m * n)
                assert found.gap(np.inf) >= 0.99 * least
                assert found.gap() > 0
