"""The published behavior of all: exact recovery; and no dense matrix on the way."""

import tracemalloc

import numpy as np
import pytest

from pygeco import Entries, LowRank, Solver, minimize
from pygeco.data import make_low_rank
from pygeco.rivals import admira, hazan, js, optspace, r1mp, soft_impute, svt

SIDE, RANK = 200, 3


@pytest.fixture(scope="module")
def truth() -> LowRank:
    return make_low_rank((SIDE, SIDE), RANK, random_state=0)


@pytest.fixture(scope="module")
def entries(truth) -> Entries:
    """30 % of the cells of a rank-3 matrix, 200 × 200."""
    rows, cols = np.nonzero(np.random.default_rng(1).random((SIDE, SIDE)) < 0.3)
    return Entries(rows, cols, truth.entries(rows, cols), (SIDE, SIDE))


def small_penalties(entries):
    """α from half of σ₁(∇R(0)), where A = 0 is optimal, to a millionth of it."""
    G = entries.gradient(LowRank.zero(entries.shape)).matmat(np.eye(SIDE))
    return np.linalg.norm(G, 2) * np.geomspace(0.5, 1e-6, 12)


@pytest.mark.parametrize(
    "recover",
    [
        lambda E: svt(E, 20, tol=5e-5, random_state=0),
        lambda E: optspace(E, RANK, tol=1e-6, random_state=0),
        lambda E: admira(E, RANK, tol=1e-5, random_state=0),
        lambda E: soft_impute(E, 20, small_penalties(E), tol=1e-5, random_state=0),
        lambda E: soft_impute(E, 8, small_penalties(E), als=True, tol=1e-5, random_state=0),
        lambda E: minimize(E, RANK, Solver(correction="sweep"), random_state=0),
    ],
    ids=["SVT", "OptSpace", "ADMiRA", "Soft-Impute", "Soft-Impute-ALS", "GECO"],
)
def test_exact_recovery(recover, entries, truth):
    found = recover(entries).A.to_dense()
    exact = truth.to_dense()
    assert np.linalg.norm(found - exact) <= 1e-4 * np.linalg.norm(exact)


@pytest.mark.parametrize(
    "fit",
    [
        lambda E: js(E, 5, 1e4, random_state=0),
        lambda E: hazan(E, 5, 1e2, random_state=0),
        lambda E: r1mp(E, 5, random_state=0),
        lambda E: r1mp(E, 5, economic=True, random_state=0),
        lambda E: admira(E, 2, max_iter=2, random_state=0),
        lambda E: soft_impute(E, 4, [1e-3], max_iter=3, random_state=0),
        lambda E: soft_impute(E, 4, [1e-3], als=True, max_iter=3, random_state=0),
        lambda E: optspace(E, 2, max_iter=2, random_state=0),
        lambda E: svt(E, 4, tau=1e3, delta=1.0, max_iter=2, random_state=0),
    ],
    ids=["JS", "Hazan", "R1MP", "ER1MP", "ADMiRA", "Soft", "ALS", "OptSpace", "SVT"],
)
def test_memory_is_that_of_the_cells_and_factors(fit):
    """12,000 × 9,000 would be 864 MB as an array; the cells are 1 MB."""
    rng = np.random.default_rng(2)
    keys = np.unique(rng.integers(12_000 * 9_000, size=60_000))
    entries = Entries(keys // 9_000, keys % 9_000, rng.uniform(1, 5, len(keys)), (12_000, 9_000))
    tracemalloc.start()
    path = fit(entries)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 60e6
    assert path[-1].objective < entries.value_at_zero
