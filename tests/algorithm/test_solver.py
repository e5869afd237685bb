from dataclasses import replace

import numpy as np
import pytest

from oracles import Exact, algorithm_1, orthonormal, penalty_value, problem, random_low_rank
from pygeco import (
    Entries,
    Lanczos,
    Listener,
    LowRank,
    Path,
    Power,
    Ridge,
    Schatten,
    Signs,
    Solver,
    Stop,
    Trace,
    minimize,
)
from pygeco.algorithm.corrections.core import Core
from pygeco.data import make_ratings

CORE = Solver(correction="core")
DIAGONAL = Solver(correction="diagonal")
SHAPES = [(12, 9), (9, 12)]


def objectives(path: Path) -> np.ndarray:
    return np.array([step.objective for step in path])


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("shape", [(12, 9), (9, 12), (30, 20)])
@pytest.mark.parametrize("search", [Exact(), Lanczos(tau=0.0, max_iter=1000)])
def test_path_is_that_of_algorithm_1(search, shape, weights) -> None:
    case = problem(shape, 0.6, weights=weights)
    path = minimize(case.entries, 6, Solver(direction=search, correction="core"), random_state=0)
    np.testing.assert_allclose(objectives(path), algorithm_1(case, 6), rtol=1e-7)


PENALTIES = [
    None,
    Ridge(0.01),
    Trace(0.02),
    Schatten(0.001, 1.0),
    Schatten(0.002, 1.5),
    Schatten(0.002, 2.0),
    Schatten(0.002, 3.0),
]
VARIANTS = [("core", penalty) for penalty in PENALTIES]
VARIANTS += [("diagonal", None), ("diagonal", Ridge(0.01))]


# Every two of these choices meet.
@pytest.mark.parametrize(
    ("replacements", "signs", "shape"),
    [(0, False, (12, 9)), (0, True, (9, 12)), (2, False, (9, 12)), (2, True, (12, 9))],
)
@pytest.mark.parametrize(("correction", "penalty"), VARIANTS)
def test_objective_never_rises(correction, penalty, replacements, signs, shape) -> None:
    solver = Solver(signs=signs, replacements=replacements, correction=correction)
    for seed, (weights, dtype) in enumerate([(False, np.float64), (True, np.float32)]):
        case = problem(shape, 0.5, seed=10 * replacements + seed, weights=weights, dtype=dtype)
        path = minimize(case.entries, 2, solver, penalty=penalty, random_state=seed)
        values = [case.value(0.0), *objectives(path)]
        assert len(path) == 2
        assert np.all(np.diff(values) < 0)
        for step in path:
            A = step.A.to_dense()
            expected = case.value(A) + penalty_value(penalty, A)
            np.testing.assert_allclose(step.objective, expected, rtol=1e-9)
            assert np.linalg.matrix_rank(A) <= step.rank
            assert correction == "diagonal" or step.A.orthonormal


@pytest.mark.parametrize("correction", ["core", "diagonal"])
def test_a_replacement_is_kept_only_when_the_objective_falls(correction) -> None:
    """From the same path, a rank with replacements ends no higher than one without."""
    ratings = Entries(*make_ratings((200, 100), 4000, random_state=2))
    plain, more = Solver(correction=correction), Solver(correction=correction, replacements=10)
    replaced, path = 0, None
    for rank in range(1, 6):
        one = minimize(ratings, rank, plain, start=path, random_state=1)[-1]
        path = minimize(ratings, rank, more, start=path, random_state=1)
        other = path[-1]
        assert (other.objective < one.objective) == (other.replaced > 0)
        assert other.replaced or other.objective == one.objective
        replaced += other.replaced
    assert replaced > 0


