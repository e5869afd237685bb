"""Conjugate gradients of the engine "cuda", compiled for the CPU, against dense algebra."""

import numpy as np
import pytest

from cuda_on_cpu import emulated_engine
from pygeco.bayes.attributes import group_pattern, mark_cells
from pygeco.bayes.ridge import solve_ridge
from pygeco.engines.cuda import columns
from ridge_cases import EMPTY_CASES, RIDGE_CASES, make_empty_problem, make_problem


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return emulated_engine(tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize(("shape", "density", "k"), RIDGE_CASES)
def test_solutions_are_those_of_dense_algebra(engine, shape, density, k, monkeypatch) -> None:
    X, problem, system = make_problem(engine, shape, density, k)
    given = problem.start.copy(), problem.right.copy()
    found = engine.solve_ridge(X, problem)
    assert found.shape == problem.right.shape
    wanted = np.linalg.solve(system, problem.right.astype(float))
    np.testing.assert_allclose(found, wanted, atol=2e-4 * np.abs(wanted).max())
    np.testing.assert_array_equal(problem.start, given[0])
    np.testing.assert_array_equal(problem.right, given[1])
    monkeypatch.setattr(columns, "MAX_BLOCKS", 3)  # parts of other sizes
    np.testing.assert_allclose(
        engine.solve_ridge(X, problem), wanted, atol=2e-4 * np.abs(wanted).max()
    )


def test_the_start_is_kept_where_it_is_near_enough(engine) -> None:
    X, problem, system = make_problem(engine, (25, 14), 0.4, 6)
    solved = np.linalg.solve(system, problem.right.astype(float)).astype(np.float32)
    near = problem._replace(start=solved, tolerance=1e-3)
    np.testing.assert_array_equal(engine.solve_ridge(X, near), solved)
    still = problem._replace(max_iter=0)
    np.testing.assert_array_equal(engine.solve_ridge(X, still), problem.start)
    nothing = problem._replace(right=np.zeros_like(solved), start=np.zeros_like(solved))
    assert not engine.solve_ridge(X, nothing).any()


@pytest.mark.parametrize(("rows", "columns", "k"), EMPTY_CASES)
def test_nothing_to_solve_or_to_solve_with(engine, rows, columns, k) -> None:
    X, problem = make_empty_problem(engine, rows, columns, k)
    np.testing.assert_allclose(engine.solve_ridge(X, problem), problem.right / 2)


def test_other_precisions_are_left_to_the_steps(engine) -> None:
    X, problem, _ = make_problem(engine, (6, 4), 0.5, 2)
    assert engine.solve_ridge(X, problem._replace(right=problem.right.astype(float))) is None


def test_a_pattern_is_solved_as_by_steps(engine) -> None:
    rng = np.random.default_rng(3)
    there = rng.random((90, 60)) < rng.uniform(0.05, 0.6, (90, 1))
    rows, cols = np.nonzero(there)
    orders = engine.both_orders(rows, cols, np.ones(len(rows), np.float32), None, there.shape)
    group = group_pattern(*orders, mark_cells(orders[0]))
    right = rng.standard_normal((60, 5)).astype(np.float32)
    asked = {"there": np.ones((90, 1), np.float32), "tolerance": 1e-4}
    found, steps = (
        solve_ridge([each], [0.3], (right,), (0 * right,), **asked)[0]
        for each in (group, group._replace(cells=None))
    )
    np.testing.assert_allclose(found, steps, atol=1e-3 * np.abs(steps).max())
