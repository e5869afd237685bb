"""Soft-Impute and its ALS form: against CVXPY, dense NumPy, and GECO's proof of optimality."""

import numpy as np
import pytest

from oracles import best, penalty_value, problem
from pygeco import Entries, Solver, Stop, Trace, minimize
from pygeco.rivals import soft_impute


def top(task) -> float:
    return float(np.linalg.norm(task.gradient(np.zeros_like(task.Y)), 2))


@pytest.mark.parametrize("als", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_reaches_the_convex_optimum(als, weights):
    task = problem((9, 7), weights=weights, seed=1)
    alphas = top(task) * np.array([0.5, 0.1, 0.02])
    path = soft_impute(task.entries, 7, alphas, als=als, tol=1e-8, max_iter=20000, random_state=0)
    assert path.stop is Stop.CONVERGED
    for alpha, step in zip(alphas, path, strict=True):
        A = step.A.to_dense()
        found = task.value(A) + penalty_value(Trace(alpha), A)
        assert found == pytest.approx(best(task, Trace(alpha)), rel=1e-5)


def test_is_the_paper_s_algorithm():
    task = problem((14, 10), seed=2)
    seen, lam = task.W > 0, 1.5
    alpha = 2 * lam / task.entries.size  # λ/2‖·‖² in the paper against the mean here
    Z = np.zeros_like(task.Y)
    for count in range(1, 6):
        P, s, Qt = np.linalg.svd(np.where(seen, task.Y, Z), full_matrices=False)
        Z = (P * np.maximum(s - lam, 0)) @ Qt
        path = soft_impute(task.entries, 10, alpha, max_iter=count, tol=0, random_state=0)
        np.testing.assert_allclose(path.A.to_dense(), Z, atol=1e-8)
        assert path.stop is Stop.ITERATIONS


@pytest.mark.parametrize("loss", ["huber", "logistic"])
def test_any_smooth_loss_reaches_what_geco_proves_optimal(loss):
    rng = np.random.default_rng(3)
    Y = rng.choice([-1.0, 1.0], (10, 8)) * (1 if loss == "logistic" else rng.uniform(0, 4, (10, 8)))
    rows, cols = np.nonzero(rng.random(Y.shape) < 0.7)
    entries = Entries(rows, cols, Y[rows, cols], Y.shape, loss=loss)
    proved = minimize(entries, 8, Solver(correction="sweep"), penalty=Trace(0.04), random_state=0)
    assert proved.stop is Stop.OPTIMAL
    path = soft_impute(entries, 8, 0.04, tol=1e-8, max_iter=20000, random_state=0)
    found = path[-1].objective + 0.04 * path.A.s.sum()
    assert found == pytest.approx(proved[-1].objective, rel=1e-4)


@pytest.mark.parametrize("als", [False, True])
def test_the_path_starts_at_zero_and_grows(als):
    task = problem((20, 16), seed=4)
    alphas = top(task) * np.array([1.01, 0.6, 0.3, 0.1, 0.03])
    path = soft_impute(task.entries, 16, alphas, als=als, tol=1e-5, random_state=0)
    assert path[0].rank == 0
    sizes = [step.certificate.trace_norm for step in path]
    assert np.all(np.diff(sizes) > 0)
    assert np.all(np.diff([step.objective for step in path]) < 0)
    assert path.at(path[-1].rank) is path[-1]


def test_the_rank_is_limited_and_the_grid_left_open():
    task = problem((14, 11), seed=5)
    for als in (False, True):
        path = soft_impute(task.entries, 3, als=als, tol=1e-3, random_state=0)
        assert len(path) == 10
        assert max(step.rank for step in path) == 3
    with pytest.raises(ValueError, match=r"^alphas: expected one or more numbers > 0"):
        soft_impute(task.entries, 3, [0.1, 0.0])
