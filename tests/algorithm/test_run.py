"""What a step tells beside the solution: why the run stops there, what it cost, its seed."""

import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

import pygeco.algorithm.run
from oracles import Exact, dense, problem, random_low_rank
from pygeco import Dense, Entries, LowRank, Ridge, Solver, Step, Stop, Trace, minimize
from pygeco.algorithm.certificates import Certificate
from pygeco.algorithm.corrections.factory import make_correction
from pygeco.algorithm.directions import Lanczos, Pair
from pygeco.algorithm.run import MAX_PROOF_ITERATIONS, find_direction
from pygeco.algorithm.run_values import Run
from pygeco.algorithm.solver import find_stop
from pygeco.arrays.streams import Purpose, seed_from, stream
from pygeco.objectives import Objective


def step(objective=1.0, rank=2, seconds=1.0, gap=1.0) -> Step:
    certificate = Certificate(gap, gap, 0.0, 1.0, 0.999)
    return Step(rank, objective, LowRank.zero((5, 4)), certificate, seconds, 1, "singular", 0)


@pytest.mark.parametrize(
    ("rules", "told", "before", "reason"),
    [
        ({"target": 1.0}, step(1.0), 2.0, Stop.TARGET),  # at or below
        ({"target": 0.9}, step(1.0), 2.0, None),
        ({"gap": 0.5}, step(gap=0.5), 2.0, Stop.CERTIFIED),
        ({"gap": 0.5}, step(gap=0.51), 2.0, None),
        ({"progress": 0.5}, step(1.0), 2.0, None),  # less than this share, not as much
        ({"progress": 0.5}, step(1.1), 2.0, Stop.PROGRESS),
        ({"progress": 0.1}, step(-1.05), -1.0, Stop.PROGRESS),  # a share of a negative objective
        ({"progress": 0.1}, step(-1.2), -1.0, None),
        ({"time_limit": 2.0}, step(seconds=2.0), 2.0, Stop.TIME),
        ({"time_limit": 2.0}, step(seconds=1.9), 2.0, None),
        ({}, step(rank=4), 2.0, None),
        ({}, step(rank=5), 2.0, Stop.RANK),
        ({"time_limit": 0.5}, step(rank=5), 2.0, Stop.RANK),  # the first rule that holds
        ({"target": 1.0, "gap": 1.0, "progress": 0.9}, step(rank=5), 2.0, Stop.TARGET),
    ],
)
def test_each_stop_rule_holds_from_its_limit_on(rules, told, before, reason) -> None:
    assert find_stop(Solver(**rules), told, before, rank=5) is reason


@dataclass(frozen=True)
class Costly:
    """The leading pair, at a stated number of products."""

    passes: int

    def __call__(self, G, rng):
        return Exact()(G, rng)._replace(passes=self.passes)


@pytest.mark.parametrize("correction", ["core", "diagonal"])
@pytest.mark.parametrize("search", [0, 7])
def test_passes_add_up(correction, search) -> None:
    """Three for each column of the span, old or new, two for the gradient, and the search."""
    solver = Solver(direction=Costly(search), correction=correction)
    path = minimize(problem().entries, 4, solver, random_state=0)
    assert [step.passes for step in path] == [3 * r + 2 + search for r in (1, 2, 3, 4)]
    half = minimize(problem().entries, 2, solver, random_state=0)
    more = minimize(problem().entries, 4, solver, start=half)
    assert [step.passes for step in more] == [step.passes for step in path]
    first = minimize(
        problem().entries, 5, solver, start=random_low_rank((12, 9), 3), random_state=0
    )[0]
    assert first.passes == 2 + search


