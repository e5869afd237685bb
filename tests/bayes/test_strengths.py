"""How strongly a covariance is shrunk where many cells are missing; see test_table_gaussian.py."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine

from pygeco.bayes.row_gaps import list_gaps
from pygeco.bayes.strengths import ScatterDoubt
from pygeco.bayes.table_gaussian import TableGaussian, fit_table


def test_the_doubt_is_the_variance_of_the_scatter() -> None:
    """Against draws of the missing cells, in any basis and of any coordinates."""
    rng = np.random.default_rng(0)
    n, d, count = 30, 5, 3_000
    covariance = np.cov(rng.standard_normal((d, 40))) + 0.5
    X, known = rng.multivariate_normal(np.zeros(d), covariance, n), rng.random((n, d)) < 0.6
    gaussian, draws = TableGaussian.of_covariance(np.zeros(d), covariance), np.zeros((count, n, d))
    filled = gaussian.fill(np.where(known, X, np.nan))
    draws += filled
    for i in np.flatnonzero(~known.all(axis=1)):
        gap = ~known[i]
        own = np.linalg.inv(gaussian.precision()[np.ix_(gap, gap)])
        draws[:, i, gap] += rng.multivariate_normal(np.zeros(gap.sum()), own, count)
    for coordinates in (np.arange(d), np.array([1, 2, 4])):
        vectors = np.linalg.qr(rng.standard_normal((len(coordinates), len(coordinates))))[0]
        doubt = ScatterDoubt(filled, list_gaps(known), gaussian.precision())
        turned = draws[:, :, coordinates] @ vectors
        expected = np.var(np.swapaxes(turned, 1, 2) @ turned, axis=0)
        found = doubt.take(coordinates).turn(vectors)
        np.testing.assert_allclose(found, expected, rtol=0.2)


@pytest.mark.parametrize("load", [load_wine, load_diabetes])
def test_few_rows_with_half_of_their_cells_are_not_filled_with_means(load) -> None:
    """Squares of the error over those of the means, which a fit to all rows brings to 0.7."""
    shares = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = load().data
        X = X[rng.permutation(len(X))[:80]]
        gone = rng.random(X.shape) < 0.5
        seen = np.where(gone, np.nan, X)
        seen, X = ((A - np.nanmean(seen, axis=0)) / np.nanstd(seen, axis=0) for A in (seen, X))
        filled = fit_table(seen, 0, form="whole").fill(seen)
        shares.append(np.mean((filled - X)[gone] ** 2) / np.mean(X[gone] ** 2))
    assert np.mean(shares) < 0.85
