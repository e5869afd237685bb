import itertools

import numpy as np
import pytest

from oracles import Exact, best, penalty_value, problem, random_low_rank
from pygeco import Entries, Ridge, Schatten, Solver, Trace, minimize
from pygeco.algorithm.corrections.core import Core, minimize_core
from pygeco.algorithm.corrections.diagonal import Diagonal
from pygeco.objectives.spans import quadratic as quadratic_span

SHAPES = [(12, 9), (9, 12)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.02])
def test_core_is_stationary_in_its_spans(alpha, weights, shape) -> None:
    case = problem(shape, 0.6, weights=weights)
    path = minimize(
        case.entries, 5, Solver(correction="core"), penalty=Ridge(alpha), random_state=0
    )
    for step in path:
        A, dense = step.A, step.A.to_dense()
        G = case.gradient(dense) + 2 * alpha * dense
        np.testing.assert_allclose(A.U.T @ G @ A.V, 0, atol=1e-10)
        np.testing.assert_allclose(step.certificate.inner, np.sum(G * dense), atol=1e-12)
        np.testing.assert_allclose(step.certificate.inner, 0, atol=1e-10)


@pytest.mark.parametrize("p", [1.5, 3.0])
def test_core_with_a_smooth_schatten_penalty_is_stationary(p) -> None:
    case, penalty = problem(), Schatten(0.01, p)
    path = minimize(case.entries, 4, Solver(correction="core"), penalty=penalty, random_state=0)
    for step in path:
        A = step.A
        G = case.gradient(A.to_dense()) + (A.U * penalty.slope(A.s)) @ A.V.T
        np.testing.assert_allclose(A.U.T @ G @ A.V, 0, atol=1e-7)


