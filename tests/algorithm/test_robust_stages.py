"""The two stages of a robust fit: near the absolute error, then at Huber's threshold."""

from functools import cache

import numpy as np
import pytest

from pygeco import Dense
from pygeco.algorithm.robust import fit_robust
from pygeco.algorithm.threshold import Schedule
from pygeco.losses import Huber
from pygeco.rivals import principal_component_pursuit


@cache
def table(share, size, noise, seed, shape=(100, 80), rank=3):
    """A matrix of this rank, and it with noise and wild cells, of both signs without a size."""
    rng = np.random.default_rng(seed)
    clean = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    clean /= clean.std()
    sizes = rng.uniform(-100, 100, shape) if size is None else size
    wild = rng.random(shape) < share
    return clean, clean + noise * rng.standard_normal(shape) + wild * sizes


def error(found, clean) -> float:
    return float(np.linalg.norm(found - clean) / np.linalg.norm(clean))


def fit(given):
    return fit_robust(Dense(given), 3, Schedule(Huber()), seed=0).whole().to_dense()


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("share", "size", "noise"), [(0.3, 5.0, 0.0), (0.3, 5.0, 0.1), (0.4, None, 0.1)], ids=str
)
def test_more_cells_may_be_wild_than_pursuit_bears(share, size, noise, seed) -> None:
    """A threshold that is large beside the residuals would follow the wild cells up."""
    clean, given = table(share, size, noise, seed)
    ours = error(fit(given), clean)
    assert ours < (2.5 * noise or 1e-5)
    assert ours < 0.5 * error(principal_component_pursuit(given).low_rank, clean)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_this_costs_is_won_back(seed) -> None:
    """Without outliers it is within a few percent of least squares."""
    clean, given = table(0.0, 0.0, 0.3, seed)
    middle = given.mean(axis=0)
    U, s, V = np.linalg.svd(given - middle, full_matrices=False)
    assert error(fit(given), clean) < 1.05 * error(middle + (U[:, :3] * s[:3]) @ V[:3], clean)


def test_two_columns_come_to_rest() -> None:
    """Near the absolute error half of their residuals are met, and say nothing of the noise."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        clean = 3 * rng.standard_normal((100, 1)) @ rng.standard_normal((1, 2))
        wild = rng.random(clean.shape) < 0.1
        given = clean + 0.1 * rng.standard_normal(clean.shape)
        given += wild * 30 * rng.standard_normal(clean.shape)
        assert fit_robust(Dense(given), 1, Schedule(Huber()), seed=0).converged