def test_passes_of_signs_and_of_replacements_are_counted_too(monkeypatch) -> None:
    case = problem()

    def costs(**settings):
        solver = Solver(direction=Costly(7), correction="core", **settings)
        return minimize(case.entries, 3, solver, random_state=0)

    monkeypatch.setattr(pygeco.algorithm.run, "Signs", lambda: Costly(100))
    assert [t.passes for t in costs(signs=True)] == [3 * r + 2 + 7 + 3 + 100 for r in (1, 2, 3)]
    for r, t in enumerate(costs(replacements=4), 1):
        # Each attempt searches and has a new column; the gradient is new at first and after a
        # success, unless that was the last attempt.
        extra = t.passes - (3 * r + 2 + 7 + 4 * (100 + 3))
        assert extra in ({2 * t.replaced, 2 * t.replaced + 2} if t.replaced else {2})


def test_no_replacement_is_tried_at_full_rank_or_without_a_gradient(monkeypatch) -> None:
    asked = []

    class Listening:
        def __call__(self, G, rng):
            asked.append(1)
            return Exact()(G, rng)

    monkeypatch.setattr(pygeco.algorithm.run, "Signs", Listening)
    case = problem((6, 4), 0.8)
    solver = Solver(direction=Exact(), correction="core", replacements=3)
    minimize(case.entries, 3, solver, random_state=0)
    assert len(asked) == 9
    minimize(case.entries, 4, solver, random_state=0)
    assert len(asked) == 18


def test_refinement_is_kept_only_where_it_helps() -> None:
    case = problem((10, 8), 0.7)
    for penalty in (None, Ridge(0.01)):
        plain, refined = (
            minimize(case.entries, 1, Solver(correction="core", refine=on), penalty=penalty)[0]
            for on in (False, True)
        )
        assert refined.objective <= plain.objective
        assert refined.passes > plain.passes


@pytest.mark.parametrize("correction", ["core", "sweep"])
def test_a_path_of_a_lower_rank_is_cut_where_the_new_steps_begin(correction) -> None:
    """With a trace norm the rank may fall again: ranks on a path rise strictly."""
    case = problem((14, 12), 0.6)
    solver = Solver(correction=correction)
    path = minimize(case.entries, 8, solver, penalty=Trace(0.02), random_state=0)
    more = minimize(case.entries, 8, solver, penalty=Trace(0.1), start=path)
    ranks = [step.rank for step in more]
    assert ranks == sorted(set(ranks))