def test_signs_win_only_with_a_larger_decrease() -> None:
    kinds = set()
    for seed in range(6):
        ratings = Entries(*make_ratings((60, 40), 500, random_state=seed))
        path = minimize(ratings, 2, CORE, random_state=seed)
        signs = Solver(signs=True, correction="core")
        one = minimize(ratings, 3, CORE, start=path)[-1]
        two = minimize(ratings, 3, signs, start=path)[-1]
        assert two.objective <= one.objective
        assert (two.direction == "signs") == (two.objective < one.objective)
        kinds |= {two.direction, minimize(ratings, 1, signs, random_state=seed)[-1].direction}
    assert kinds == {"signs", "singular"}


def test_paper_is_the_experiment_of_section_5() -> None:
    solver = Solver.paper()
    assert isinstance(solver.direction, Power)
    assert solver.direction.max_iter == 30
    assert solver.direction.tau == 0.0
    assert solver.signs
    assert solver.replacements == 20
    assert solver.correction == "core"
    assert solver.replacement == "zero"
    assert Solver.refitted() == replace(solver, replacement="refit")
    with pytest.raises(ValueError, match="replacement: use 'refit' or 'zero', not 'other'"):
        Solver(replacement="other")


@pytest.mark.parametrize("penalty", [None, Ridge(0.01), Trace(0.005)])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_replacement_of_the_paper_is_its_section_2_1_2(shape, penalty) -> None:
    """In NumPy: all cores over the wider spans, the smallest singular value zeroed, compared."""
    case, core, rng = problem(shape, 0.7), Core(penalty), np.random.default_rng(0)
    state = core.solve(case.entries, random_low_rank(shape, 2, seed=1).svd())
    taken = 0
    for _ in range(20):
        pair = Signs()(case.entries.gradient(state.A), rng)
        wide = core.extend(state, pair.u, pair.v)
        P, s, Qt = np.linalg.svd(wide.A.to_dense())
        zeroed = (P[:, :2] * s[:2]) @ Qt[:2]
        found = core.drop(wide)
        np.testing.assert_allclose(found.A.to_dense(), zeroed, atol=1e-8)
        h = 0.0 if penalty is None else penalty.value(s[:2])
        assert found.value == pytest.approx(case.value(zeroed) + h, rel=1e-9)
        if found.value < state.value:
            state, taken = found, taken + 1
    assert state.A.rank == 2
    assert taken > 0


@pytest.mark.parametrize("correction", ["core", "diagonal", "sweep"])
def test_both_replacements_never_raise_the_objective(correction) -> None:
    # Sweeps without a penalty go on for long where the fit is nearly exact: many cells, few tries.
    tries, share = (4, 0.95) if correction == "sweep" else (10, 0.6)
    for seed in range(3):
        case, paths = problem(share=share, seed=seed), []
        for replacement in ("zero", "refit"):
            solver = Solver(replacements=tries, replacement=replacement, correction=correction)
            paths.append(minimize(case.entries, 4, solver, random_state=seed))
            assert np.all(np.diff(objectives(paths[-1])) < 0)
            assert [step.rank for step in paths[-1]] == [1, 2, 3, 4]


@pytest.mark.parametrize("shape", [(8, 6), (6, 8), (5, 5)])
def test_fully_observed_matrix_gives_its_truncated_svd(shape) -> None:
    """Eckart and Young: greedy growth is then optimal at every rank."""
    case = problem(shape, 1.1)
    path = minimize(case.entries, min(shape), Solver(direction=Exact(), correction="core"))
    s = np.linalg.svd(case.Y, compute_uv=False)
    for step in path:
        best = np.sum(s[step.rank :] ** 2) / case.Y.size
        np.testing.assert_allclose(step.objective, best, atol=1e-12)
    assert path[-1].objective < 1e-12


