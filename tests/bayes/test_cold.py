"""Rows without cells: they count by the cells of rows like them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco.arrays.low_rank import LowRank
from pygeco.bayes.attributes import AttributeValues, group_table
from pygeco.bayes.cold import fit_cold, put_cold, shift_center, splice_cold, weigh_rows
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import Gaussian
from pygeco.engines import choose_engine
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side

M = 400


def make_side(rng, U):
    w = rng.uniform(0.01, 0.02, U.shape).astype(np.float32)
    U = U.astype(np.float32)
    return Side(U[:, :-1], U[:, -1], w[:, :-1], w[:, -1])


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((M, 2))
    counts = rng.integers(1, 200, M)
    # What a row is goes with its attributes and with how many cells it has.
    U = X @ rng.standard_normal((2, 3)) + 0.01 * counts[:, None] + 0.1 * rng.standard_normal((M, 3))
    values = AttributeValues(sp.csr_array(X.astype(np.float32)), np.ones(M, bool), ("a",), (2,))
    tables = list(group_table(values, np.ones(M, bool), choose_engine("cpu")))
    weights = (counts / counts.mean()).astype(np.float32)[:, None]
    return X, U, make_side(rng, U), tables, weights


def test_center_effects_and_spread_are_weighted_least_squares(problem):
    X, U, side, tables, weights = problem
    prior = Gaussian.of(side, np.ones(M, bool), offset=True)
    cold = fit_cold(side, prior, tables, weights)
    Z = np.column_stack([X - X.mean(axis=0), np.ones(M)])
    w = weights[:, 0].astype(float)
    exact = np.linalg.solve((Z * w[:, None]).T @ Z, (Z * w[:, None]).T @ U)
    np.testing.assert_allclose(cold.effects[0].coefficients, exact[:2], atol=0.02)
    np.testing.assert_allclose(cold.center, exact[2], atol=0.01)
    rest = U - Z @ exact
    W = np.column_stack([side.variance, side.bias_variance])
    spread = (w @ rest**2 + w @ W) / w.sum()
    np.testing.assert_allclose(np.diag(np.linalg.inv(cold.precision)), spread, rtol=0.02)
    assert np.all(cold.center > prior.center)  # rows with many cells are higher here


def test_only_rows_without_cells_are_moved(problem):
    _, _, side, tables, weights = problem
    cold = fit_cold(side, Gaussian.of(side, np.ones(M, bool), offset=True), tables, weights)
    some = np.arange(M) % 7 != 0
    centers = np.tile(cold.center.astype(np.float32), (M, 1))
    found = put_cold(side, cold, some, centers, np.full(M, 0.5, np.float32))
    for old, new in zip(side, found, strict=True):
        np.testing.assert_array_equal(old[some], new[some])
    np.testing.assert_allclose(found.bias[~some], cold.center[-1], rtol=1e-6)
    own = np.diag(np.linalg.inv(cold.precision))
    expected = np.tile(1.5 * own[:-1], ((~some).sum(), 1))
    np.testing.assert_allclose(found.variance[~some], expected, rtol=1e-5)


def test_the_mean_of_draws_speaks_of_lines_with_cells_and_the_posterior_of_others():
    rng = np.random.default_rng(3)
    m, n = 30, 20
    some = rng.random(m) < 0.8, rng.random(n) < 0.8
    sides = [make_side(rng, rng.standard_normal((size, 3))) for size in (m, n)]
    priors = []
    for side, there in zip(sides, some, strict=True):
        prior = Gaussian.of(side, there, offset=True)
        priors.append(prior._replace(cold=prior))
    p = Posterior(sides[0], sides[1], priors[0], priors[1], 1.0, 0.7, 1.3)
    A = LowRank.product(rng.standard_normal((m, 4)), rng.standard_normal((n, 4))).svd()
    biases = Biases(0.4, rng.standard_normal(m), rng.standard_normal(n))

    def whole(factors, offsets):
        return factors.to_dense() + offsets.mean + offsets.row[:, None] + offsets.col

    found = whole(*splice_cold(A, biases, p))
    known = np.outer(*some)
    expected = np.where(known, whole(A, biases), whole(p.factors(), p.biases()))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    bare = [prior._replace(cold=None) for prior in priors]
    p = replace(p, row_prior=bare[0], col_prior=bare[1])
    assert splice_cold(A, biases, p) == (A, biases)


def test_the_center_is_shifted_to_the_least_error_at_the_known_cells():
    rng = np.random.default_rng(4)
    m, n = 60, 20
    rows, cols = (make_side(rng, rng.standard_normal((size, 3))) for size in (m, n))
    i, j = np.nonzero(rng.random((m, n)) < 0.3)
    data = Entries(i, j, np.ones(len(i), np.float32), (m, n))
    prior = Gaussian.of(rows, np.ones(m, bool), offset=True)
    now = Posterior(rows, cols, prior, prior, 2.5, 0.0, 1.0)
    centers = rng.standard_normal((m, 3)).astype(np.float32)
    found = shift_center(data.by_col, now, prior, centers)
    U = np.column_stack([rows.factor, rows.bias]).astype(float)
    Z = np.column_stack([cols.factor, np.ones(n)]).astype(float)[j]
    rest = np.sum(Z * (U - centers)[i], axis=1)
    expected = np.linalg.solve(prior.precision + 2.5 * Z.T @ Z, 2.5 * Z.T @ rest)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_weights_go_with_cells_and_a_column_of_noise_is_dropped(problem):
    X, _, side, _, _ = problem
    counts = np.random.default_rng(5).integers(1, 200, M)
    weights = weigh_rows(counts)
    np.testing.assert_allclose(weights[:, 0] / weights[0], counts / counts[0], rtol=1e-5)
    assert weights.sum() == pytest.approx(counts.sum() ** 2 / np.sum(counts**2), rel=1e-5)
    levels = np.eye(200)[np.arange(M) % 200]  # two rows each
    both = AttributeValues(
        sp.csr_array(np.hstack([X, levels]).astype(np.float32)),
        np.ones(M, bool),
        ("a", "b"),
        (2, 200),
    )
    tables = list(group_table(both, np.ones(M, bool), choose_engine("cpu")))
    cold = fit_cold(side, Gaussian.of(side, np.ones(M, bool), offset=True), tables, weights)
    assert [effect.name for effect in cold.effects] == ["a"]
