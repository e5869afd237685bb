"""Ridges on centered cells, for the engines that solve them by themselves."""

import numpy as np

from pygeco.engines.values import CenteredCells, RidgeProblem

# Shape, density and right sides.
RIDGE_CASES = [
    ((1, 3), 0.0, 1), ((40, 7), 0.5, 3), ((70, 40), 0.3, 9), ((9, 600), 0.9, 4),
    ((300, 12), 0.9, 17), ((30, 33), 0.4, 41), ((20, 35), 0.2, 70), ((8, 5), 1.0, 130),
]  # fmt: skip
EMPTY_CASES = [(5, 4, 0), (0, 4, 3), (5, 0, 3)]  # rows, columns and right sides


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


def make_empty_problem(engine, rows, columns, k):
    """No cells, and right sides of ones."""
    none = np.zeros(0, np.int32)
    cells = engine.both_orders(none, none, np.zeros(0, np.float32), None, (rows, columns))
    there = np.ones((rows, 1), np.float32)
    size, scale = there[:, 0], np.ones(columns, np.float32)
    X = CenteredCells(*cells, cells[0].values, cells[1].values, size, size, 0 * scale)
    right = np.ones((columns, k), np.float32)
    return X, RidgeProblem(2.0, scale, right, 0 * right, there, 1e-5, 20)