def test_fresh_seeds_are_drawn_from_a_wide_range() -> None:
    seeds = [seed_from(None) for _ in range(200)]
    assert len(set(seeds)) == 200
    assert 2**60 < max(seeds) < 2**63
    assert seed_from(np.int64(7)) == 7
    assert seed_from(0) == 0
    entries = problem().entries
    path = minimize(entries, 1, random_state=5)
    assert minimize(entries, 2, start=path).seed == 5
    assert minimize(entries, 2, start=path, random_state=6).seed == 6
    one, other = (seed_from(np.random.default_rng(3)) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("tolerance", [0.0, -1e-9, np.nan])
def test_a_bad_tolerance_is_named(tolerance) -> None:
    with pytest.raises(ValueError, match=r"^tol: must be positive, not"):
        Solver(tol=tolerance)
    assert Solver(tol=0.5).tol == 0.5


def test_a_step_tells_the_norm_and_the_gradient_of_its_matrix() -> None:
    """σ₁ of ∇(R + h), ⟨∇(R + h), A⟩ and ‖A‖_tr, against dense arrays."""
    case, penalty = problem(), Ridge(0.03)
    for correction in ("core", "diagonal", "sweep"):
        solver = Solver(direction=Exact(), correction=correction)
        for step in minimize(case.entries, 3, solver, penalty=penalty, random_state=0):
            A = step.A.to_dense()
            G = case.gradient(A) + 2 * 0.03 * A
            np.testing.assert_allclose(step.certificate.sigma, np.linalg.norm(G, 2))
            np.testing.assert_allclose(step.certificate.inner, np.sum(G * A), atol=1e-12)
            np.testing.assert_allclose(step.certificate.trace_norm, np.linalg.norm(A, "nuc"))
            np.testing.assert_allclose(step.certificate.penalty_value, 0.03 * np.sum(A * A))
            assert step.certificate.penalty is penalty


@pytest.mark.parametrize(
    ("pairs", "ranks"), [(1, [1, 2, 3, 4, 5]), (2, [2, 4, 5]), (3, [3, 4, 5]), (9, [3, 4, 5])]
)
def test_a_step_adds_as_many_pairs_as_are_wanted_twice_over(pairs, ranks) -> None:
    path = minimize(problem().entries, 5, Solver(correction="core", pairs=pairs), random_state=0)
    assert [step.rank for step in path] == ranks


def test_the_highest_rank_that_was_asked_for_is_the_reason_there() -> None:
    """Sweeps that rest at that rank are not stalled, and nothing is proved below the optimum."""
    path = minimize(problem().entries, 2, penalty=Trace(0.01), random_state=0)
    assert path.stop is Stop.RANK
    assert path[-1].rank == 2
    again = minimize(problem().entries, 2, penalty=Trace(0.01), start=path)
    assert again.stop is Stop.RANK
    assert again[-1].objective <= path[-1].objective


def test_replacements_follow_the_gradient_with_its_penalty(monkeypatch) -> None:
    case, penalty, asked = problem(), Ridge(0.05), []

    class Listening:
        def __call__(self, G, rng):
            asked.append(dense(G))
            return Exact()(G, rng)

    monkeypatch.setattr(pygeco.algorithm.run, "Signs", Listening)
    start = random_low_rank((12, 9), 3).svd()
    solver = Solver(direction=Exact(), correction="core", replacements=1)
    path = minimize(case.entries, 4, solver, penalty=penalty, start=start, random_state=0)
    plain = minimize(
        case.entries,
        4,
        replace(solver, replacements=0),
        penalty=penalty,
        start=start,
        random_state=0,
    )
    A = plain.A.to_dense()  # before the one attempt
    np.testing.assert_allclose(asked[0], case.gradient(A) + 2 * 0.05 * A, atol=1e-12)
    assert path[0].replaced == 0


class Silent:
    """An objective that does not say whether it may be negative."""

    def __init__(self, objective):
        self.objective = objective

    def __getattr__(self, name):
        if name == "nonnegative":
            return Objective.nonnegative.fget(self)  # the default
        return getattr(self.objective, name)


def test_an_objective_that_says_nothing_of_its_sign_proves_nothing() -> None:
    entries, solver = problem().entries, Solver(correction="sweep")
    stops = [
        minimize(objective, 9, solver, penalty=Trace(0.1), random_state=0).stop
        for objective in (entries, Silent(entries))
    ]
    assert stops[0] is Stop.OPTIMAL
    assert stops[1] is not Stop.OPTIMAL


def test_sweeps_rest_at_the_highest_rank_with_an_empty_row_too() -> None:
    case = problem((9, 8), 0.7)
    rows, cols = np.nonzero(case.W)
    entries = Entries(rows, cols, case.Y[rows, cols], (11, 9))
    path = minimize(entries, 1, penalty=Trace(0.01), random_state=0)
    assert path.stop is Stop.RANK
    A = path.A
    G = np.vstack(
        [np.hstack([case.gradient(A.to_dense()[:9, :8]), np.zeros((9, 1))]), np.zeros((2, 9))]
    )
    np.testing.assert_allclose(G @ A.V, -0.01 * A.U, atol=1e-7)
    np.testing.assert_array_equal(A.U[9:], 0.0)


@dataclass(frozen=True, eq=False)
class Given:
    """A pair that is given, whatever the gradient."""

    pair: Pair

    def __call__(self, G, rng):
        return self.pair


@pytest.mark.parametrize(
    ("sigma", "upper", "alpha", "correction", "sharp"),
    [
        (1.0, 2.0, 1.0, "sweep", True),
        (1.01, 2.0, 1.0, "sweep", True),  # a hundredth above α, and no further
        (1.5, 2.0, 1.0, "sweep", False),
        (0.5, 0.9, 1.0, "sweep", False),  # proved already
        (1.0, 2.0, None, "sweep", False),
        (1.0, 2.0, 1.0, "core", False),
    ],
)
def test_a_search_is_sharpened_where_a_proof_depends_on_it(
    sigma, upper, alpha, correction, sharp
) -> None:
    entries, penalty = problem().entries, None if alpha is None else Trace(alpha)
    zero = LowRank.zero((12, 9))
    given = Pair(np.eye(12)[0], np.eye(9)[0], sigma, upper, 7, "given", 0.9)
    solver = Solver(direction=Given(given), correction=correction, tol=0.2)
    run = Run(entries, solver, make_correction(correction, penalty), penalty, 3, 5, 0.0, 0.0)
    found = find_direction(run, zero).pair
    if sharp:
        search = Lanczos(0.05, MAX_PROOF_ITERATIONS, 0.9)
        expected = search(entries.gradient(zero), stream(Purpose.PATH, 5, 0))
        assert found.confidence == 0.9
        assert (found.sigma, found.upper) == (expected.sigma, expected.upper)
        assert found.passes == expected.passes + 7
    else:
        assert found is given


def test_a_trace_norm_is_not_in_the_gradient() -> None:
    """It has none where singular values vanish; certificates know it by its threshold."""
    case, A = problem(), random_low_rank((12, 9), 3).svd()
    solver, penalty = Solver(correction="core", signs=True), Trace(0.1)
    run = Run(case.entries, solver, make_correction("core", penalty), penalty, 5, 0, 0.0, 0.0)
    found = dense(find_direction(run, A).known_gradient)
    np.testing.assert_allclose(found, case.gradient(A.to_dense()), atol=1e-14)


def test_a_diagonal_path_starts_from_pairs_as_they_are() -> None:
    start = random_low_rank((12, 9), 2)
    assert not start.orthonormal
    path = minimize(problem().entries, 4, Solver(correction="diagonal"), start=start)
    for step in path:
        np.testing.assert_array_equal(step.A.U[:, :2], start.U)
        np.testing.assert_array_equal(step.A.V[:, :2], start.V)
    core = minimize(problem().entries, 4, Solver(correction="core"), start=start)
    assert core[0].A.orthonormal


def test_nothing_is_done_from_a_start_of_the_highest_rank() -> None:
    start = random_low_rank((12, 9), 3).svd()
    case = problem()
    for correction in ("core", "diagonal", "sweep"):
        path = minimize(case.entries, 3, Solver(correction=correction), start=start)
        (step,) = path
        assert path.stop is Stop.RANK
        assert (step.direction, step.replaced) == ("start", 0)
        assert step.objective == pytest.approx(case.value(start.to_dense()))


def test_sweeps_at_the_highest_rank_replace_its_step() -> None:
    told = []
    path = minimize(problem().entries, 2, penalty=Trace(0.01), random_state=0, callback=told.append)
    assert [step.rank for step in told] == [1, 2, 2]
    assert list(path) == [told[0], told[2]]
    assert told[2].objective < told[1].objective


def test_auto_knows_of_the_penalty() -> None:
    """Labels are swept where a ridge holds their rows."""
    case = problem()
    rows, cols = np.nonzero(case.W)
    labels = np.where(case.Y[rows, cols] > 0, 1.0, -1.0)
    entries = Entries(rows, cols, labels, (12, 9), loss="logistic")
    auto, swept, core = (
        minimize(entries, 2, Solver(correction=name), penalty=Ridge(0.01), random_state=0)
        for name in ("auto", "sweep", "core")
    )
    assert auto[-1].objective == swept[-1].objective != core[-1].objective


@pytest.mark.parametrize(("answer", "rank", "stop"), [(True, 1, Stop.CALLBACK), (0, 3, Stop.RANK)])
def test_a_true_answer_of_the_callback_stops(answer, rank, stop) -> None:
    path = minimize(problem().entries, 3, callback=lambda step: answer, random_state=0)
    assert (path[-1].rank, path.stop) == (rank, stop)
    assert minimize(problem().entries, 1, callback=lambda step: True).stop is Stop.RANK


@pytest.mark.parametrize("tolerance", [1e-3, 1e-11])
def test_sweeps_rest_as_closely_as_the_solver_asks(tolerance) -> None:
    case, solver = problem(), Solver(correction="sweep", tol=tolerance)
    path = minimize(case.entries, 1, solver, penalty=Trace(0.05), random_state=0)
    A, G = path.A, case.gradient(path.A.to_dense())
    unrest = A.s @ np.linalg.norm(G @ A.V + 0.05 * A.U, axis=0)
    assert unrest <= tolerance * path[-1].objective
    assert (unrest > 1e-9 * path[-1].objective) == (tolerance > 1e-9)


def test_a_small_gain_of_a_new_rank_is_no_stall() -> None:
    """Each of 30 ranks lowers the objective by the same; the tolerance is of trace norms only."""
    solver = Solver(correction="core", tol=10.0)
    path = minimize(Dense(np.eye(30)), 30, solver, random_state=0)
    assert [step.rank for step in path] == list(range(1, 31))


def test_a_step_tells_when_it_ended_and_how_it_came_about() -> None:
    began = time.perf_counter()
    path = minimize(problem().entries, 3, random_state=0)
    took = time.perf_counter() - began
    seconds = [step.seconds for step in path]
    assert 0 < seconds[0] < seconds[1] < seconds[2] < took
    assert {step.direction for step in path} == {"singular"}


def test_the_pair_that_lowers_the_objective_more_wins(monkeypatch) -> None:
    weak = Given(Pair(np.eye(12)[0], np.eye(9)[0], 1.0, 9.0, 0, "weak"))
    solver = Solver(direction=weak, correction="core", signs=True)
    monkeypatch.setattr(pygeco.algorithm.run, "Signs", Exact)
    path = minimize(problem().entries, 1, solver, random_state=0)
    assert path[0].direction == "exact"
    solver, strong = replace(solver, direction=Exact()), path[0].objective
    monkeypatch.setattr(pygeco.algorithm.run, "Signs", lambda: weak)
    path = minimize(problem().entries, 1, solver, random_state=0)
    assert (path[0].direction, path[0].objective) == ("exact", strong)


def test_replacements_end_with_a_gradient_of_zero_and_need_a_real_gain(monkeypatch) -> None:
    case, asked = problem(), []
    rows, cols = np.nonzero(case.W)
    entries = Entries(rows, cols, case.Y[rows, cols], (13, 10))  # the last row and column are empty

    def attempts(u, v, sigma):
        def signs():
            asked.append(1)
            return Given(Pair(u, v, sigma, sigma, 2, "signs"))

        monkeypatch.setattr(pygeco.algorithm.run, "Signs", signs)
        asked.clear()
        solver = Solver(direction=Exact(), correction="core", replacements=5)
        return minimize(entries, 1, solver, random_state=0)[0].replaced

    assert attempts(np.zeros(13), np.zeros(10), 0.0) == 0
    assert len(asked) == 1
    assert attempts(np.eye(13)[12], np.eye(10)[9], 1.0) == 0
    assert len(asked) == 5


@pytest.mark.parametrize("power", [-60, -20, 20])
@pytest.mark.parametrize("correction", ["sweep", "core"])
@pytest.mark.parametrize("kind", [lambda objective: objective, Silent])
def test_units_change_nothing_at_all(power, correction, kind) -> None:
    """Values and α times 2ᵏ are exact: every decision, and every bit of the path, is the same."""
    unit, (rows, cols) = 2.0**power, np.nonzero(problem().W)
    y = problem().Y[rows, cols]

    def path(unit):
        objective = kind(Entries(rows, cols, unit * y, (12, 9)))
        penalty = Trace(0.01 * unit) if correction == "sweep" else None
        solver = Solver(correction=correction)
        return minimize(objective, 3, solver, penalty=penalty, random_state=0)

    one, other = path(1.0), path(unit)
    assert [t.passes for t in one] == [t.passes for t in other]
    assert [unit**2 * t.objective for t in one] == [t.objective for t in other]
    assert one.stop is other.stop
