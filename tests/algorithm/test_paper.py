"""The paper's own experiments, on MovieLens where PYGECO_DATA has it."""

import os
from pathlib import Path

import numpy as np
import pytest

from pygeco import MatrixCompletion, Solver
from pygeco.data import load_movielens
from pygeco.engines.cpu.threads import set_num_threads
from soak import amount


def movielens(name, split=None):
    folder = os.environ.get("PYGECO_DATA")
    if not folder or not (Path(folder) / name).is_dir():
        pytest.skip(f"{name} is not here; point PYGECO_DATA at the folder that holds it")
    return load_movielens(name, split)


def errors(ratings, rank=10) -> tuple[np.ndarray, np.ndarray]:
    """Training and test RMSE at ranks 1 to 10, raw ratings, as in section 5."""
    model = MatrixCompletion(
        rank, penalty=None, biases=False, solver=Solver.paper(), random_state=0
    )
    path = model.fit(ratings.cells(~ratings.test)).path_
    rows, cols, values, _ = ratings.cells(ratings.test)
    train = [step.objective**0.5 for step in path]
    test = [np.sqrt(np.mean((step.A.entries(rows, cols) - values) ** 2)) for step in path]
    return np.array(train), np.array(test)


@pytest.fixture
def _all_threads():
    import numba

    set_num_threads(numba.config.NUMBA_NUM_THREADS)


@pytest.mark.usefixtures("_all_threads")
def test_movielens_1m() -> None:
    ranks = amount(4, 10)
    train, test = errors(movielens("ml-1m"), ranks)
    most = [0.936, 0.919, 0.906, 0.882, 0.875, 0.869, 0.864, 0.859, 0.854, 0.849]
    assert np.all(train <= most[:ranks])
    assert np.all(np.diff(test) < 0) if ranks == 4 else test[-1] <= 0.900


@pytest.mark.usefixtures("_all_threads")
def test_movielens_100k_overfits_beyond_a_rank_near_4() -> None:
    train, test = errors(movielens("ml-100k", "ub"))
    assert np.all(np.diff(train) < 0)
    assert 2 <= 1 + np.argmin(test) <= 7
    assert test[-1] > test.min() + 0.01
