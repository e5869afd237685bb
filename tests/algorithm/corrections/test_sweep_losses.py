"""Half-sweeps as a correction, under every loss."""

import cvxpy as cp
import numpy as np
import pytest

from loss_cases import CASES, sample
from pygeco import Custom, Dense, Entries, LowRank, Ridge, Schatten, Solver, Trace, losses, minimize
from pygeco.algorithm.corrections.core import Core
from pygeco.algorithm.corrections.sweep import Sweep
from pygeco.data import make_low_rank, make_ratings

EVERY = pytest.mark.parametrize("name", CASES)


def problem(name, shape=(25, 18), share=0.6, seed=0):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random(shape) < share)
    loss, _, y = sample(name, len(rows), seed + 1)
    w = rng.uniform(0.5, 2, len(rows))
    return Entries(rows, cols, y, shape, loss=loss, sample_weight=w), (rows, cols, y, w)


@EVERY
@pytest.mark.parametrize("penalty", [None, Ridge(0.003)], ids=["none", "ridge"])
def test_a_sweep_falls_at_least_as_far_as_the_core(name, penalty):
    entries, _ = problem(name)
    start = Core(penalty).start(entries, LowRank.zero(entries.shape))
    u, v = (
        make_low_rank(entries.shape, 1, random_state=3).U[:, 0],
        make_low_rank((18, 4), 1).U[:, 0],
    )
    core, swept = (kind(penalty).extend(start, u, v) for kind in (Core, Sweep))
    assert swept.value <= core.value
    h = 0.0 if penalty is None else penalty.value(swept.A.s)
    assert swept.value == pytest.approx(entries.value(swept.A) + h, rel=1e-9, abs=1e-12)
    assert swept.A.orthonormal
    again = Sweep(penalty).extend(swept, u[::-1], v[::-1])
    assert again.value <= swept.value
    assert Sweep(penalty).shrink(again).A.rank == 1


def slope(entries, A, alpha) -> float:
    """The largest number in the slopes of the objective by the singular vectors of A."""
    G = entries.gradient(A)
    pairs = list(zip(A.U.T, A.s, A.V.T, strict=True))
    left = [G.matvec(v) + 2 * alpha * s * u for u, s, v in pairs]
    right = [G.rmatvec(u) + 2 * alpha * s * v for u, s, v in pairs]
    return max(np.abs(left).max(), np.abs(right).max())


@EVERY
def test_path_never_rises_and_ends_stationary(name):
    entries, _ = problem(name)
    alpha = 0.01
    path = minimize(entries, 3, Solver(correction="sweep"), penalty=Ridge(alpha), random_state=0)
    objectives = [entries.value_at_zero, *(step.objective for step in path)]
    assert np.all(np.diff(objectives) < 0)
    A = minimize(entries, 3, Solver(correction="core"), penalty=Ridge(alpha), random_state=0)[-1]
    assert path[-1].objective <= A.objective * (1 + 1e-6) + 1e-6
    A = path[-1].A
    for _ in range(150):
        A = Sweep(Ridge(alpha)).solve(entries, A).A
        if slope(entries, A, alpha) <= 2e-4:
            break
    assert slope(entries, A, alpha) <= 2e-4


@pytest.mark.parametrize("name", ["huber", "absolute", "quantile", "pseudo-huber", "log-cosh"])
@pytest.mark.parametrize("width", [1e-6, 0.1])
def test_targets_far_from_zero_do_not_stall(name, width):
    """Where all cells are far, a loss that is linear there bends too little for the first steps."""
    ratings = make_ratings((60, 40), 1200, random_state=1)
    loss = {
        "huber": losses.Huber(width),
        "absolute": losses.Absolute(width),
        "quantile": losses.Quantile(0.5, width),
        "pseudo-huber": losses.PseudoHuber(width),
        "log-cosh": losses.LogCosh(),
    }[name]
    entries = Entries(ratings.rows, ratings.cols, np.round(ratings.values), (60, 40), loss=loss)
    core, swept = (
        minimize(entries, 3, Solver(correction=correction), random_state=0)
        for correction in ("core", "sweep")
    )
    assert [step.rank for step in swept] == [1, 2, 3]
    assert swept[-1].objective <= 1.02 * core[-1].objective


