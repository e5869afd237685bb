"""Robust approximation itself: exact recovery, and lines solved from afar."""

import numpy as np
import pytest

from pygeco import Dense
from pygeco.algorithm.robust import fit_robust, project
from pygeco.algorithm.threshold import Schedule
from pygeco.losses import Huber


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
