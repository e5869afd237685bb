"""RobustPCA warns where too many cells are wild, and not where a table is only noisy."""

import warnings

import numpy as np
import pytest

from pygeco import RobustPCA
from pygeco.errors import OutlierWarning


def noisy(kind, seed, shape=(60, 30)):
    """Rank 2, and noise of a kind."""
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))
    return {
        "Gaussian": lambda: L + rng.standard_normal(shape),
        "heavy tails": lambda: L + 0.3 * rng.standard_t(2, shape),
        "one tail": lambda: L + rng.exponential(1.0, shape) ** 1.5,
        "noise alone": lambda: rng.standard_cauchy(shape),
        "counts": lambda: rng.poisson(np.exp(L / 2)).astype(float),
        "a tenth wild": lambda: L + 20.0 * (rng.random(shape) < 0.1),
    }[kind]()


@pytest.mark.parametrize(
    "kind",
    ["Gaussian", "heavy tails", "one tail", "noise alone", "counts", "a tenth wild"],
)
def test_noise_is_no_reason_for_a_warning(kind) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutlierWarning)
        for seed in range(8):
            RobustPCA(2, tol=1e-4, random_state=0).fit(noisy(kind, seed))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_too_many_wild_cells_are_told(seed) -> None:
    """The low-rank part is then far off, and says so; those that were left out do no harm."""
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((100, 8)) @ rng.standard_normal((8, 80))
    wild = rng.random(L.shape) < 0.4
    X = L + np.where(wild, rng.uniform(-300, 300, L.shape), 0.0)
    with pytest.warns(OutlierWarning, match=r"found outliers in [23]\d% of the cells") as told:
        model = RobustPCA(8, random_state=0).fit(X)
    assert np.linalg.norm(model.low_rank_.to_dense() - L) > np.linalg.norm(L)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutlierWarning)
        RobustPCA(8, random_state=0).fit(np.where(wild, np.nan, X))


@pytest.mark.parametrize("limit", [{"cutoff": 1.0}, {"threshold": 0.5}], ids=str)
def test_outliers_by_a_low_limit_of_the_users_own_are_none_of_its_business(limit) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutlierWarning)
        model = RobustPCA(2, random_state=0, **limit).fit(noisy("Gaussian", 0))
    assert model.outliers_.nnz > 0.2 * 60 * 30
