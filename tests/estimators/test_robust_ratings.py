"""The paper's section 4 on ratings: a robust loss when some of them are noise."""

import os

import numpy as np
import pytest

from pygeco import MatrixCompletion, Solver
from pygeco.data import load_movielens
from soak import amount


@pytest.mark.skipif("PYGECO_DATA" not in os.environ, reason="PYGECO_DATA names no data folder")
def test_huber_is_better_at_every_rank_when_a_twentieth_is_noise():
    ratings = load_movielens("ml-1m")
    train, test = np.flatnonzero(~ratings.test), ratings.test
    rng = np.random.default_rng([0, 1])
    hit = rng.choice(train, round(0.05 * len(train)), replace=False)
    values = ratings.values.copy()
    values[hit] = rng.integers(1, 6, len(hit))
    rows, cols = ratings.rows[test], ratings.cols[test]
    clean = ratings.values[test]

    rank, starts = amount(2, 10), amount(1, 3)

    def errors(loss, seed):
        model = MatrixCompletion(
            rank, loss=loss, penalty=None, biases=True, solver=Solver(), random_state=seed
        ).fit((ratings.rows[train], ratings.cols[train], values[train], ratings.shape))
        guesses = [
            step.A.entries(rows, cols) + model.biases_.at(rows, cols) for step in model.path_
        ]
        assert len(guesses) == rank
        return [np.sqrt(np.mean((np.clip(z, 1, 5) - clean) ** 2)) for z in guesses]

    # From rank 3 on, one start moves an error by up to 0.001: the mean over three of them.
    mean = {
        loss: np.mean([errors(loss, s) for s in range(starts)], axis=0)
        for loss in ("squared", "huber")
    }
    assert np.all(mean["huber"][1:] < mean["squared"][1:])