@pytest.mark.parametrize("penalty", [Trace(0.05), Schatten(0.01, 1.0)])
@pytest.mark.parametrize("shape", [(8, 6), (6, 8)])
def test_core_with_a_trace_norm_against_cvxpy(penalty, shape) -> None:
    case = problem(shape, 0.7)
    path = minimize(case.entries, 3, Solver(correction="core"), penalty=penalty, random_state=0)
    for step in path:
        optimum = best(case, penalty, U=step.A.U, V=step.A.V)
        np.testing.assert_allclose(step.objective, optimum, rtol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", [0.0, 0.02])
def test_diagonal_coefficients_are_least_squares_over_the_atoms(alpha, shape) -> None:
    case = problem(shape, 0.6, weights=True)
    solver = Solver(correction="diagonal", signs=True)
    path = minimize(case.entries, 5, solver, penalty=Ridge(alpha), random_state=0)
    i, j = np.nonzero(case.W)
    root = np.sqrt(case.W[i, j] / case.W.sum())
    for step in path:
        U, V = step.A.U, step.A.V
        np.testing.assert_allclose(np.linalg.norm(U, axis=0), 1)
        atoms = np.einsum("ik,jk->ijk", U, V)
        design = np.vstack(
            [atoms[i, j] * root[:, None], np.sqrt(alpha) * atoms.reshape(-1, step.rank)]
        )
        wanted = np.append(case.Y[i, j] * root, np.zeros(case.Y.size))
        np.testing.assert_allclose(step.A.s, np.linalg.lstsq(design, wanted)[0], atol=1e-8)


def test_diagonal_keeps_the_pairs_as_they_were_found() -> None:
    case = problem()
    path = minimize(case.entries, 4, Solver(correction="diagonal"), random_state=0)
    for before, after in itertools.pairwise(path):
        np.testing.assert_array_equal(after.A.U[:, :-1], before.A.U)
        np.testing.assert_array_equal(after.A.V[:, :-1], before.A.V)


@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
@pytest.mark.parametrize("penalty", [None, Ridge(0.01), Trace(0.01)])
def test_conjugate_gradients_agree_with_the_direct_core(penalty, shape, monkeypatch) -> None:
    case = problem(shape, 0.6, weights=True)
    solver = Solver(direction=Exact(), correction="core")

    def run():
        path = minimize(case.entries, 7, solver, penalty=penalty)
        return [step.objective for step in path]

    direct = run()
    monkeypatch.setattr(quadratic_span, "MAX_FORMED_COLUMNS", 2)
    np.testing.assert_allclose(run(), direct, rtol=1e-7)


@pytest.mark.parametrize("correction", ["core", "diagonal"])
def test_every_variant_works_beyond_the_direct_core(correction, monkeypatch) -> None:
    monkeypatch.setattr(quadratic_span, "MAX_FORMED_COLUMNS", 2)
    case = problem((30, 20), 0.6)
    solver = Solver(correction=correction, signs=True, replacements=4)
    path = minimize(case.entries, 6, solver, random_state=0)
    values = [step.objective for step in path]
    assert values == sorted(values, reverse=True)
    for step in path:
        np.testing.assert_allclose(step.objective, case.value(step.A.to_dense()))
        if correction == "core":
            G = step.A.U.T @ case.gradient(step.A.to_dense()) @ step.A.V
            np.testing.assert_allclose(G, 0, atol=1e-8)


@pytest.mark.parametrize(
    ("kind", "penalty"),
    [
        (Core, None),
        (Core, Ridge(0.01)),
        (Core, Trace(0.02)),
        (Diagonal, None),
        (Diagonal, Ridge(0.01)),
    ],
)
def test_shrink_has_one_rank_less_and_is_optimal_there(kind, penalty) -> None:
    case = problem((12, 9), 0.7)
    correction = kind(penalty)
    state = correction.start(case.entries, random_low_rank((12, 9), 4).svd())
    rng = np.random.default_rng(0)
    u, v = (x / np.linalg.norm(x) for x in (rng.standard_normal(12), rng.standard_normal(9)))
    grown = correction.extend(state, u, v)
    smaller = correction.shrink(grown)
    assert grown.value < state.value
    assert smaller.A.rank == 4
    assert smaller.value >= grown.value
    for found in (state, grown, smaller):
        dense = found.A.to_dense()
        np.testing.assert_allclose(found.value, case.value(dense) + penalty_value(penalty, dense))
    again = correction.solve(case.entries, smaller.A)
    np.testing.assert_allclose(again.value, smaller.value, rtol=1e-8)


def test_shrink_is_no_worse_than_zeroing_the_weakest_value() -> None:
    """Section 2.1.2 zeroes the smallest singular value; what follows may only help."""
    for seed in range(5):
        case = problem((15, 10), 0.6, seed=seed)
        core = Core()
        state = core.extend(
            core.start(case.entries, random_low_rank((15, 10), 3, seed).svd()),
            np.ones(15),
            np.ones(10),
        )
        zeroed = case.value(state.A.truncate(3).to_dense())
        assert core.shrink(state).value <= zeroed * (1 + 1e-12)


def test_minimize_never_rises_even_from_the_optimum() -> None:
    case = problem()
    A = random_low_rank((12, 9), 3).svd()
    span = case.entries.span(A)
    for penalty in (None, Ridge(0.01), Trace(0.02), Schatten(0.01, 3.0)):
        B, value = minimize_core(span, np.diag(A.s), penalty)
        assert value <= span.value(np.diag(A.s)) + penalty_value(penalty, np.diag(A.s))
        again, same = minimize_core(span, B, penalty)
        assert same <= value
        np.testing.assert_allclose(again, B, atol=1e-6)


def test_a_singular_core_has_a_finite_solution() -> None:
    """Two known cells and sixteen unknowns: many cores fit, one of them is returned."""
    entries = Entries([0, 1], [0, 1], [1.0, 2.0], (5, 5))
    span = entries.span(random_low_rank((5, 5), 4).svd())
    B, value = minimize_core(span, np.zeros((4, 4)), None)
    assert np.all(np.isfinite(B))
    assert value < 1e-14
