"""JS and Hazan: their iterates against dense NumPy, their gaps and rates against CVXPY."""

import numpy as np
import pytest

from oracles import best, dense, problem
from pygeco import Custom, Dense, Entries, LowRank, Stop
from pygeco.rivals import hazan, js
from pygeco.rivals.frank_wolfe import approx_ev


@pytest.mark.parametrize("rival", [js, hazan])
@pytest.mark.parametrize("t", [3.0, 12.0])
def test_the_gap_bounds_the_distance_to_the_optimum(rival, t):
    task = problem((12, 9), seed=1)
    least = best(task, trace_norm=t)
    path = rival(task.entries, 60, t, random_state=0)
    for step in path:
        assert np.linalg.norm(step.A.to_dense(), "nuc") <= t * (1 + 1e-9)
        excess = step.objective - least
        assert -1e-6 <= excess <= step.gap + 1e-6
        assert step.objective == pytest.approx(task.value(step.A.to_dense()))
    assert path[-1].gap < 0.2 * path[0].gap


def exponent(values, first=100) -> float:
    """p of the fit values ≈ c k^−p over the iterations from `first` on."""
    k = np.arange(1, len(values) + 1)[first:]
    return -np.polyfit(np.log(k), np.log(values[first:]), 1)[0]


@pytest.mark.parametrize("rival", [js, hazan])
def test_converges_like_one_over_k(rival):
    task = problem((20, 15), seed=2, noise=0.5)
    t = 0.5 * np.linalg.norm(task.Y, "nuc")
    path = rival(task.entries, 120, t, random_state=0)
    least = best(task, trace_norm=t)
    C = 2 * task.entries.smoothness * t**2
    excess = np.array([step.objective for step in path]) - least
    assert np.all(excess <= 8 * C / (np.arange(len(path)) + 3))  # Theorem 1 of both papers
    assert exponent(excess) >= 0.9
    assert 0.9 <= exponent([step.gap for step in path]) <= 1.2


def test_js_line_search_never_rises_and_hazan_may():
    task = problem((12, 9), seed=4)
    values = [step.objective for step in js(task.entries, 40, 5.0, random_state=0)]
    assert np.all(np.diff(values) <= 1e-12)


@pytest.mark.parametrize("error", [1.0, 1e-2, 1e-6])
def test_approx_ev_errs_by_no_more_than_it_may(error):
    G = problem((30, 20), seed=5).entries.gradient(LowRank.zero((30, 20)))
    pair = approx_ev(G, error, np.random.default_rng(0))
    top = np.linalg.norm(dense(G), 2)
    assert pair.u @ dense(G) @ pair.v >= top - error
    assert pair.sigma <= top * (1 + 1e-12)


@pytest.mark.parametrize("loss", ["huber", "logistic", "squared"])
def test_any_loss_and_any_objective(loss):
    rng = np.random.default_rng(7)
    Y = np.sign(rng.standard_normal((8, 6)))
    rows, cols = np.indices(Y.shape).reshape(2, -1)
    cells = js(Entries(rows, cols, Y[rows, cols], loss=loss), 10, 9.0, random_state=0)
    whole = js(Dense(Y, loss=loss), 10, 9.0, random_state=0)
    for step, other in zip(cells, whole, strict=True):
        assert step.objective == pytest.approx(other.objective, rel=1e-5)
        assert step.gap == pytest.approx(other.gap, rel=2e-2, abs=1e-6)


def test_custom_objectives_too():
    target = np.diag([3.0, 2.0, 1.0])
    custom = Custom(
        (3, 3),
        lambda A: float(np.sum((A.to_dense() - target) ** 2)),
        lambda A: 2 * (A.to_dense() - target),
        smoothness=2,
    )
    path = js(custom, 60, 6.0, random_state=0)
    assert path[-1].objective <= 0.1
    assert all(step.objective <= step.gap + 1e-9 for step in path)  # the minimum is 0


def test_a_ball_around_the_target_is_left_at_rest():
    entries = Entries([0, 1], [0, 1], [1.0, 1.0])
    path = js(entries, 30, 2.0, random_state=5)  # of two equal directions, a start that tells
    assert path[-1].objective < 1e-3
    zero = Entries([0, 1], [0, 1], [0.0, 0.0])
    for rival in (js, hazan):
        assert rival(zero, 3, 1.0, random_state=0).stop is Stop.STATIONARY


def test_callbacks_seeds_and_errors():
    task = problem()
    seen = []
    path = js(
        task.entries, 9, 2.0, random_state=3, callback=lambda t: seen.append(t) or t.rank == 4
    )
    assert path.stop is Stop.CALLBACK
    assert seen == list(path)
    again = js(task.entries, 4, 2.0, random_state=3)
    assert np.array_equal(again.A.to_dense(), path.A.to_dense())
    assert path.seed == 3
    for rival in (js, hazan):
        with pytest.raises(ValueError, match=r"^trace_norm: must be a finite number > 0, not 0"):
            rival(task.entries, 3, 0)
        with pytest.raises(ValueError, match=r"^rank: expected an integer of at least 1, not 0"):
            rival(task.entries, 0, 1.0)