@pytest.mark.parametrize("solver", [CORE, DIAGONAL, Solver(correction="core", replacements=3)])
@pytest.mark.parametrize("share", [1.1, 0.8])
def test_exact_low_rank_data_ends_with_nothing_left(solver, share) -> None:
    case = problem((40, 30), share, rank=2, noise=0.0)
    path = minimize(case.entries, 30, solver, random_state=0)
    if solver.correction == "core" or share > 1:
        assert path.stop in (Stop.STATIONARY, Stop.STALLED)
        assert len(path) < 30
        assert path[-1].objective < 1e-9 * case.value(0.0)
    else:  # pairs that stay as they were found converge, but do not end
        assert path[-1].objective < 1e-4 * case.value(0.0)


def test_every_stop_rule_is_reached() -> None:
    case = problem((20, 15), 0.6)
    E, value = case.entries, case.value(0.0)

    def stop(rank=6, callback=None, entries=E, **rules):
        solver = Solver(correction="core", **rules)
        return minimize(entries, rank, solver, callback=callback, random_state=0)

    assert stop().stop is Stop.RANK
    target = stop(target=0.2 * value)
    assert target.stop is Stop.TARGET
    assert target[-1].objective <= 0.2 * value < target[-2].objective
    progress = stop(15, progress=0.45)
    assert progress.stop is Stop.PROGRESS
    falls = -np.diff([value, *objectives(progress)]) / [value, *objectives(progress)[:-1]]
    assert falls[-1] < 0.45 <= falls[:-1].min()
    gap = stop(15, gap=0.5)
    assert gap.stop is Stop.CERTIFIED
    assert gap[-1].gap <= 0.5 < gap[-2].gap
    assert len(stop(time_limit=0)) == 1
    assert stop(time_limit=0).stop is Stop.TIME
    assert stop(time_limit=3600).stop is Stop.RANK
    called = stop(callback=lambda step: step.rank == 2)
    assert called.stop is Stop.CALLBACK
    assert len(called) == 2
    nothing = stop(entries=Entries([0, 1], [0, 1], [0.0, 0.0], (6, 6)))
    assert nothing.stop is Stop.STATIONARY
    assert len(nothing) == 0
    assert nothing.A.rank == 0
    assert stop(1, callback=lambda step: True).stop is Stop.RANK


def test_a_strong_penalty_stalls_at_zero_and_says_so() -> None:
    case = problem((10, 8), 0.6)
    alpha = 1.01 * np.linalg.norm(case.gradient(0.0), 2)
    path = minimize(case.entries, 5, CORE, penalty=Trace(alpha), random_state=0)
    assert path.stop is Stop.STALLED
    assert len(path) == 0
    weaker = minimize(case.entries, 5, CORE, penalty=Trace(alpha / 1.1), random_state=0)
    assert len(weaker) > 0


def test_observer_hears_everything_in_order() -> None:
    heard = []

    class Heard(Listener):
        def on_start(self, objective, rank):
            heard.append(("start", objective, rank))

        def on_step(self, step):
            heard.append(("step", step))

        def on_stop(self, reason):
            heard.append(("stop", reason))

    case = problem()
    path = minimize(
        case.entries,
        3,
        CORE,
        random_state=0,
        observer=Heard(),
        callback=lambda step: heard.append(("callback", step)),
    )
    expected = [("start", case.entries, 3)]
    for step in path:
        expected += [("step", step), ("callback", step)]
    assert heard == [*expected, ("stop", Stop.RANK)]


@pytest.mark.parametrize("solver", [CORE, DIAGONAL, Solver.paper()])
@pytest.mark.parametrize("penalty", [None, Ridge(0.01)])
def test_a_continued_path_has_the_same_bits(solver, penalty) -> None:
    case = problem((30, 25), 0.5)
    whole = minimize(case.entries, 8, solver, penalty=penalty, random_state=3)
    half = minimize(case.entries, 4, solver, penalty=penalty, random_state=3)
    resumed = minimize(case.entries, 8, solver, penalty=penalty, start=half)
    assert [step.rank for step in resumed] == list(range(1, 9))
    for one, other in zip(whole, resumed, strict=True):
        assert one.objective == other.objective
        assert one.certificate == other.certificate
        for name in ("U", "s", "V"):
            np.testing.assert_array_equal(getattr(one.A, name), getattr(other.A, name))
    assert resumed.seed == whole.seed == 3
    again = minimize(case.entries, 4, solver, penalty=penalty, start=resumed)
    assert again.stop is Stop.RANK
    assert again.steps == resumed.steps


