"""The solver under every loss: Algorithm 1 in dense NumPy, and convex optima from CVXPY."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.optimize

from loss_cases import CASES, sample
from oracles import optimum
from pygeco import Entries, Lanczos, LowRank, Ridge, Solver, Trace, minimize
from pygeco.algorithm.directions import Pair

EVERY = pytest.mark.parametrize("name", CASES)
SHAPE = (12, 9)


class Exact:
    """Step 4 by the dense SVD."""

    def __call__(self, G, rng):
        dense = np.column_stack([G.matvec(e) for e in np.eye(G.shape[1])])
        P, s, Qt = np.linalg.svd(dense)
        return Pair(P[:, 0], Qt[0], float(s[0]), float(s[0]), 0, "singular")


def problem(name, shape=SHAPE, share=0.8, seed=0):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random(shape) < share)
    loss, _, y = sample(name, len(rows), seed + 1)
    w = rng.uniform(0.5, 2, len(rows))
    return Entries(rows, cols, y, shape, loss=loss, sample_weight=w), (loss, rows, cols, y, w)


def algorithm_1(cells, shape, rank, alpha):
    """Objectives of ranks 1, 2, …: the paper's Algorithm 1 with dense matrices only.

    R(A) = Σ w ℓ(A_ij, y_ij) / Σ w + α ‖A‖²_F, the core minimized by a general optimizer.
    """
    loss, rows, cols, y, w = cells
    share = w / w.sum()

    def R(A):
        return share @ loss.value(A[rows, cols], y) + alpha * np.sum(A * A)

    def gradient(A):
        G = np.zeros(shape)
        G[rows, cols] = share * loss.slope(A[rows, cols], y)
        return G + 2 * alpha * A

    U, V, A, objectives = np.zeros((shape[0], 0)), np.zeros((shape[1], 0)), np.zeros(shape), []
    for s in range(1, rank + 1):
        P, _, Qt = np.linalg.svd(gradient(A))
        U = np.linalg.qr(np.column_stack([U, P[:, 0]]))[0]
        V = np.linalg.qr(np.column_stack([V, Qt[0]]))[0]

        def core(b, U=U, V=V, s=s):
            A = U @ b.reshape(s, s) @ V.T
            return R(A), (U.T @ gradient(A) @ V).reshape(-1)

        start = (U.T @ A @ V).reshape(-1)
        for _ in range(3):  # restarts: the line search of BFGS may give up early
            found = scipy.optimize.minimize(
                core, start, jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 2000}
            )
            start = found.x
        A = U @ found.x.reshape(s, s) @ V.T
        objectives.append(found.fun)
    return objectives


@EVERY
def test_path_is_algorithm_1(name):
    entries, cells = problem(name)
    alpha = 1e-3  # labels that a rank separates have no finite minimum without it
    solver = Solver(direction=Exact(), correction="core")
    path = minimize(entries, 3, solver, penalty=Ridge(alpha), random_state=0)
    expected = algorithm_1(cells, SHAPE, 3, alpha)
    np.testing.assert_allclose([step.objective for step in path], expected, rtol=1e-7, atol=1e-9)


@EVERY
@pytest.mark.parametrize(("correction", "dtype"), [("core", np.float32), ("diagonal", np.float64)])
def test_objective_never_rises(name, correction, dtype):
    _, (loss, rows, cols, y, w) = problem(name, (25, 20), seed=5)
    entries = Entries(rows, cols, y.astype(dtype), (25, 20), loss=loss, sample_weight=w)
    solver = Solver(correction=correction, replacements=1, signs=True)
    path = minimize(entries, 3, solver, random_state=0)
    objectives = [entries.value_at_zero, *(step.objective for step in path)]
    assert np.all(np.diff(objectives) < 0)
    assert len(path) == 3
    for step in path:
        tolerance = 1e-12 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(step.objective, entries.value(step.A), rtol=tolerance, atol=1e-9)


@EVERY
def test_core_is_stationary(name):
    entries, _ = problem(name)
    solver = Solver(correction="core")
    step = minimize(entries, 3, solver, penalty=Ridge(1e-3), random_state=0)[-1]
    A = step.A
    small = A.U.T @ np.column_stack([entries.gradient(A).matvec(v) for v in A.V.T])
    np.testing.assert_allclose(small + 2e-3 * np.diag(A.s), 0, atol=2e-6)
    np.testing.assert_allclose(step.certificate.inner, 0, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in CASES if name != "poisson-capped"])
def test_full_rank_is_the_convex_optimum(name):
    shape, alpha = (5, 5), 0.01
    entries, cells = problem(name, shape)
    path = minimize(entries, 5, penalty=Ridge(alpha), random_state=0)
    best = optimum(name, cells[1:], shape, lambda A: alpha * cp.sum_squares(A))
    assert path[-1].objective == pytest.approx(best, rel=1e-6, abs=1e-7)
    assert np.all([step.objective >= best - 1e-6 for step in path])


@pytest.mark.parametrize("name", [name for name in CASES if name != "poisson-capped"])
def test_trace_norm_optimum(name):
    shape, alpha = (5, 5), 0.05
    entries, cells = problem(name, shape)
    solver = Solver(direction=Lanczos(tau=1e-9))
    path = minimize(entries, 5, solver, penalty=Trace(alpha), random_state=0)
    best = optimum(name, cells[1:], shape, lambda A: alpha * cp.normNuc(A))
    assert path[-1].objective == pytest.approx(best, rel=1e-5, abs=1e-6)


@EVERY
def test_certificate_holds_against_a_wide_search(name):
    entries, _ = problem(name)
    step = minimize(entries, 2, random_state=0)[-1]
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = LowRank.from_dense(rng.standard_normal(SHAPE) + step.A.to_dense())
        other = LowRank(other.U, other.s * (step.A.s.sum() / other.s.sum()), other.V)
        assert step.objective - entries.value(other) <= step.gap + 1e-12
