"""The dispersion of counts, and the probabilities of new ones."""

import numpy as np
import pytest
from scipy import stats

from pygeco import MatrixCompletion
from pygeco.arrays.coded import encode_values
from pygeco.bayes.likelihoods.counts import Counts


@pytest.mark.parametrize("shape", [0.7, 4.0])
def test_the_dispersion_is_found(shape):
    rng = np.random.default_rng(0)
    z = rng.normal(1.0, 0.7, 60_000)
    y = rng.negative_binomial(shape, shape / (shape + np.exp(z))).astype(float)
    found = Counts().update(y, z, 0 * z)
    np.testing.assert_allclose(found.shape, shape, rtol=0.1)


def test_poisson_counts_have_none():
    rng = np.random.default_rng(1)
    z = rng.normal(1.0, 0.7, 60_000)
    assert Counts().update(rng.poisson(np.exp(z)).astype(float), z, 0 * z).shape > 50


def test_quantiles_are_those_of_the_mixture():
    rng = np.random.default_rng(2)
    z = 0.5 + 0.4 * rng.standard_normal(100_000)
    y = rng.negative_binomial(2.0, 2.0 / (2.0 + np.exp(z)))
    ends = np.concatenate([[0], np.cumsum(np.bincount(y)[:6])]) / len(y)
    shares = (ends[1:] + ends[:-1]) / 2  # in the middle of what each count has
    found = [
        float(Counts(2.0).find_quantile(np.array([0.5]), np.array([0.16]), q)[0]) for q in shares
    ]
    assert found == [0, 1, 2, 3, 4, 5]


def test_without_spread_they_are_poisson():
    for q in np.linspace(0.01, 0.99, 33):
        found = Counts().find_quantile(np.ones(3), np.zeros(3), q)
        np.testing.assert_array_equal(found, stats.poisson.ppf(q, np.e))


@pytest.mark.parametrize("scale", [400.0, 1e4, 1e9])
def test_draws_of_large_counts_reach_them(scale):
    """Nearly as near to the truth as the evidence is, and as sure of it."""
    rng = np.random.default_rng(0)
    rate = scale * np.exp(0.7 * rng.standard_normal((40, 1)) @ rng.standard_normal((1, 30)))
    Y = rng.poisson(rate).astype(float)
    hidden = rng.random(Y.shape) < 0.3
    cells = np.where(hidden, np.nan, Y)
    drawn = MatrixCompletion(loss="poisson", posterior=10, random_state=0).fit(cells)
    plain = MatrixCompletion(loss="poisson", random_state=0).fit(cells)
    errors = [np.abs(np.log(model.to_dense() / rate))[hidden].mean() for model in (drawn, plain)]
    assert errors[0] < max(2.5 * errors[1], 1e-2)
    low, high = drawn.predict_interval(*np.nonzero(hidden))
    assert np.mean((low <= Y[hidden]) & (Y[hidden] <= high)) > 0.85
    assert drawn.average_.likelihood.shape > 20


def test_few_draws_of_what_is_hardly_known_do_not_run_away():
    """The variance of ten draws is itself off, and of counts it is in the exponent."""
    rng = np.random.default_rng(2)
    m, n = 150, 120
    z = 0.7 * rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    z += 0.6 * rng.standard_normal((m, 1)) + 0.6 * rng.standard_normal(n)
    Y, seen = rng.poisson(np.exp(z)).astype(float), rng.random((m, n)) < rng.beta(0.3, 1.2, n)
    seen[0] = True
    plain, drawn = (
        MatrixCompletion(loss="poisson", posterior=draws, pattern=False, random_state=0)
        .fit(np.where(seen, Y, np.nan))
        .to_dense()[~seen]
        for draws in (0, 10)
    )
    y = Y[~seen]
    losses = [np.mean(rate - y * np.log(rate)) for rate in (plain, drawn)]
    assert losses[1] < losses[0] + 0.2 * abs(losses[0])


@pytest.mark.parametrize("scale", [1e7, 1e10, 1e12])
def test_new_rows_of_large_counts_are_where_their_counts_put_them(scale):
    rng = np.random.default_rng(0)
    rate = scale * np.exp(rng.standard_normal((60, 2)) @ rng.standard_normal((2, 30)))
    model = MatrixCompletion(loss="poisson", random_state=0).fit(rng.poisson(rate[:50]) * 1.0)
    found = model.predict(rng.poisson(rate[50:]) * 1.0)
    np.testing.assert_allclose(found, rate[50:], rtol=1e-2)


@pytest.mark.parametrize("most", [5, 200_000])  # large counts are met by squares about z
def test_coded_counts_are_drawn_as_plain_ones(most) -> None:
    y = np.random.default_rng(0).integers(0, 50, 300).astype(np.float32)
    y[:3] = most
    z = np.log1p(y).astype(np.float32)
    coded = encode_values(y)
    assert coded is not None
    one, other = (Counts(3.0).draw_squares(x, z, np.random.default_rng(1)) for x in (y, coded))
    for plain, found in zip(one, other, strict=True):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(plain))
