"""Half-sweeps as moves between states: their values, where they rest, what they drop."""

import numpy as np
import pytest

from oracles import penalty_value, problem, random_low_rank
from pygeco import Entries, LowRank, Ridge, Trace, losses, minimize
from pygeco.algorithm.corrections import sweep as corrections_sweep
from pygeco.algorithm.corrections.sweep import Sweep, measure_unrest


def unit(size, seed=0):
    x = np.random.default_rng(seed).standard_normal(size)
    return x / np.linalg.norm(x)


@pytest.mark.parametrize("penalty", [None, Ridge(0.05)])
def test_a_sweep_knows_its_value(penalty) -> None:
    case, sweep = problem(), Sweep(penalty)
    state = sweep.start(case.entries, random_low_rank((12, 9), 4))
    for moved in (state, sweep.extend(state, unit(12), unit(9)), sweep.shrink(state)):
        dense = moved.A.to_dense()
        expected = case.value(dense) + penalty_value(penalty, dense)
        np.testing.assert_allclose(moved.value, expected, rtol=1e-12, atol=1e-14)


def test_a_loss_of_unknown_smoothness_grows_too() -> None:
    """Without β there is no sure step; a short one, doubled, finds the way."""
    case = problem((10, 8), 0.8)
    rows, cols = np.nonzero(case.W)
    loss = losses.Custom(lambda z, y: (z - y) ** 2, lambda z, y: 2 * (z - y))
    entries = type(case.entries)(rows, cols, case.Y[rows, cols], (10, 8), loss=loss)
    assert entries.smoothness == np.inf
    P, s, Qt = np.linalg.svd(case.gradient(0.0))
    sweep = Sweep(Trace(0.1 * s[0]))
    state = sweep.extend(sweep.start(entries, LowRank.zero((10, 8))), P[:, 0], Qt[0])
    assert state.A.rank == 1
    same = sweep.extend(sweep.start(case.entries, LowRank.zero((10, 8))), P[:, 0], Qt[0])
    np.testing.assert_allclose(state.value, same.value, rtol=1e-3)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-8])
def test_sweeps_with_a_trace_norm_rest(tolerance) -> None:
    """At rest G v_k = −α u_k and Gᵀu_k = −α v_k: A is a stationary point of R + α‖·‖_tr."""
    case, alpha = problem((14, 11), 0.7), 0.05
    sweep = Sweep(Trace(alpha), tolerance)
    state = sweep.solve(case.entries, random_low_rank((14, 11), 4))
    A, G = state.A, case.gradient(state.A.to_dense())
    left = np.linalg.norm(G @ A.V + alpha * A.U, axis=0)
    right = np.linalg.norm(G.T @ A.U + alpha * A.V, axis=0)
    assert A.s @ np.maximum(left, right) <= tolerance * state.value
    np.testing.assert_allclose(state.value, case.value(A.to_dense()) + alpha * A.s.sum())


def test_a_pair_that_a_trace_norm_holds_down_is_not_added() -> None:
    case = problem((10, 8), 0.8)
    top = np.linalg.norm(case.gradient(0.0), 2)
    P, _, Qt = np.linalg.svd(case.gradient(0.0))
    zero = LowRank.zero((10, 8))
    for share, rank in ((1.001, 0), (0.999, 1)):
        sweep = Sweep(Trace(share * top))
        state = sweep.extend(sweep.start(case.entries, zero), P[:, 0], Qt[0])
        assert state.A.rank == rank
        assert (state.value < case.value(0.0)) == (rank == 1)


def test_components_that_a_trace_norm_makes_useless_are_dropped() -> None:
    case = problem((12, 10), 0.8)
    alpha = 0.6 * np.linalg.norm(case.gradient(0.0), 2)
    A = LowRank.from_dense(case.Y, 6)
    state = Sweep(Trace(alpha)).solve(case.entries, A)
    assert state.A.rank < 6
    assert np.all(state.A.s > 0)
    np.testing.assert_allclose(
        state.value, case.value(state.A.to_dense()) + alpha * state.A.s.sum()
    )


def test_dead_weight_is_dropped_component_by_component() -> None:
    """A component of weight zero beside a matrix at rest goes, and no other."""
    case, sweep = problem((14, 11), 0.7), Sweep(Trace(0.05))
    rest = sweep.solve(case.entries, random_low_rank((14, 11), 4))
    more = rest.A.append(unit(14), unit(11))
    again = sweep.solve(case.entries, more)
    assert again.A.rank == rest.A.rank
    assert again.value <= rest.value


@pytest.mark.parametrize("penalty", [None, Ridge(0.1), Trace(0.1)])
def test_sweeps_can_drop_the_only_component(penalty) -> None:
    case, sweep = problem(), Sweep(penalty)
    for A in (
        random_low_rank((12, 9), 1),
        LowRank(unit(12)[:, None], np.zeros(1), unit(9)[:, None]),
    ):
        state = sweep.shrink(sweep.start(case.entries, A))
        assert state.A.rank == 0
        assert state.value == pytest.approx(case.value(0.0))


