"""The paper's theorems: bounds that hold along paths, and as they are printed."""

import numpy as np
import pytest

from oracles import best, problem
from pygeco import (
    Lanczos,
    Solver,
    guaranteed_gap,
    guaranteed_gap_at_rank,
    guaranteed_rank,
    minimize,
)

SLACK = 1e-6  # what CVXPY may be off


@pytest.mark.parametrize("tau", [0.0, 0.5])
@pytest.mark.parametrize("solver", ["core", "diagonal"])
def test_theorem_1_holds_along_the_path(solver, tau) -> None:
    case = problem((8, 6), 0.7)
    choice = Solver(direction=Lanczos(tau=tau, max_iter=100), correction=solver)
    path = minimize(case.entries, 5, choice, random_state=0)
    beta = case.entries.smoothness
    for t in (0.5, 2.0, 8.0):
        optimum = best(case, trace_norm=t)
        for step in path:
            bound = guaranteed_gap(t, step.rank, smoothness=beta, tau=tau)
            assert step.objective <= optimum + bound + SLACK


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_theorem_2_holds_where_strong_convexity_is_known(rank) -> None:
    """Every cell observed: R = ‖A − Y‖²/(mn) is 2/(mn)-strongly convex over orthonormal pairs."""
    case = problem((10, 8), 1.1)
    sigma = beta = 2 / 80
    np.testing.assert_allclose(case.entries.smoothness, beta)
    path = minimize(case.entries, 8, Solver(correction="core"), random_state=0)
    s = np.linalg.svd(case.Y, compute_uv=False)
    optimum = np.sum(s[rank:] ** 2) / 80  # the best matrix of this rank
    for step in path:
        bound = guaranteed_gap_at_rank(
            rank,
            step.rank,
            smoothness=beta,
            strong_convexity=sigma,
            value_at_zero=case.value(0.0),
            tau=0.05,
        )
        assert step.objective <= optimum + bound


def test_theorem_2_follows_from_theorem_1() -> None:
    """‖Ā‖²_tr ≤ 2 rank(Ā) R(0) / σ, put into Theorem 1 (the paper's appendix)."""
    rank, at_zero, sigma, beta = 3, 2.5, 0.04, 0.1
    trace_norm = np.sqrt(2 * rank * at_zero / sigma)
    for r, tau in ((1, 0.0), (7, 0.3)):
        first = guaranteed_gap(trace_norm, r, smoothness=beta, tau=tau)
        second = guaranteed_gap_at_rank(
            rank, r, smoothness=beta, strong_convexity=sigma, value_at_zero=at_zero, tau=tau
        )
        np.testing.assert_allclose(first, second)


def test_theorem_1_as_it_is_printed() -> None:
    """2β‖Ā‖² / ((r + 1)(1 − τ)²), and the rank that it asks for; τ is 0 where none is given."""
    assert guaranteed_gap(3.0, 1, smoothness=0.5) == pytest.approx(4.5)
    assert guaranteed_gap(3.0, 8, smoothness=0.5) == pytest.approx(1.0)
    assert guaranteed_gap(3.0, 0, smoothness=0.5, tau=0.5) == pytest.approx(36.0)
    assert guaranteed_rank(3.0, 1.0, smoothness=0.5) == 8
    assert guaranteed_rank(3.0, 1.0, smoothness=0.5, tau=0.5) == 35
    assert guaranteed_rank(3.0, 100.0, smoothness=0.5) == 0
    at_rank = guaranteed_gap_at_rank(2, 3, smoothness=0.5, strong_convexity=0.25, value_at_zero=3.0)
    assert at_rank == pytest.approx(12.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: guaranteed_gap(-3.0, 1, smoothness=0.5), "^trace_norm: must be finite and at"),
        (lambda: guaranteed_rank(np.nan, 1.0, smoothness=0.5), "^trace_norm: must be finite"),
        (lambda: guaranteed_rank(np.inf, 1.0, smoothness=0.5), "^trace_norm: must be finite"),
        (lambda: guaranteed_rank(1e200, 1e-300, smoothness=0.1), "^gap: 1e-300 is so small"),
        (lambda: guaranteed_rank(1.0, 5e-324, smoothness=0.1, tau=0.9), "^gap: 5e-324 is so"),
        (lambda: theorem_2(-2, 1.0), "^other_rank: must be at least 0, not -2"),
        (lambda: theorem_2(2, -1.0), "^value_at_zero: must be at least 0, not -1"),
    ],
)
def test_numbers_that_no_theorem_is_about_are_refused(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def theorem_2(other_rank, value_at_zero) -> float:
    return guaranteed_gap_at_rank(
        other_rank, 1, smoothness=0.5, strong_convexity=1.0, value_at_zero=value_at_zero
    )
