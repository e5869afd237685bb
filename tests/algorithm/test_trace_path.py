"""The trace-norm optimum against CVXPY, the duality gap against the true one, the path's laws."""

from __future__ import annotations

import cvxpy
import numpy as np
import pytest

from pygeco import Entries, LowRank, Ridge, Solver, Stop, Trace, duality_gap, minimize, trace_path
from pygeco.engines.cpu.threads import get_num_threads, set_num_threads
from pygeco.objectives import Objective
from pygeco.objectives.scaled import scale_matrix, scale_objective


@pytest.fixture(autouse=True)
def one_thread():
    """Problems this small are slower on several."""
    before = get_num_threads()
    set_num_threads(1)
    yield
    set_num_threads(before)


def problem(m, n, share, seed=0, weighted=False, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    X += 0.3 * rng.standard_normal((m, n))
    mask = rng.random((m, n)) < share * np.linspace(0.3, 1.7, m)[:, None]
    mask[0, 0] = True
    rows, cols = np.nonzero(mask)
    y = X[mask].astype(dtype)
    w = rng.random(len(y)).astype(dtype) + dtype(0.1) if weighted else None
    return Entries(rows, cols, y, (m, n), sample_weight=w)


def weights(entries, gamma):
    """The row and column weights, from the observed cells alone."""
    sides = []
    for cells in (entries.by_row, entries.by_col):
        d = np.maximum(np.diff(cells.pointers), 1.0) ** gamma
        sides.append(d / d.mean())
    return sides


def dense(entries):
    m, _ = entries.shape
    rows = np.repeat(np.arange(m), entries.by_row.counts())
    Y, W = np.zeros(entries.shape), np.zeros(entries.shape)
    at = rows, entries.by_row.indices
    w = entries.by_row.weights
    Y[at], W[at] = entries.by_row.values, w if len(w) else 1.0
    return Y, W


def optimum(entries, alpha, gamma=0.0):
    """The least R(A) + α‖D_r^½ A D_c^½‖_tr, by an interior-point method."""
    Y, W = dense(entries)
    A = cvxpy.Variable(entries.shape)
    d, c = (np.sqrt(side) for side in weights(entries, gamma))
    fit = cvxpy.sum_squares(cvxpy.multiply(np.sqrt(W / W.sum()), A - Y))
    norm = cvxpy.normNuc(cvxpy.diag(d) @ A @ cvxpy.diag(c))
    found = cvxpy.Problem(cvxpy.Minimize(fit + alpha * norm))
    found.solve("CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return objective(entries, LowRank.from_dense(A.value), alpha, gamma), A.value


def objective(entries, A, alpha, gamma=0.0):
    Y, W = dense(entries)
    d, c = (np.sqrt(side) for side in weights(entries, gamma))
    X = A.to_dense()
    singular = np.linalg.svd(d[:, None] * X * c, compute_uv=False)
    return float(np.sum(W * (X - Y) ** 2) / W.sum() + alpha * singular.sum())


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("share", [0.6, 0.2, 0.05])
@pytest.mark.parametrize(("shape", "seed"), [((9, 7), 0), ((6, 11), 1)])
def test_certified_optimum_is_cvxpys(shape, seed, share, gamma):
    entries = problem(*shape, 0.6, seed, weighted=seed == 1)
    top = duality_gap(entries, LowRank.zero(shape), Trace(0.0, gamma)).sigma
    alpha = share * top
    solver = Solver(correction="sweep", tol=1e-7)
    path = minimize(entries, min(shape), solver, penalty=Trace(alpha, gamma), random_state=0)
    assert path.stop is Stop.OPTIMAL
    best, A = optimum(entries, alpha, gamma)
    found = objective(entries, path.A, alpha, gamma)
    assert path[-1].objective == pytest.approx(found, rel=1e-10)
    assert found == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(path.A.to_dense(), A, atol=2e-3 * np.abs(A).max())


@pytest.mark.parametrize("seed", range(3))
def test_reported_gap_is_never_below_the_true_gap(seed):
    """At the optimum, near it, far from it, and at zero."""
    entries = problem(8, 7, 0.6, seed, weighted=seed == 2)
    rng = np.random.default_rng(seed)
    G = entries.gradient(LowRank.zero(entries.shape)).matmat(np.eye(entries.shape[1]))
    top = float(np.linalg.norm(G, 2))
    for share in (1.2, 0.5, 0.1):
        penalty = Trace(share * top, 0.5 * (seed == 1))
        best, A = optimum(entries, penalty.alpha, penalty.gamma)
        for size in (0.0, 1e-6, 1e-3, 1.0):
            near = LowRank.from_dense(A + size * rng.standard_normal(A.shape))
            dual = duality_gap(entries, near, penalty)
            value = objective(entries, near, penalty.alpha, penalty.gamma)
            assert dual.objective == pytest.approx(value, rel=1e-12)
            assert dual.gap >= value - best
        zero = duality_gap(entries, LowRank.zero(entries.shape), penalty)
        assert zero.gap >= entries.value_at_zero - best
        # The gap is not just a bound: it closes at the optimum.
        assert duality_gap(entries, LowRank.from_dense(A), penalty).gap <= 1e-4 * best


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_path_from_zero_to_the_data(dtype):
    entries = problem(14, 12, 0.6, dtype=dtype)
    rows, cols, values = [0, 3, 5], [1, 2, 11], [0.5, -0.5, 1.0]
    path = trace_path(entries, count=6, ratio=0.02, validation=(rows, cols, values))
    alphas = [step.alpha for step in path]
    G = entries.gradient(LowRank.zero(entries.shape)).matmat(np.eye(entries.shape[1]))
    np.testing.assert_allclose(alphas, np.linalg.norm(G, 2) * np.geomspace(1, 0.02, 6), rtol=1e-5)
    assert path[0].rank == 0
    assert {step.stop for step in path} == {Stop.OPTIMAL}
    assert all(step.gap <= 2e-6 * step.objective for step in path)
    fits = [entries.value(step.A) for step in path]
    assert fits == sorted(fits, reverse=True)
    for step in path:
        miss = step.A.entries(rows, cols) - values
        assert step.error == pytest.approx(np.sqrt(np.mean(miss**2)))
    assert path.best.error == min(step.error for step in path)
    assert "OPTIMAL" in repr(path)


def test_each_alpha_is_the_same_from_a_cold_start():
    entries = problem(14, 12, 0.6)
    solver = Solver(correction="sweep", tol=1e-8)
    for step in trace_path(entries, alphas=[0.01, 0.05, 0.002], solver=solver):
        cold = minimize(entries, 12, solver, penalty=Trace(step.alpha), random_state=3)
        assert step.objective == pytest.approx(cold[-1].objective, rel=1e-7)


def test_rank_limit_is_said_and_each_alpha_is_still_solved():
    entries = problem(14, 12, 0.6)
    path = trace_path(entries, count=5, ratio=0.01, rank=2)
    assert path[-1].stop is Stop.RANK
    assert path[-1].gap > 1e-3 * path[-1].objective
    assert max(step.rank for step in path) == 2
    for step, before in zip(path[1:], path, strict=False):
        stale = objective(entries, before.A, step.alpha)
        assert step.objective < stale


def test_scaled_objective_is_a_change_of_variables():
    entries = problem(9, 7, 0.6)
    rng = np.random.default_rng(0)
    A = LowRank.from_dense(rng.standard_normal((9, 7)), 2)
    change = scale_objective(entries, 0.7)
    B = scale_matrix(change, A)
    d, c = (np.sqrt(side) for side in weights(entries, 0.7))
    np.testing.assert_allclose(B.to_dense(), d[:, None] * A.to_dense() * c, atol=1e-12)
    assert change.value(B) == pytest.approx(entries.value(A))
    G, H = entries.gradient(A), change.gradient(B)
    x, y = rng.standard_normal(7), rng.standard_normal(9)
    np.testing.assert_allclose(H.matvec(x), G.matvec(x / c) / d)
    np.testing.assert_allclose(H.rmatvec(y), G.rmatvec(y / d) / c)
    assert scale_objective(entries, 0.0) is entries


@pytest.mark.parametrize("correction", ["core", "diagonal", "sweep"])
def test_weighted_ridge_is_minimized(correction):
    """None is below the closed form, cell by cell, and sweeps at full rank reach it."""
    entries = problem(6, 5, 0.7)
    Y, W = dense(entries)
    d, c = weights(entries, 1.0)
    lift = 0.01 * np.outer(d, c)
    exact = (W / W.sum()) * Y / (W / W.sum() + lift)
    best = np.sum(W * (exact - Y) ** 2) / W.sum() + np.sum(lift * exact**2)
    path = minimize(
        entries, 5, Solver(correction=correction), penalty=Ridge(0.01, 1.0), random_state=0
    )
    assert path[-1].objective >= best * (1 - 1e-12)
    found = path.A.to_dense()
    value = np.sum(W * (found - Y) ** 2) / W.sum() + np.sum(lift * found**2)
    assert path[-1].objective == pytest.approx(value)
    if correction == "sweep":
        assert value == pytest.approx(best, rel=1e-6)


def test_zero_data_are_proved_to_need_nothing():
    entries = Entries([0, 1, 2], [0, 1, 0], np.zeros(3), (3, 2))
    path = minimize(entries, 2, penalty=Trace(0.1), random_state=0)
    assert path.stop is Stop.OPTIMAL
    assert len(path) == 0


def test_zero_is_optimal_above_alpha_max():
    entries = problem(9, 7, 0.6)
    path = minimize(entries, 7, Solver(correction="sweep"), penalty=Trace(10.0), random_state=0)
    assert path.stop is Stop.OPTIMAL
    assert path.A.rank == 0


class Bare(Objective):
    """An objective that counts no cells."""


def test_bad_arguments_are_named():
    entries = problem(9, 7, 0.6)
    for name, settings in {
        "alphas": {"alphas": [0.1, -1.0]},
        "count": {"count": 0},
        "ratio": {"ratio": 1.5},
        "gamma": {"gamma": -1.0},
        "count: expected an integer": {"count": 2.5},
        "validation": {"validation": ([0], [0, 1], [1.0])},
        "validation: row -1 is outside 0 … 8": {"validation": ([3, -1], [0, 0], [1.0, 1.0])},
        "validation: column 7 is outside 0 … 6": {"validation": ([3], [7], [1.0])},
        "validation: expected integers as rows": {"validation": ([3.0], [0], [1.0])},
        "validation: has values that are NaN": {"validation": ([3], [0], [np.nan])},
    }.items():
        with pytest.raises(ValueError, match=rf"^{name}"):
            trace_path(entries, **settings)
    with pytest.raises(ValueError, match=r"^validation: "):
        _ = trace_path(entries, alphas=[0.1]).best
    with pytest.raises(ValueError, match=r"^tol: "):
        Solver(tol=0.0)
    with pytest.raises(ValueError, match=r"^gamma: Bare "):
        scale_objective(Bare(), 0.5)
