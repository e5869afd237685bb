"""Half-sweeps against plain NumPy, and the sweep as a correction."""

from __future__ import annotations

from itertools import pairwise

import numba
import numpy as np
import pytest

from pygeco import Entries, LowRank, Ridge, Schatten, Solver, Stop, Trace, minimize
from pygeco.algorithm.corrections.core import Core
from pygeco.algorithm.corrections.sweep import Sweep
from pygeco.engines.cpu.sweep import CHUNK
from pygeco.engines.cpu.threads import get_num_threads, set_num_threads
from pygeco.objectives import Objective
from pygeco.objectives.entries.half_sweep import Side, half_sweep

DTYPES = [np.float32, np.float64]


@pytest.fixture(autouse=True)
def one_thread():
    """Problems this small are slower on several."""
    before = get_num_threads()
    set_num_threads(1)
    yield
    set_num_threads(before)


def problem(m, n, share, seed=0, dtype=float, weighted=False, rank=3, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    X += noise * rng.standard_normal((m, n))
    mask = rng.random((m, n)) < share
    mask[0, 0] = True
    rows, cols = np.nonzero(mask)
    w = rng.random(len(rows)) + 0.1 if weighted else None
    return Entries(rows, cols, X[mask].astype(dtype), (m, n), sample_weight=w), X


def cells_of(cells, i):
    part = slice(cells.pointers[i], cells.pointers[i + 1])
    w = cells.weights[part] if len(cells.weights) else np.ones(part.stop - part.start)
    return cells.indices[part], cells.values[part].astype(float), w.astype(float)


def reference(cells, partner, prior, center, ridge, tau, offsets):
    """Every row's mean, covariance and expected squared error, one row at a time."""
    n, s = partner.factor.shape
    P = np.column_stack([partner.factor, np.ones(n)])[:, : s + offsets].astype(float)
    W = np.zeros_like(P)
    more = np.zeros(n)
    if len(partner.bias_variance):
        W[:, :s], more = partner.variance, partner.bias_variance
    out = []
    for i in range(len(cells.pointers) - 1):
        j, y, w = cells_of(cells, i)
        r = y - partner.bias[j]
        L = ridge[i] * prior + tau * ((P[j] * w[:, None]).T @ P[j] + np.diag(w @ W[j]))
        covariance = np.linalg.inv(L)
        x = covariance @ (ridge[i] * prior @ center + tau * P[j].T @ (w * r))
        miss = (r - P[j] @ x) ** 2 + more[j] + W[j] @ x**2
        if len(partner.bias_variance):
            miss = miss + (P[j] ** 2 + W[j]) @ np.diag(covariance)
        out.append((x, covariance, L, w @ miss))
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("s", [0, 1, 7, 16, 17, 33])
def test_kernel_is_plain_numpy(s, offsets, dtype):
    rng = np.random.default_rng(s)
    m, n = 21, 40
    entries, _ = problem(m, n, 0.4, seed=s, dtype=dtype, weighted=s % 2 == 1)
    partner = Side(
        rng.standard_normal((n, s)).astype(dtype),
        rng.standard_normal(n).astype(dtype),
        rng.random((n, s)).astype(dtype),
        rng.random(n).astype(dtype),
    )
    start = Side(np.zeros((m, s), dtype), np.zeros(m, dtype))
    d = s + offsets
    if d == 0:
        assert entries.half_sweep(partner.factor, start.factor, side="row").shape == (m, 0)
        return
    half = rng.standard_normal((d, d))
    prior = half @ half.T + np.eye(d)
    center, ridge = rng.standard_normal(d), rng.random(m) + 0.5
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype is np.float64 else {"rtol": 2e-3, "atol": 2e-3}
    for known in (False, True):
        side = partner if known else Side(partner.factor, partner.bias)
        swept = half_sweep(
            entries.by_row, start, side, prior=prior, center=center, ridge=ridge,
            tau=1.7, variances=known, offsets=offsets,
        )  # fmt: skip
        expected = reference(entries.by_row, side, prior, center, ridge, 1.7, offsets)
        x = np.array([row[0] for row in expected])
        np.testing.assert_allclose(swept.side.factor, x[:, :s], **close)
        if offsets:
            np.testing.assert_allclose(swept.side.bias, x[:, s], **close)
        else:
            assert not swept.side.bias.any()
        if known:
            own = np.array([np.diag(row[1]) for row in expected])
            np.testing.assert_allclose(swept.side.variance, own[:, :s], **close)
        error = sum(row[3] for row in expected)
        found = entries.squared_error(swept.side, side) + swept.uncertainty
        assert found == pytest.approx(error, rel=1e-9 if dtype is np.float64 else 1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("s", [1, 17])
def test_noise_draws_from_the_posterior(s, dtype):
    """A draw is the mean plus L⁻ᵀ times the noise, Λ = L Lᵀ, and the mean is handed back too."""
    rng = np.random.default_rng(s)
    m, n = 19, 30
    entries, _ = problem(m, n, 0.5, seed=s, dtype=dtype)
    partner = Side(rng.standard_normal((n, s)).astype(dtype), np.zeros(n, dtype))
    start = Side(np.zeros((m, s), dtype), np.zeros(m, dtype))
    noise = rng.standard_normal((m, s + 1)).astype(dtype)
    swept = half_sweep(entries.by_row, start, partner, prior=np.ones(s + 1), noise=noise, tau=2.0)
    expected = reference(
        entries.by_row, partner, np.eye(s + 1), np.zeros(s + 1), np.ones(m), 2.0, True
    )
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype is np.float64 else {"rtol": 2e-3, "atol": 2e-3}
    for i, (x, _, L, _) in enumerate(expected):
        drawn = x + np.linalg.solve(np.linalg.cholesky(L).T, noise[i].astype(float))
        np.testing.assert_allclose(swept.side.factor[i], drawn[:s], **close)
        np.testing.assert_allclose(swept.side.bias[i], drawn[s], **close)
        np.testing.assert_allclose(swept.mean.factor[i], x[:s], **close)


@pytest.mark.parametrize("shape", [(1, 3 * CHUNK + 5), (3, CHUNK), (2, CHUNK + 1)])
def test_rows_longer_than_a_chunk(shape):
    rng = np.random.default_rng(0)
    y = rng.standard_normal(shape)
    entries = Entries.from_dense(y)
    V = rng.standard_normal((shape[1], 5))
    W = entries.half_sweep(V, np.zeros((shape[0], 5)), side="row", ridge=0.0)
    np.testing.assert_allclose(W, np.linalg.lstsq(V, y.T)[0].T, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("side", ["row", "column"])
def test_half_sweep_is_optimal_for_every_row(side, weighted, dtype):
    """Ridge against augmented least squares; a ridge per row; rows with few or no cells."""
    entries, _ = problem(40, 30, 0.15, seed=3, dtype=dtype, weighted=weighted)
    cells = entries.by_row if side == "row" else entries.by_col
    count, other = entries.shape if side == "row" else entries.shape[::-1]
    rng = np.random.default_rng(1)
    F, ridge = rng.standard_normal((other, 6)), rng.random(count) * 1e-2 + 1e-3
    W = entries.half_sweep(F, np.zeros((count, 6)), side=side, ridge=ridge)
    close = 1e-7 if dtype is np.float64 else 2e-2
    for i in range(count):
        j, y, w = cells_of(cells, i)
        lift = np.sqrt(ridge[i] * entries.total_weight) * np.eye(6)
        M = np.vstack([F[j] * np.sqrt(w)[:, None], lift])
        x = np.linalg.lstsq(M, np.concatenate([y * np.sqrt(w), np.zeros(6)]))[0]
        np.testing.assert_allclose(W[i], x, rtol=close, atol=close)


def test_rows_that_are_not_determined_stay_near_their_start():
    """A row without any cell becomes zero."""
    rng = np.random.default_rng(0)
    F, start = rng.standard_normal((6, 4)), rng.standard_normal((3, 4))
    entries = Entries([0, 0], [1, 2], [1.0, -2.0], (3, 6))
    W = entries.half_sweep(F, start, side="row")
    nearest = start[0] + np.linalg.pinv(F[1:3]) @ ([1.0, -2.0] - F[1:3] @ start[0])
    np.testing.assert_allclose(W[0], nearest, atol=1e-4)
    np.testing.assert_allclose(F[1:3] @ W[0], [1.0, -2.0], atol=1e-7)
    np.testing.assert_array_equal(W[1:], 0.0)


def test_half_sweep_names_its_sides():
    entries, _ = problem(4, 4, 0.9)
    with pytest.raises(ValueError, match="side: unknown name 'both'"):
        entries.half_sweep(np.ones((4, 1)), np.ones((4, 1)), side="both")


@pytest.mark.parametrize("penalty", [None, Ridge(1e-3), Ridge(0.1)])
@pytest.mark.parametrize("seed", range(4))
def test_sweep_decreases_at_least_as_much_as_core(penalty, seed):
    entries, _ = problem(30, 25, 0.3, seed=seed, weighted=seed % 2 == 1)
    rng = np.random.default_rng(seed)
    core, sweep = Core(penalty), Sweep(penalty)
    one = core.start(entries, LowRank.zero(entries.shape))
    for _ in range(4):
        u, v = rng.standard_normal(30), rng.standard_normal(25)
        u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
        other = sweep.extend(sweep.start(entries, one.A), u, v)
        one = core.extend(core.start(entries, one.A), u, v)
        assert other.value <= one.value * (1 + 1e-10)
        h = 0.0 if penalty is None else penalty.value(other.A.s)
        assert other.value == pytest.approx(entries.value(other.A) + h)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("penalty", [None, Ridge(1e-3), Trace(1e-3), Ridge(1e-3, 0.5)])
def test_objective_never_rises(penalty, dtype):
    """Also with empty rows, rows of fewer cells than columns, weights and replacements."""
    entries, _ = problem(24, 18, 0.15, seed=5, dtype=dtype, weighted=True)
    assert (entries.by_row.counts() == 0).any() or (entries.by_row.counts() < 5).any()
    solver = Solver(correction="sweep", replacements=2)
    rank = 2 if isinstance(penalty, Trace) else 5  # those steps take longest
    path = minimize(entries, rank, solver, penalty=penalty, random_state=0)
    values = [entries.value_at_zero, *(step.objective for step in path)]
    assert len(path) >= 2
    assert all(b < a for a, b in pairwise(values))
    for step in path:
        assert step.rank <= 5
        assert np.all(np.isfinite(step.A.to_dense()))
        np.testing.assert_allclose(step.A.U.T @ step.A.U, np.eye(step.rank), atol=1e-9)


def test_shrink_drops_one_rank_and_improves_on_truncation():
    entries, _ = problem(30, 25, 0.4)
    A = minimize(entries, 5, Solver(correction="sweep"), random_state=0).A
    sweep = Sweep()
    state = sweep.shrink(sweep.start(entries, A))
    assert state.A.rank == 4
    assert state.value <= entries.value(A.truncate(4))


def test_exact_recovery():
    """Rank 5, 500 × 500, from 30 % of the cells."""
    entries, X = problem(500, 500, 0.3, rank=5, noise=0.0)
    path = minimize(entries, 5, Solver(correction="sweep"), random_state=0)
    assert np.linalg.norm(path.A.to_dense() - X) <= 1e-4 * np.linalg.norm(X)


@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_for_any_number_of_threads(dtype):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("one core only")
    entries, _ = problem(200, 150, 0.2, dtype=dtype, weighted=True)
    found = []
    for threads in (1, 2):
        set_num_threads(threads)
        found.append(minimize(entries, 4, Solver(correction="sweep"), random_state=0).A)
    np.testing.assert_array_equal(found[0].to_dense(), found[1].to_dense())


@pytest.mark.parametrize("scale", [1e-12, 1e12])
@pytest.mark.parametrize("trace", [False, True])
def test_scale_of_the_data_does_not_matter(scale, trace):
    entries, _ = problem(30, 25, 0.4)
    rows = np.repeat(np.arange(30), entries.by_row.counts())
    other = Entries(rows, entries.by_row.indices, scale * entries.by_row.values, (30, 25))
    solver = Solver(correction="sweep")
    one, two = (
        minimize(e, 3, solver, penalty=Trace(0.01 * c) if trace else None, random_state=0).A
        for e, c in ((entries, 1.0), (other, scale))
    )
    np.testing.assert_allclose(two.to_dense() / scale, one.to_dense(), atol=1e-5)


class Bare(Objective):
    """An objective that states nothing."""


def test_other_penalties_and_objectives_are_refused():
    entries, _ = problem(10, 8, 0.5)
    with pytest.raises(ValueError, match="correction='core'"):
        minimize(entries, 2, Solver(correction="sweep"), penalty=Schatten(0.1, 1.5))
    with pytest.raises(ValueError, match="cannot be swept"):
        Sweep().start(Bare(), LowRank.zero((3, 3)))
    with pytest.raises(ValueError, match="correction: unknown name 'swoop'"):
        Solver(correction="swoop")


def test_a_path_continues():
    entries, _ = problem(30, 25, 0.4)
    solver = Solver(correction="sweep")
    first = minimize(entries, 2, solver, random_state=0)
    assert first.stop is Stop.RANK
    whole = minimize(entries, 4, solver, random_state=0)
    more = minimize(entries, 4, solver, start=first)
    assert [step.rank for step in more] == [1, 2, 3, 4]
    np.testing.assert_allclose(more.A.to_dense(), whole.A.to_dense(), atol=1e-8)


def test_a_long_valley_is_followed_to_the_optimum() -> None:
    """Sweeps that leave rest for a while, in matrices of full rank."""
    rows = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3]
    cols = [0, 1, 4, 5, 6, 0, 1, 3, 4, 5, 6, 2, 4, 5, 1, 2, 3, 4, 5]
    values = [-1.93, -0.335, 0.528, -0.172, -0.955, -0.28, 0.983, -0.249, -0.97, 0.086, 0.269]
    values += [-1.13, -0.015, -0.373, 1.72, -0.589, -0.395, -0.313, 1.365]
    entries = Entries(rows, cols, values, (4, 7))
    for objective in (entries, entries.T):
        path = minimize(objective, 4, penalty=Trace(0.05), random_state=0)
        assert path.stop is Stop.OPTIMAL


def test_a_row_that_single_precision_cannot_hold_stays_as_it_was() -> None:
    values = np.array([0.0, 2e27, 1e30], np.float32)
    entries = Entries([0, 0, 1], [0, 1, 0], values, (2, 2))
    fixed, start = np.array([[-8e-19], [1.0]]), np.array([[3.0], [5.0]])
    found = entries.half_sweep(fixed, start, side="column")
    np.testing.assert_allclose(found, [[1e30], [5.0]], rtol=1e-3)
    path = minimize(entries, 2, Solver(correction="sweep"), random_state=0)
    assert np.all(np.isfinite(path.A.to_dense()))
