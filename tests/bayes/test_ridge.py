"""Ridge regression on groups of attributes against dense algebra."""

import numpy as np
import pytest

from pygeco.arrays.operators import Operator
from pygeco.bayes.ridge import RidgeGroup, multiply, multiply_transposed, solve_ridge


class Table(Operator):
    def __init__(self, X: np.ndarray) -> None:
        self.X = X.astype(np.float32)
        self.shape = X.shape

    def matmat(self, X):
        return self.X @ X

    def rmatmat(self, Y):
        return self.X.T @ Y


def make_groups(rng, m, sizes, there):
    tables = [rng.standard_normal((m, size)) * rng.uniform(0.1, 3, size) for size in sizes]
    groups = [
        RidgeGroup(f"{t}", "table", Table(X), np.sum(there * X**2, axis=0), np.zeros(X.shape[1]))
        for t, X in enumerate(tables)
    ]
    return tables, groups


@pytest.mark.parametrize("sizes", [(3,), (5, 1, 40)])
def test_solutions_are_those_of_dense_algebra(sizes):
    rng = np.random.default_rng(0)
    m, k = 30, 4
    there = (rng.random((m, 1)) < 0.8).astype(np.float32)
    tables, groups = make_groups(rng, m, sizes, there)
    weights = rng.uniform(0.5, 4, len(sizes)).tolist()
    right = tuple(rng.standard_normal((size, k)).astype(np.float32) for size in sizes)
    start = tuple(np.zeros_like(part) for part in right)
    found = solve_ridge(groups, weights, right, start, there=there, tolerance=1e-6, max_iter=200)
    X = np.hstack(tables)
    system = X.T @ (there * X) + np.diag(np.repeat(weights, sizes))
    expected = np.linalg.solve(system, np.vstack(right))
    np.testing.assert_allclose(np.vstack(found), expected, rtol=2e-3, atol=2e-4)


def test_a_solution_is_where_it_stops_at_once():
    rng = np.random.default_rng(1)
    there = np.ones((20, 1), np.float32)
    _, groups = make_groups(rng, 20, (4, 3), there)
    right = tuple(rng.standard_normal((size, 2)).astype(np.float32) for size in (4, 3))
    start = tuple(np.zeros_like(part) for part in right)
    solve = {"groups": groups, "weights": [1.0, 2.0], "right": right, "there": there}
    once = solve_ridge(start=start, tolerance=1e-5, max_iter=100, **solve)
    again = solve_ridge(start=once, tolerance=1e-3, max_iter=0, **solve)
    for one, two in zip(once, again, strict=True):
        np.testing.assert_array_equal(one, two)


def test_products_are_those_of_the_tables_side_by_side():
    rng = np.random.default_rng(2)
    there = np.ones((9, 1), np.float32)
    tables, groups = make_groups(rng, 9, (2, 5), there)
    B = tuple(rng.standard_normal((size, 3)) for size in (2, 5))
    X = np.hstack(tables)
    np.testing.assert_allclose(multiply(groups, B), X @ np.vstack(B), rtol=1e-4, atol=1e-5)
    Y = rng.standard_normal((9, 3))
    found = np.vstack(multiply_transposed(groups, Y))
    np.testing.assert_allclose(found, X.T @ Y, rtol=1e-4, atol=1e-5)
