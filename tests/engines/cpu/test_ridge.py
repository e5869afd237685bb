"""Conjugate gradients on the cores of one machine, against dense algebra and the plain steps."""

import numpy as np
import pytest

from pygeco.bayes.attributes import group_pattern, mark_cells
from pygeco.bayes.ridge import solve_ridge
from pygeco.engines.cpu import ridge
from pygeco.engines.cpu.engine import ENGINE, CpuCells
from pygeco.engines.cpu.threads import limit_threads
from ridge_cases import EMPTY_CASES, RIDGE_CASES, make_empty_problem, make_problem


@pytest.mark.parametrize("tiny", [False, True], ids=["blocks", "blocks of three rows"])
@pytest.mark.parametrize(("shape", "density", "k"), RIDGE_CASES)
def test_solutions_are_those_of_dense_algebra(shape, density, k, tiny, monkeypatch) -> None:
    if tiny:
        monkeypatch.setattr(ridge, "STEP_ROWS", 3)
        monkeypatch.setattr(ridge, "cut_rows", lambda count, least: 3)
    X, problem, system = make_problem(ENGINE, shape, density, k)
    given = problem.start.copy(), problem.right.copy()
    found = ENGINE.solve_ridge(X, problem)
    assert found.shape == problem.right.shape
    assert found.flags.c_contiguous
    wanted = np.linalg.solve(system, problem.right.astype(float))
    np.testing.assert_allclose(found, wanted, atol=2e-4 * np.abs(wanted).max())
    np.testing.assert_array_equal(problem.start, given[0])
    np.testing.assert_array_equal(problem.right, given[1])


@pytest.mark.parametrize("seed", range(3))
def test_directions_stay_conjugate(seed) -> None:
    """In float64 throughout it takes 36 to 40 steps; with sums in float32 more than 300."""
    X, problem, system = make_problem(ENGINE, (9, 600), 0.9, 4, seed)
    found = ENGINE.solve_ridge(X, problem._replace(max_iter=90))
    wanted = np.linalg.solve(system, problem.right.astype(float))
    np.testing.assert_allclose(found, wanted, atol=2e-4 * np.abs(wanted).max())


def test_the_start_is_kept_where_it_is_near_enough() -> None:
    X, problem, system = make_problem(ENGINE, (25, 14), 0.4, 6)
    solved = np.linalg.solve(system, problem.right.astype(float)).astype(np.float32)
    near = problem._replace(start=solved, tolerance=1e-3)
    np.testing.assert_array_equal(ENGINE.solve_ridge(X, near), solved)


@pytest.mark.parametrize(("rows", "columns", "k"), EMPTY_CASES)
def test_nothing_to_solve_or_to_solve_with(rows, columns, k) -> None:
    X, problem = make_empty_problem(ENGINE, rows, columns, k)
    np.testing.assert_allclose(ENGINE.solve_ridge(X, problem), problem.right / 2)


def test_other_precisions_are_left_to_the_steps() -> None:
    X, problem, _ = make_problem(ENGINE, (25, 14), 0.4, 6)
    assert ENGINE.solve_ridge(X, problem._replace(right=problem.right.astype(float))) is None


@pytest.mark.parametrize("weighed", [False, True])
def test_a_pattern_is_solved_as_by_steps_whatever_the_threads(weighed, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    rows, cols = np.nonzero(rng.random((700, 90)) < 0.2)
    by_row, by_col = ENGINE.both_orders(
        rows.astype(np.int32),
        cols.astype(np.int32),
        np.ones(len(rows), np.float32),
        None,
        (700, 90),
    )
    group = group_pattern(by_row, by_col, mark_cells(by_row))
    right, start = (rng.standard_normal((90, 19)).astype(np.float32) for _ in range(2))
    there = rng.choice([0, 0.5, 1], (700, 1)) if weighed else np.ones((700, 1))
    given = [group], [2.0], (right,), (start,)
    settings = {"there": there.astype(np.float32), "tolerance": 1e-4}
    found = []
    for threads in (1, 2):
        with limit_threads(threads):
            found.append(solve_ridge(*given, **settings)[0])
    np.testing.assert_array_equal(*found)
    monkeypatch.setattr(CpuCells, "solve_ridge", lambda *given: None)
    by_steps = solve_ridge(*given, **settings)[0]
    np.testing.assert_allclose(found[0], by_steps, atol=2e-3 * np.abs(by_steps).max())