def test_of_one_cell_a_trace_norm_takes_half_of_alpha() -> None:
    """min (z − y)² + α|z| is at y − α/2: the first step falls, whatever the size of y."""
    plain = losses.Custom(lambda z, y: (z - y) ** 2, lambda z, y: 2 * (z - y))
    for y in (1e-12, 0.1, 1.0, 1e6):
        for loss in ("squared", plain):
            entries = Entries([0], [0], [y], (1, 1), loss=loss)
            path = minimize(entries, 1, penalty=Trace(0.1 * y), random_state=0)
            np.testing.assert_allclose(path.A.to_dense(), 0.95 * y, rtol=2e-3)


def test_unrest_is_how_far_each_component_is_from_its_condition() -> None:
    """Σ s_k max(‖G v_k + α u_k‖, ‖Gᵀ u_k + α v_k‖), component by component."""
    case, A, alpha = problem(), random_low_rank((12, 9), 3).svd(), 0.2
    G, expected = case.gradient(A.to_dense()), 0.0
    for u, s, v in zip(A.U.T, A.s, A.V.T, strict=True):
        sides = np.linalg.norm(G @ v + alpha * u), np.linalg.norm(G.T @ u + alpha * v)
        expected += s * max(sides)
    assert measure_unrest(case.entries.gradient(A), A, alpha) == pytest.approx(expected)


def one_cell(scale: float, shift: float):
    """scale · ((z − 1)² + shift) at the only cell, its smoothness unknown."""
    loss = losses.Custom(
        lambda z, y: scale * ((z - y) ** 2 + shift), lambda z, y: 2 * scale * (z - y)
    )
    return Entries([0], [0], [1.0], (1, 1), loss=loss)


@pytest.mark.parametrize("weight", [0.01, 1.0, 100.0])
def test_the_first_step_of_a_pair_is_excess_over_smoothness(weight, monkeypatch) -> None:
    """And it is doubled for as long as that pays."""
    loss = losses.Custom(
        lambda z, y: weight * (z - y) ** 2 / 2,
        lambda z, y: weight * (z - y),
        smoothness=2 * weight,
    )
    entries = Entries([0], [0], [-1.0], (1, 1), loss=loss)
    sweep, one = Sweep(Trace(0.5 * weight)), np.ones(1)
    state = sweep.start(entries, LowRank.zero((1, 1)))
    monkeypatch.setattr(corrections_sweep, "MAX_DOUBLINGS", 1)
    first = sweep._add_pair(state, one, one, 0.5 * weight)
    np.testing.assert_allclose(first.A.to_dense(), -0.25)
    assert first.passes == state.passes + 1
    monkeypatch.undo()
    np.testing.assert_allclose(sweep._add_pair(state, one, one, 0.5 * weight).A.to_dense(), -0.5)


@pytest.mark.parametrize(("shift", "size"), [(0.0, 0.5), (-1.0, 1.0), (-2.0, 1.0)])
def test_without_a_smoothness_the_first_step_is_far_too_short(shift, size, monkeypatch) -> None:
    """By the value over the slope, the size of the data; by one where the value says nothing."""
    monkeypatch.setattr(corrections_sweep, "MAX_DOUBLINGS", 1)
    entries, sweep, one = one_cell(1.0, shift), Sweep(Trace(1e-9)), np.ones(1)
    state = sweep.start(entries, LowRank.zero((1, 1)))
    assert state.value == 1.0 + shift
    found = sweep._add_pair(state, -one, one, 2.0)
    np.testing.assert_allclose(found.A.to_dense(), 1e-9 * size)


def test_sweeps_end_where_the_objective_is_zero() -> None:
    """Nothing is left to pay, though no share of zero is more than zero."""
    entries = Entries([0, 1, 1], [0, 0, 1], np.zeros(3), (2, 2))
    sweep = Sweep()
    state = sweep.solve(entries, LowRank(np.ones((2, 1)), np.ones(1), np.ones((2, 1))))
    assert state.value == 0.0
    assert state.passes < 100


def test_sweeps_give_up_where_rounding_keeps_them_from_rest() -> None:
    """A tolerance that no arithmetic meets costs a few sweeps more, not a thousand; in any unit."""
    case, A = problem((14, 11), 0.7), random_low_rank((14, 11), 4)
    rows, cols = np.nonzero(case.W)

    def swept(tolerance, unit=1.0):
        entries = Entries(rows, cols, unit * case.Y[rows, cols], (14, 11))
        start = LowRank(A.U, unit * A.s, A.V)
        return Sweep(Trace(0.05 * unit), tolerance).solve(entries, start)

    near, never = swept(1e-10), swept(1e-300)
    assert near.passes < never.passes < 2.5 * near.passes
    assert never.value == pytest.approx(near.value, rel=1e-9)
    for unit in (2.0**-40, 2.0**40):
        again = swept(1e-300, unit)
        assert (again.passes, again.value) == (never.passes, unit**2 * never.value)
