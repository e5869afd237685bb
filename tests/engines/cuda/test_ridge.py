"""Conjugate gradients of the engine "cuda", compiled for the CPU, against dense algebra."""

import numpy as np
import pytest

from cuda_on_cpu import emulated_engine
from pygeco.bayes.attributes import group_pattern, mark_cells
from pygeco.bayes.ridge import solve_ridge
from pygeco.engines.cuda import columns
from pygeco.engines.values import CenteredCells, RidgeProblem


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return emulated_engine(tmp_path_factory.mktemp("kernels"))


def make_problem(engine, shape, density, k, seed=0):
    rng = np.random.default_rng(seed)
    G = np.where(rng.random(shape) < density, rng.standard_normal(shape), 0).astype(np.float32)
    G[0, :3] = 1  # a row with cells, whatever the density
    rows, cols = np.nonzero(G)
    by_row, by_col = engine.both_orders(rows, cols, G[rows, cols], None, shape)
    size = rng.uniform(0.5, 2, shape[0]).astype(np.float32)
    known = (rng.random(shape[0]) < 0.7).astype(np.float32)
    mean = rng.standard_normal(shape[1]).astype(np.float32) / 4
    X = CenteredCells(by_row, by_col, by_row.values, by_col.values, size, known, mean)
    there = rng.choice([0, 0.5, 1], (shape[0], 1)).astype(np.float32)
    dense = (size[:, None] * G - np.outer(known, mean)).astype(float)
    system = dense.T @ (there * dense) + 0.8 * np.eye(shape[1])
    right, start = (rng.standard_normal((shape[1], k)).astype(np.float32) for _ in range(2))
    scale = (1 / np.diag(system)).astype(np.float32)
    return X, RidgeProblem(0.8, scale, right, start, there, 1e-5, 300), system


@pytest.mark.parametrize(
    ("shape", "density", "k"),
    [((1, 3), 0.0, 1), ((40, 7), 0.5, 3), ((70, 40), 0.3, 9), ((9, 600), 0.9, 4),
     ((300, 12), 0.9, 17), ((30, 33), 0.4, 41), ((20, 35), 0.2, 70), ((8, 5), 1.0, 130)],
)  # fmt: skip
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


@pytest.mark.parametrize(("rows", "columns", "k"), [(5, 4, 0), (0, 4, 3), (5, 0, 3)])
def test_nothing_to_solve_or_to_solve_with(engine, rows, columns, k) -> None:
    none = np.zeros(0, np.int32)
    cells = engine.both_orders(none, none, np.zeros(0, np.float32), None, (rows, columns))
    there = np.ones((rows, 1), np.float32)
    size, scale = there[:, 0], np.ones(columns, np.float32)
    X = CenteredCells(*cells, cells[0].values, cells[1].values, size, size, 0 * scale)
    right = np.ones((columns, k), np.float32)
    problem = RidgeProblem(2.0, scale, right, 0 * right, there, 1e-5, 20)
    np.testing.assert_allclose(engine.solve_ridge(X, problem), right / 2)


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
