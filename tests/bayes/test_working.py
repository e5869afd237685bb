"""Cells under a likelihood: moments against dense NumPy, new rows against exact posteriors."""

import numpy as np
import pytest

from pygeco import Entries
from pygeco.bayes.likelihoods.counts import Counts
from pygeco.bayes.likelihoods.labels import Labels
from pygeco.bayes.likelihoods.levels import Levels
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import Gaussian
from pygeco.bayes.sweep import new_rows
from pygeco.bayes.working import draw_cells, find_moments, see_cells, see_entries
from pygeco.objectives.entries.half_sweep import Side

M, N, S = 12, 9, 3
LEVELS = Levels((1.0, 2.0, 3.0), (-0.5, 1.0))


def make_side(count, rank, rng):
    return Side(
        rng.standard_normal((count, rank)).astype(np.float32),
        rng.standard_normal(count).astype(np.float32),
        rng.uniform(0, 0.5, (count, rank)).astype(np.float32),
        rng.uniform(0, 0.5, count).astype(np.float32),
    )


def make_posterior(likelihood, rank=S, mean=0.3):
    rng = np.random.default_rng(0)
    d = rank + 1
    priors = [Gaussian(np.eye(d), np.zeros(d), np.ones(k, bool), True) for k in (M, N)]
    sides = make_side(M, rank, rng), make_side(N, rank, rng)
    return Posterior(*sides, *priors, 1.0, mean, 1.0, likelihood=likelihood)


def make_entries(loss="logistic", weighted=False):
    rng = np.random.default_rng(1)
    rows, cols = np.nonzero(rng.random((M, N)) < 0.6)
    values = rng.choice([0.0, 1.0], len(rows))
    weights = rng.uniform(0.5, 2, len(rows)) if weighted else None
    return Entries(rows, cols, values.astype(np.float32), (M, N), loss=loss, sample_weight=weights)


def test_moments_are_those_of_dense_arrays() -> None:
    now, data = make_posterior(Labels()), make_entries()
    at = find_moments(data.by_row, now.rows, now.cols, now.mean)
    i, j = data.rows(), data.by_row.indices
    r, c = now.rows, now.cols
    z = 0.3 + r.factor @ c.factor.T + r.bias[:, None] + c.bias
    np.testing.assert_allclose(at.mean, z[i, j], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(at.variance, now.variance(i, j, noise=False), rtol=1e-5)
    turned = find_moments(data.by_col, now.cols, now.rows, now.mean)
    np.testing.assert_allclose(np.sort(turned.variance), np.sort(at.variance), rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_squares_keep_their_weight_in_the_precision(weighted) -> None:
    now, data = make_posterior(Labels()), make_entries(weighted=weighted)
    seen = see_cells(data.by_row, now.rows, now.cols, now, updates=True)
    cells, y = data.by_row, data.by_row.values
    at = find_moments(cells, now.rows, now.cols, now.mean)
    own = cells.weights if weighted else np.ones(len(y), np.float32)
    squares = Labels().make_squares(y, *at)
    np.testing.assert_allclose(seen.tau * seen.cells.weights, own * squares.weights, rtol=1e-4)
    np.testing.assert_allclose(seen.cells.values + 0.3, squares.targets, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(seen.cells.weights.sum(), own.sum(), rtol=1e-5)
    both = see_entries(data, now)
    np.testing.assert_allclose(both.by_col.weights.sum(), own.sum(), rtol=0.2)
    assert both.squared


def test_without_a_likelihood_cells_stay_as_they_are() -> None:
    now, data = make_posterior(None), make_entries("squared")
    seen = see_cells(data.by_row, now.rows, now.cols, now, updates=True)
    assert seen.cells is data.by_row
    assert draw_cells(data.by_row, now.rows, now.cols, now, np.random.default_rng(0)).tau == 1.0
    assert see_entries(data, now) is data


TINY = {
    "labels": (Labels(), [1.0, 1, 1, -1, 1, 1]),
    "one label": (Labels(), [-1.0]),
    "levels": (LEVELS, [0.0, 2, 2, 1, 2]),
    "counts": (Counts(2.0), [3.0, 0, 7, 4]),
}


@pytest.mark.parametrize("name", TINY)
def test_a_new_row_is_near_its_exact_posterior(name) -> None:
    likelihood, y = TINY[name]
    now = make_posterior(likelihood, rank=0)
    nothing = np.zeros(N, np.float32)
    prior = Gaussian(np.array([[0.5]]), np.array([0.4]), np.ones(M, bool), True)
    now = Posterior(
        now.rows,
        Side(np.zeros((N, 0), np.float32), nothing, np.zeros((N, 0), np.float32), nothing),
        prior,
        now.col_prior,
        1.0,
        0.3,
        1.0,
        likelihood=likelihood,
    )
    cols = np.arange(len(y))
    entries = Entries(0 * cols, cols, np.array(y, np.float32), (1, N))
    found = new_rows(now, entries.with_loss(likelihood.loss))
    b = np.linspace(-8, 8, 4001)
    log = -0.25 * (b - 0.4) ** 2
    for target in y:
        log = log - likelihood.expect_loss(np.full(len(b), target), b + 0.3, 0 * b)
    p = np.exp(log - log.max())
    p /= p.sum()
    mean = p @ b
    spread = (p @ (b - mean) ** 2) ** 0.5
    assert abs(found.bias[0] - mean) < 0.1 * spread
    np.testing.assert_allclose(found.bias_variance[0] ** 0.5, spread, rtol=0.06)
