"""Draws from the posterior: their distribution, their mean, its compression."""

import numpy as np
import pytest

from pygeco import Entries, MatrixCompletion
from pygeco.algorithm.events import Callback
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.priors import Gaussian
from pygeco.bayes.sampling import (
    BURN_IN_SWEEPS,
    CHAIN_SWEEPS,
    sample_posterior,
)
from pygeco.data import make_low_rank, make_ratings, split_cells
from pygeco.objectives.entries.half_sweep import Side


@pytest.fixture(scope="module")
def fitted():
    rows, cols, values, shape = make_ratings((500, 200), 14_000, 4, 0.6, 0)
    test = split_cells(len(values), 0.1, 0)
    entries = Entries(rows[~test], cols[~test], values[~test], shape)
    return entries, fit_evidence(entries, rank=20).posterior, (rows[test], cols[test], values[test])


def test_drawn_priors_scatter_about_the_most_likely_one() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3)) * [1.0, 2.0, 0.5] + [1.0, 0.0, -1.0]
    side = Side(X[:, :2], X[:, 2], np.zeros((400, 2)), np.zeros(400))
    prior = Gaussian.of(side, np.ones(400, bool), offset=True)
    draws = [prior.draw(side, np.eye(3), rng) for _ in range(2000)]
    covariance = np.mean([np.linalg.inv(draw.precision) for draw in draws], axis=0)
    np.testing.assert_allclose(covariance, np.cov(X.T), atol=0.15)
    centers = np.array([draw.center for draw in draws])
    np.testing.assert_allclose(centers.mean(axis=0), X.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(centers.std(axis=0), X.std(axis=0) / 20, rtol=0.1)


def test_relaxed_draws_have_the_mean_of_plain_ones(fitted, monkeypatch) -> None:
    """Over-relaxation leaves the distribution as it is: long plain and relaxed runs agree."""
    import pygeco.bayes.sampling

    entries, start, (rows, cols, _) = fitted
    means, deviations = [], []
    for relax, count in ((0.0, 120), (0.95, 60)):
        monkeypatch.setattr(pygeco.bayes.sampling, "OVER_RELAXATION", relax)
        found = sample_posterior(entries, start, count, rank=start.rank, seed=1).average
        means.append(found.row[rows] + found.col[cols] + found.factors.entries(rows, cols))
        deviations.append(np.sqrt(found.variance(rows, cols)))
    assert np.sqrt(np.mean((means[0] - means[1]) ** 2)) < 0.08
    assert np.mean(deviations[0]) == pytest.approx(np.mean(deviations[1]), rel=0.05)


def test_the_mean_of_draws_errs_no_more_than_the_start(fitted) -> None:
    entries, start, (rows, cols, values) = fitted
    found = sample_posterior(entries, start, 40, rank=2 * start.rank + 4, seed=0).average
    mean = found.mean + found.row[rows] + found.col[cols] + found.factors.entries(rows, cols)
    first = start.mean + start.scale * (
        np.sum(start.rows.factor[rows] * start.cols.factor[cols], axis=1)
        + start.rows.bias[rows]
        + start.cols.bias[cols]
    )
    error, before = (np.sqrt(np.mean((z - values) ** 2)) for z in (mean, first))
    assert error < 1.01 * before
    inside = np.abs(mean - values) < 1.645 * np.sqrt(found.variance(rows, cols))
    assert 0.86 < inside.mean() < 0.95


def test_draws_that_are_stopped_are_averaged_as_far_as_they_came(fitted) -> None:
    entries, start, (rows, cols, _) = fitted
    whole = sample_posterior(entries, start, CHAIN_SWEEPS, rank=start.rank, seed=2).average
    told = []

    def watch(drawn) -> bool:
        told.append(drawn)
        return drawn.done == BURN_IN_SWEEPS + CHAIN_SWEEPS

    part = sample_posterior(
        entries, start, 2 * CHAIN_SWEEPS, rank=start.rank, seed=2, listener=Callback(watch)
    ).average
    assert [drawn.done for drawn in told] == list(range(1, BURN_IN_SWEEPS + CHAIN_SWEEPS + 1))
    assert part.sweeps == whole.sweeps == CHAIN_SWEEPS
    np.testing.assert_allclose(part.row, whole.row, rtol=1e-5, atol=1e-6)
    z, wanted = (x.factors.entries(rows, cols) for x in (part, whole))
    np.testing.assert_allclose(z, wanted, atol=0.02 * start.scale)
    assert sample_posterior(entries, start, 5, rank=2, listener=Callback(lambda drawn: True)) == (
        None,
        True,
    )


def test_the_mean_keeps_to_the_rank_asked_for(fitted) -> None:
    entries, start, _ = fitted
    free = sample_posterior(entries, start, 8, rank=6, seed=0).average
    held = sample_posterior(entries, start, 8, rank=6, most=6, seed=0).average
    assert free.factors.rank > 6
    assert held.factors.rank == 6
    assert held.error < 0.2 * start.scale


def test_compression_is_measured_and_small(fitted, monkeypatch) -> None:
    import pygeco.bayes.average

    entries, start, _ = fitted
    full = sample_posterior(entries, start, 12, rank=8, seed=3).average
    assert full.error < 0.05 * start.scale
    monkeypatch.setattr(pygeco.bayes.average, "MIN_WIDTH", 40)
    monkeypatch.setattr(pygeco.bayes.average, "WIDE_BYTES", 0)
    monkeypatch.setattr(pygeco.bayes.average, "COMPRESSED_RANK", 12)
    small = sample_posterior(entries, start, 12, rank=8, seed=3).average
    assert small.factors.rank <= 12
    assert small.error > full.error
    i, j = np.divmod(np.arange(500 * 200), 200)
    distance = np.sqrt(np.mean((small.factors.entries(i, j) - full.factors.entries(i, j)) ** 2))
    assert distance < 3 * (small.error + full.error)
    np.testing.assert_array_equal(small.draws[-1].rows.factor, full.draws[-1].rows.factor)


def test_the_same_seed_gives_the_same_draws() -> None:
    data = tuple(make_ratings((100, 60), 2000, 2, 0.5, 1))
    first, again, other = (
        MatrixCompletion(posterior=4, random_state=seed).fit(data).to_dense() for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_data_without_noise_have_finite_draws(seed) -> None:
    X = make_low_rank((12, 9), 2, random_state=1).to_dense()
    model = MatrixCompletion(posterior=3, random_state=seed).fit(X)
    np.testing.assert_allclose(model.to_dense(), X, atol=0.05 * X.std())


def test_levels_of_draws_lie_where_those_of_the_evidence_do():
    """All of z and of the cut points can move together; lines that no draw knows would be off."""
    rng = np.random.default_rng(4)
    m, n = 90, 30
    X = rng.standard_normal((m, 3))
    z = X @ rng.standard_normal((3, 2)) @ rng.standard_normal((2, n)) + rng.standard_normal(n)
    Y = np.digitize(z + rng.logistic(size=z.shape), [-1.5, 0, 1]).astype(float)
    Y[rng.random(Y.shape) < 0.5] = np.nan
    Y[-20:] = np.nan
    model = MatrixCompletion(loss="ordinal", posterior=8, pattern=False, random_state=0)
    model.fit(Y, row_attributes=X)
    p, average = model.posterior_, model.average_
    assert average.likelihood.cuts != p.likelihood.cuts
    assert np.mean(average.likelihood.cuts) == pytest.approx(np.mean(p.likelihood.cuts))
    offsets = p.biases()
    expected = p.factors().to_dense() + offsets.mean + offsets.row[:, None] + offsets.col
    found = model.decision_function(np.arange(m)[:, None], np.arange(n))
    np.testing.assert_allclose(found[-20:], expected[-20:], atol=1e-3)
    assert abs(np.mean(found[:-20] - expected[:-20])) < 0.05
