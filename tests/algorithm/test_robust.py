"""Robust approximation itself: exact recovery, and lines solved from afar."""

import numpy as np
import pytest

from pygeco import Dense
from pygeco.algorithm.robust import fit_robust, project
from pygeco.algorithm.threshold import Schedule
from pygeco.losses import Huber


def recover(share, size, *, rank, condition, center, seed, shape=(100, 80)) -> float:
    """The relative error for a matrix with wild cells of both signs (no size), or of one."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((n, rank)))[0] for n in shape)
    clean = (U * np.geomspace(1, 1 / condition, rank)) @ V.T
    clean /= clean.std()
    sizes = rng.uniform(-100, 100, shape) if size is None else size
    given = Dense(clean + (rng.random(shape) < share) * sizes)
    fit = fit_robust(given, rank, Schedule(Huber()), center=center, seed=seed)
    error = np.linalg.norm(fit.whole().to_dense() - clean) / np.linalg.norm(clean)
    return float(error)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("share", "size", "rank", "condition"),
    [(0.4, None, 3, 1.0), (0.3, None, 8, 10.0), (0.2, 10.0, 8, 10.0)],
    ids=["two fifths", "weak components", "one sign"],
)
def test_many_cells_may_be_wild(share, size, rank, condition, center, seed) -> None:
    """While the rank grows, they hardly count for more than others."""
    assert recover(share, size, rank=rank, condition=condition, center=center, seed=seed) < 1e-4


@pytest.mark.parametrize(
    ("shape", "rank"),
    [((400, 2), 1), ((1000, 6), 3), ((60, 60), 20), ((600, 4), 3), ((10, 900), 2)],
)
def test_the_noise_is_not_what_is_left_of_it(shape, rank) -> None:
    """A fit with many parameters leaves little of it, and at many cells nothing."""
    rng = np.random.default_rng(0)
    X = 20 * rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    fit = fit_robust(Dense(X + rng.standard_normal(shape)), rank, Schedule(Huber()))
    assert 0.7 < fit.scale < 1.35


@pytest.mark.parametrize("count", [3, 12, 30])
def test_columns_of_one_value_change_nothing(count) -> None:
    """However many there are: neither the noise, nor what is found in the others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 20)) + 0.05 * rng.standard_normal(
        (80, 20)
    )
    X[rng.random(X.shape) < 0.04] += 20.0
    flat = np.broadcast_to(rng.standard_normal(count), (80, count))
    alone, beside = (fit_robust(Dense(Y), 3, Schedule(Huber())) for Y in (X, np.hstack([X, flat])))
    assert beside.scale == pytest.approx(alone.scale, rel=0.02)
    np.testing.assert_allclose(
        beside.whole().to_dense()[:, :20], alone.whole().to_dense(), atol=0.02
    )
    np.testing.assert_allclose(beside.whole().to_dense()[:, 20:], flat, atol=1e-9)


def wild(seed: int = 0, shape=(40, 30), rank: int = 2):
    rng = np.random.default_rng(seed)
    clean = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    return clean, clean + 50 * (rng.random(shape) < 0.1)


@pytest.mark.parametrize("center", [False, True])
def test_a_low_rank_matrix_is_found_under_gross_outliers(center) -> None:
    clean, given = wild()
    shift = 3.0 * center
    fit = fit_robust(
        Dense(given + shift), 2, Schedule(Huber()), center=center, tol=1e-8, max_sweeps=200, seed=0
    )
    found = fit.A.to_dense() + fit.location
    np.testing.assert_allclose(found, clean + shift, atol=1e-5 * np.abs(clean).max())
    assert fit.converged
    assert fit.scale < 1e-4 * fit.spread


def test_rows_are_projected_onto_columns_whatever_is_wild() -> None:
    clean, given = wild()
    V = np.linalg.svd(clean)[2][:2].T
    W = project(Dense(given, Huber(1e-3)), V, float(np.median(np.abs(given))), side="row")
    np.testing.assert_allclose(W @ V.T, clean, atol=1e-2)