@pytest.mark.parametrize("solver", [CORE, DIAGONAL])
@pytest.mark.parametrize("penalty", [None, Ridge(0.01)])
def test_start_from_any_low_rank_matrix(solver, penalty) -> None:
    case = problem()
    start = random_low_rank((12, 9), 3)
    path = minimize(case.entries, 5, solver, penalty=penalty, start=start, random_state=0)
    dense = start.to_dense()
    first = case.value(dense) + penalty_value(penalty, dense)
    np.testing.assert_allclose(path[0].objective, first)
    assert [step.rank for step in path] == [3, 4, 5]
    assert path[0].direction == "start"
    assert np.all(np.diff(objectives(path)) < 0)
    assert solver is DIAGONAL or all(orthonormal(step.A.U) for step in path)
    trace_norm = np.linalg.norm(dense, "nuc")
    np.testing.assert_allclose(path[0].certificate.trace_norm, trace_norm)
    still = minimize(case.entries, 2, solver, penalty=penalty, start=start, random_state=0)
    np.testing.assert_allclose(still.A.to_dense(), dense)


def test_a_diagonal_path_can_be_continued_with_full_cores() -> None:
    case = problem()
    rough = minimize(case.entries, 4, DIAGONAL, random_state=0)
    path = minimize(case.entries, 6, CORE, start=rough)
    assert np.all(np.diff(objectives(path)) < 0)
    assert orthonormal(path.A.U)


def test_passes_and_seconds_are_told() -> None:
    case = problem((30, 20), 0.5)
    path = minimize(case.entries, 3, CORE, random_state=0)
    seconds = [step.seconds for step in path]
    assert all(step.passes > 0 for step in path)
    assert seconds == sorted(seconds)
    assert seconds[0] > 0


def test_random_state() -> None:
    case = problem((30, 20), 0.5)

    def run(state):
        return list(objectives(minimize(case.entries, 3, Solver.paper(), random_state=state)))

    assert run(1) == run(np.int64(1)) == run(1)
    assert run(np.random.default_rng(4)) == run(np.random.default_rng(4))
    assert run(1) != run(2)
    assert run(None) != run(None)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scale_of_the_values_only_scales_the_path(scale, dtype) -> None:
    case = problem((15, 10), 0.7)
    rows, cols = np.nonzero(case.W)
    y = case.Y[rows, cols]
    scaled = Entries(rows, cols, (scale * y).astype(dtype), (15, 10))
    solver = Solver(correction="core", signs=True, replacements=3)
    one = minimize(case.entries, 4, solver, random_state=0)
    other = minimize(scaled, 4, solver, random_state=0)
    tolerance = 1e-9 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(objectives(other) / scale**2, objectives(one), rtol=tolerance)
    np.testing.assert_allclose(other.A.s / scale, one.A.s, rtol=tolerance)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1)])
def test_the_smallest_matrices(shape) -> None:
    case = problem(shape, 1.1)
    for solver in (CORE, DIAGONAL, Solver.paper()):
        path = minimize(case.entries, 1, solver, random_state=0)
        assert path[-1].objective < 1e-20


def test_one_cell_of_a_large_matrix_and_constants() -> None:
    one = minimize(Entries([3], [5], [2.0], (9, 8)), 4, CORE, random_state=0)
    assert one[-1].objective < 1e-20
    assert one[-1].rank == 1
    np.testing.assert_allclose(one.A.to_dense()[3, 5], 2.0)
    assert np.count_nonzero(np.abs(one.A.to_dense()) > 1e-9) == 1
    flat = Entries.from_dense(np.full((6, 5), 3.5))
    constant = minimize(flat, 3, CORE, random_state=0)
    assert len(constant) == 1
    np.testing.assert_allclose(constant.A.to_dense(), 3.5)


