"""The variance of a mean of draws: what the draws and the evidence say of it together."""

from dataclasses import replace

import numpy as np
import pytest

from pygeco import MatrixCompletion
from pygeco.arrays.low_rank import LowRank
from pygeco.bayes.average import EVIDENCE_DRAWS, Average, Draw
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import Gaussian
from pygeco.objectives.entries.half_sweep import Side


def make_known(count, times, seed, shape=(300, 200)):
    """`count` draws of offsets of known variances, and an evidence with those less `times`."""
    rng = np.random.default_rng(seed)
    spreads = [rng.gamma(2.0, 0.5, size) for size in shape]
    nothing = [np.zeros((size, 0)) for size in shape]
    sides = [
        Side(none, np.zeros(size), none, spread / times)
        for none, size, spread in zip(nothing, shape, spreads, strict=True)
    ]
    priors = [Gaussian(np.eye(1), np.zeros(1), np.ones(size, bool), True) for size in shape]
    evidence = Posterior(*sides, *priors, 1.0, 0.0, 3.0)
    draws = tuple(
        Draw(
            *(
                Side(none, spread**0.5 * rng.standard_normal(len(spread)))
                for none, spread in zip(nothing, spreads, strict=True)
            )
        )
        for _ in range(count)
    )
    zero = [np.zeros(size) for size in shape]
    average = Average(LowRank.zero(shape), 0.0, *zero, 0.0, draws, 0.5, 3.0, count)
    return average.compare(evidence, rng), evidence, spreads


@pytest.mark.parametrize("count", [2, 3, 10, 24])
@pytest.mark.parametrize("times", [0.5, 4.0])
def test_draws_tell_by_how_much_the_evidence_errs(count, times):
    average, evidence, (row, col) = make_known(count, times, seed=count)
    assert average.excess == pytest.approx(times, rel=0.15)
    i, j = np.divmod(np.arange(300 * 200), 200)
    true = 3.0**2 * (row[i] + col[j])
    both = average.variance(i, j, evidence, noise=False)
    alone = average.variance(i, j, noise=False)
    off, off_alone = (np.mean(np.log(x / true) ** 2) for x in (both, alone))
    assert off < 0.7 * off_alone
    noisy = average.variance(i, j, evidence)
    np.testing.assert_allclose(noisy - both, 3.0**2 * 0.5, rtol=1e-6)
    assert average.degrees == count - 1 + EVIDENCE_DRAWS


def test_one_draw_and_evidence_that_is_certain_compare_with_nothing():
    assert make_known(1, 2.0, 0)[0].excess == 0
    average, evidence, _ = make_known(5, 2.0, 0)
    zero = [
        side._replace(bias_variance=0 * side.bias_variance)
        for side in (evidence.rows, evidence.cols)
    ]
    certain = replace(evidence, rows=zero[0], cols=zero[1])
    again = replace(average, excess=0.0).compare(certain, np.random.default_rng(0))
    assert again.excess == 0
    rows = np.arange(20)
    np.testing.assert_array_equal(again.variance(rows, rows, certain), again.variance(rows, rows))


@pytest.mark.parametrize("draws", [5, 30])
def test_deviations_tell_more_with_the_evidence_than_by_draws_alone(draws):
    """By the log-score of cells that were not fitted, where some columns have few."""
    gains = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 50)) + rng.standard_normal(50)
        Y = Z + 0.7 * rng.standard_normal(Z.shape)
        seen = rng.random(Z.shape) < rng.beta(0.5, 1.5, 50)
        seen[0] = True
        model = MatrixCompletion(posterior=draws, pattern=False, random_state=seed)
        model.fit(np.where(seen, Y, np.nan))
        at = np.nonzero(~seen)
        average, evidence = model.average_, model.posterior_
        squares = (Y[at] - model.predict(*at)) ** 2
        both, alone = average.variance(*at, evidence), average.variance(*at)
        np.testing.assert_allclose(model.predict(*at, return_std=True)[1] ** 2, both, rtol=1e-5)
        scores = [np.mean(np.log(v) + squares / v) / 2 for v in (both, alone)]
        gains.append(scores[1] - scores[0])
    assert np.mean(gains) > 0.002
