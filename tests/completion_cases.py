"""Completions along a path, and ratings as a dense table."""

import numpy as np

from pygeco import MatrixCompletion, Solver

CORE = Solver(correction="core")


def model(rank=3, **settings) -> MatrixCompletion:
    plain = {"penalty": None, "biases": False, "solver": CORE, "clip": False, "random_state": 0}
    chosen = plain | settings
    return MatrixCompletion(rank, **chosen)


def table(ratings, dtype=float) -> np.ndarray:
    full = np.full(ratings.shape, np.nan, dtype)
    full[ratings.rows, ratings.cols] = ratings.values
    return full
