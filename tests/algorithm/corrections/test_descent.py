"""The core and a descent in turn: rest under a trace norm, where rows cannot be swept."""

import numpy as np
import pytest

from pygeco import Custom, Dense, Entries, LowRank, Quadratic, Solver, Trace, minimize
from pygeco.algorithm.corrections.descent import Descent


def problem():
    Y = np.random.default_rng(0).standard_normal((6, 5))
    objective = Custom(
        Y.shape,
        lambda A: float(np.mean((A.to_dense() - Y) ** 2)),
        lambda A: 2 * (A.to_dense() - Y) / Y.size,
    )
    return Y, objective


def test_it_rests_at_the_optimum_of_a_trace_norm() -> None:
    """That of ‖A − Y‖²/(mn) + α‖A‖_tr has Y's singular values less α mn/2, none below zero."""
    Y, objective = problem()
    alpha = 0.08
    state = Descent(Trace(alpha)).solve(objective, LowRank.from_dense(Y))
    s = np.linalg.svd(Y, compute_uv=False)
    best = np.maximum(s - alpha * Y.size / 2, 0)
    assert 0 < np.count_nonzero(best) < 5
    found = np.append(state.A.s, np.zeros(5 - state.A.rank))
    np.testing.assert_allclose(found, best, rtol=1e-4, atol=1e-9)
    assert state.value == pytest.approx(np.mean((s - best) ** 2) * 5 / 30 + alpha * best.sum())


def test_without_a_penalty_it_is_the_core() -> None:
    Y, objective = problem()
    descent = Descent(None)
    assert not descent.rests
    A = LowRank.from_dense(Y).truncate(2)
    state = descent.solve(objective, LowRank(A.U, A.s / 3, A.V))
    assert state.value == pytest.approx(objective.value(A))  # the best one in these spans


@pytest.mark.parametrize("alpha", [10.0, 1e3])
@pytest.mark.parametrize("name", ["custom", "dense", "entries", "quadratic"])
def test_a_start_that_a_larger_weight_shrinks_to_nothing(name, alpha) -> None:
    """Above α = σ₁(∇R(0)) zero is the optimum, of a start of any rank."""
    Y, custom = problem()
    objective = {
        "custom": custom,
        "dense": Dense(Y),
        "entries": Entries(*np.indices(Y.shape).reshape(2, -1), Y.ravel(), Y.shape),
        "quadratic": Quadratic(Y, Y[:, 0]),
    }[name]
    start = LowRank.from_dense(np.eye(*objective.shape), 2)
    solver = Solver(refine=True, correction="descent")
    path = minimize(objective, 3, solver, penalty=Trace(alpha), start=start, random_state=0)
    assert path.A.rank == 0
    assert path[-1].objective == objective.value(path.A)
