"""Scales of columns: as good as the better of the table's and each one's own, and safe."""

import numpy as np
import pytest

from oracles import random_low_rank
from pygeco import Dense
from pygeco.algorithm.column_scales import (
    MIN_SHARE,
    PER_MEDIAN,
    column_scales,
    median_variance,
    pool_scales,
)


def noise(m, n, spread=0.0, share=0.0, seed=0):
    """Gaussian columns whose scales vary by e^spread, some cells wild, and the true scales."""
    rng = np.random.default_rng(seed)
    scales = np.exp(spread * rng.standard_normal(n))
    wild = 30.0 * scales * rng.choice([-1, 1], (m, n)) * (rng.random((m, n)) < share)
    return scales * rng.standard_normal((m, n)) + wild, scales


def table_scale(X):
    return PER_MEDIAN * float(np.nanmedian(np.abs(X)))


def scales_of(X, **settings):
    """About zero, of any number of columns."""
    A = random_low_rank(X.shape, 0)
    given = {"parameters": 0, "least": 1e-9} | settings
    return column_scales(Dense(X), A, table_scale(X), **given)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25])
def test_the_variance_of_a_median_is_that_of_draws(share) -> None:
    sizes = np.abs(noise(200, 3000, share=share)[0])
    drawn = 200 * np.var(np.log(np.median(sizes, axis=0)))
    assert median_variance(sizes[:, :300].ravel()) == pytest.approx(drawn, rel=0.15)


@pytest.mark.parametrize("shape", [(15, 800), (60, 500), (400, 60)], ids=str)
@pytest.mark.parametrize("share", [0.0, 0.15])
def test_columns_that_are_alike_have_the_scale_of_the_table(shape, share) -> None:
    X, _ = noise(*shape, share=share)
    usual = table_scale(X)
    raw = PER_MEDIAN * np.median(np.abs(X), axis=0)
    errors = [np.sqrt(np.mean(np.log(s / usual) ** 2)) for s in (scales_of(X), raw)]
    assert errors[0] < 0.15 * errors[1]


@pytest.mark.parametrize("spread", [0.1, 0.3, 1.0])
def test_the_error_is_that_of_the_best_linear_rule(spread) -> None:
    """t v / (t + v), what knows the truth has; each column's own has v, the table's t."""
    X, true = noise(50, 3000, spread=spread)
    found = np.mean(np.log(scales_of(X) / true) ** 2)
    v, t = 1.36 / 50, spread**2
    assert found < 1.25 * t * v / (t + v)


def test_a_long_column_is_believed_more_than_a_short_one() -> None:
    own, cells = np.full(6, 2.0), np.array([0, 1, 5, 20, 100, 10_000])
    found = pool_scales(own, cells, 1.0, 1.36)
    assert found[0] == 1.0
    assert np.all(np.diff(found) > 0)
    assert found[-1] == pytest.approx(2.0, rel=1e-3)


def test_columns_that_tell_nothing_have_the_scale_of_the_table() -> None:
    X, _ = noise(80, 200, spread=1.0)
    X[:, 0] = np.nan
    X[4:, 1] = np.nan  # no more than were fitted
    X[:, 2] = 0.0
    X[:, 3] = np.where(np.arange(80) < 8, 0.7, 0.0)  # a label of few rows
    X[:, 4] *= 1e-3
    found, usual = scales_of(X, parameters=4), table_scale(X)
    np.testing.assert_allclose(found[:4], usual, rtol=1e-12)
    assert found[4] == pytest.approx(MIN_SHARE * usual, rel=0.15)
    assert np.all(np.isfinite(found))


def test_most_cells_of_a_column_may_be_wild() -> None:
    X, _ = noise(200, 300)
    wild = np.random.default_rng(1).random((200, 5)) < 0.6
    X[:, :5] += 100.0 * wild
    limits = 3.5 * scales_of(X)
    assert np.all((np.abs(X[:, :5]) > limits[:5]) == wild)
    noisy = X.copy()
    noisy[:, 5:10] *= 20.0  # no outliers, but noise
    assert np.mean(np.abs(noisy[:, 5:10]) > 3.5 * scales_of(noisy)[5:10]) < 0.01


def test_a_table_that_is_mostly_exact_leaves_noisy_columns_theirs() -> None:
    X, _ = noise(300, 100)
    X[:, 10:] = 0.0
    found = scales_of(X)
    np.testing.assert_allclose(found[:10], 1.0, rtol=0.2)
    assert np.all(found[10:] <= 1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scales_follow_the_units(dtype) -> None:
    X, _ = noise(70, 90, spread=0.5, share=0.1)
    X[X > 2.5] = np.nan
    plain = scales_of(X)
    found = scales_of((1000.0 * X).astype(dtype))
    np.testing.assert_allclose(found, 1000.0 * plain, rtol=1e-5)