def test_half_sweep_is_least_squares():
    entries, (rows, cols, y, w) = problem("squared")
    fixed = np.random.default_rng(0).standard_normal((25, 3))
    found = entries.half_sweep(fixed, np.zeros((18, 3)), side="column", ridge=0.01)
    lift = np.sqrt(0.01 * w.sum()) * np.eye(3)
    for j in range(18):
        at, root = cols == j, np.sqrt(w[cols == j])
        M = np.vstack([root[:, None] * fixed[rows[at]], lift])
        best = np.linalg.lstsq(M, np.append(root * y[at], np.zeros(3)), rcond=None)[0]
        np.testing.assert_allclose(found[j], best, rtol=1e-7, atol=1e-9)
    with pytest.raises(ValueError, match="side: unknown name 'left'"):
        entries.half_sweep(fixed, np.zeros((18, 3)), side="left")


def test_trace_norm_by_sweeps_is_the_convex_optimum():
    entries, (rows, cols, y, w) = problem("squared", (8, 8), 0.9)
    alpha = 0.1
    solver = Solver(correction="sweep")
    path = minimize(entries, 8, solver, penalty=Trace(alpha), random_state=0)
    A = cp.Variable((8, 8))
    z = cp.reshape(A, (64,), order="C")[rows * 8 + cols]
    fit = cp.sum(cp.multiply(w / w.sum(), cp.square(z - y)))
    best = cp.Problem(cp.Minimize(fit + alpha * cp.normNuc(A))).solve(solver=cp.CLARABEL)
    assert path[-1].objective == pytest.approx(best, rel=1e-5)


def test_what_cannot_be_swept():
    with pytest.raises(ValueError, match="use Ridge or Trace"):
        Sweep(Schatten(0.1, 1.5))
    with pytest.raises(ValueError, match="use 'auto', 'core', 'descent', 'diagonal' or 'sweep'"):
        Solver(correction="sweeps")
    Y = np.arange(12.0).reshape(4, 3)
    dense = Custom(
        (4, 3),
        lambda A: float(np.sum((A.to_dense() - Y) ** 2)),
        lambda A: 2 * (A.to_dense() - Y),
    )
    with pytest.raises(ValueError, match="correction: Custom cannot be swept"):
        minimize(dense, 1, Solver(correction="sweep"), random_state=0)


class Quartic(losses.Loss):
    regression = nonnegative = True

    def value(self, z, y):
        return (z - y) ** 4

    def slope(self, z, y):
        return 4 * (z - y) ** 3


@pytest.mark.parametrize("loss", ["poisson", Quartic()], ids=["poisson", "own"])
@pytest.mark.parametrize("kind", [Entries, Dense])
def test_single_precision_finds_the_optimum_of_a_trace_norm_that_double_does(loss, kind):
    """Where a loss bends much more than here, its first step may be hidden by rounding."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 20)) / 2
    Y = rng.poisson(np.exp(Z)) if loss == "poisson" else Z
    found = []
    for dtype in (np.float32, np.float64):
        if kind is Entries:
            objective = Entries(
                *np.indices(Y.shape).reshape(2, -1), Y.ravel().astype(dtype), loss=loss
            )
        else:
            objective = Dense(Y.astype(dtype), loss)
        zero = LowRank.zero(Y.shape)
        alpha = 0.1 * np.linalg.norm(objective.gradient(zero).matmat(np.eye(20)), 2)
        path = minimize(objective, 6, penalty=Trace(float(alpha)), random_state=0)
        found.append((path.A.rank, path[-1].objective))
    assert found[0][0] == found[1][0] > 1
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-4)