@pytest.mark.parametrize("rank", [0, -1, 10, 2.0, True, "3", None])
def test_bad_rank(rank) -> None:
    with pytest.raises(
        ValueError,
        match=r"^rank: .*"
        + (
            r"integer"
            if not isinstance(rank, int) or rank is True
            else r"between 1 and 9 for data with m="
        ),
    ):
        minimize(problem().entries, rank, CORE)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"objective": np.eye(3)}, r"^objective: expected one such as Dense\(Y\), not array"),
        ({"objective": Entries}, r"^objective: expected .*, not <class"),
        ({"solver": "paper"}, r"^solver: expected None or a pygeco.Solver, .*, not 'paper'"),
        ({"solver": Solver}, r"^solver: expected .*, not <class"),
        ({"penalty": 0.1}, r"^penalty: expected None or one such as Trace\(0.1\), not 0.1"),
        ({"penalty": Trace}, r"^penalty: expected .*, not <class"),
    ],
)
def test_what_is_of_another_kind_is_told_so(given, words) -> None:
    with pytest.raises(ValueError, match=words):
        minimize(**{"objective": problem().entries, "rank": 2, **given})


def test_a_direction_is_a_function() -> None:
    for direction in ("power", Power):
        with pytest.raises(
            ValueError, match=r"^direction: expected Lanczos\(\), Power\(\) or your"
        ):
            Solver(direction=direction)
    with pytest.raises(
        ValueError, match=r"^replacements: expected an integer of at least 0, not 2.5"
    ):
        Solver(replacements=2.5)


def test_bad_arguments_are_named() -> None:
    entries = problem().entries
    with pytest.raises(ValueError, match=r"^start: has shape \(3, 4\), but .* \(12, 9\)"):
        minimize(entries, 2, CORE, start=LowRank.zero((3, 4)))
    for start in (np.zeros((12, 9)), minimize(entries, 1, CORE)[0]):
        with pytest.raises(ValueError, match=r"^start: expected a LowRank or a Path, not (nd|St)"):
            minimize(entries, 2, CORE, start=start)
    U, V = np.eye(12, 2), np.eye(9, 2)
    for bad in (LowRank(U, np.array([np.inf, 1.0]), V), LowRank(U, np.ones(2), V * np.nan)):
        with pytest.raises(ValueError, match=r"^start: has NaN or infinite"):
            minimize(entries, 2, CORE, start=bad)
    with pytest.raises(ValueError, match=r"^A: its factors have shapes"):
        minimize(entries, 2, CORE, start=LowRank(U, np.ones(3), V))
    with pytest.raises(ValueError, match=r"^random_state: expected"):
        minimize(entries, 2, CORE, random_state=-1)
    with pytest.raises(ValueError, match=r"^random_state: expected"):
        minimize(entries, 2, CORE, random_state="today")
    with pytest.raises(ValueError, match=r"^solver: expected None or a pygeco.Solver"):
        minimize(entries, 2, "core")
    with pytest.raises(ValueError, match=r"^replacements: expected an integer of at least 0"):
        Solver(replacements=-1)
    with pytest.raises(ValueError, match=r"^correction: unknown name 'newton'"):
        Solver(correction="newton")
    with pytest.raises(ValueError, match=r"^penalty: with correction='diagonal'"):
        minimize(entries, 2, DIAGONAL, penalty=Trace(0.1))
    for name in ("target", "progress", "gap", "time_limit"):
        for given in ("1", np.nan):
            with pytest.raises(ValueError, match=rf"^{name}: expected None or a number, not"):
                Solver(**{name: given})
    with pytest.raises(ValueError, match=r"^tol: must be positive, not 'small'"):
        Solver(tol="small")
