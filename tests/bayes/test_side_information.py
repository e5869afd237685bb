"""Fits that know attributes: laws of what they may and may not change."""

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.sampling import sample_posterior
from pygeco.bayes.side_information import gather_known
from pygeco.objectives import Entries

M, N, RANK = 150, 60, 2


class Data:
    """Rows whose vectors and offsets follow attributes, a tenth of them without any cell."""

    def __init__(self, seed=0, strength=1.0):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((M, 3))
        B = strength * rng.standard_normal((3, RANK))
        U = self.X @ B + 0.4 * rng.standard_normal((M, RANK))
        V = rng.standard_normal((N, RANK))
        self.mean = U @ V.T
        mask = rng.random((M, N)) < 0.25
        self.cold = np.arange(M) % 10 == 0
        mask[self.cold] = False
        rows, cols = np.nonzero(mask)
        values = (self.mean + 0.5 * rng.standard_normal((M, N)))[rows, cols]
        self.entries = Entries(rows, cols, values.astype(np.float32), (M, N))

    def values(self, X, names=None, sizes=None):
        X = sp.csr_array(np.asarray(X, np.float32))
        names = names or tuple(f"x{t}" for t in range(X.shape[1]))
        return AttributeValues(X, np.ones(M, bool), names, sizes or (1,) * len(names))

    def fit(self, values=None, **settings):
        known = gather_known(self.entries, values=(values, None), **settings)
        return fit_evidence(self.entries, rank=8, known=known).posterior


@pytest.fixture(scope="module")
def data():
    return Data()


def predict(p):
    return p.mean + p.scale * (
        p.rows.factor @ p.cols.factor.T + p.rows.bias[:, None] + p.cols.bias
    ).astype(float)


def error(p, data, rows):
    return float(np.sqrt(np.mean((predict(p) - data.mean)[rows] ** 2)))


def test_rows_without_cells_are_where_their_attributes_put_them(data):
    plain, informed = data.fit(), data.fit(data.values(data.X))
    assert error(informed, data, data.cold) < 0.5 * error(plain, data, data.cold)
    assert error(informed, data, ~data.cold) <= error(plain, data, ~data.cold)
    # What is not known of such a row is what it differs by from others like it.
    z = (predict(informed) - data.mean)[data.cold]
    spread = np.sqrt(
        [
            informed.variance(np.full(N, i), np.arange(N)) - informed.scale**2 / informed.tau
            for i in np.flatnonzero(data.cold)
        ]
    )
    assert 0.8 < np.sqrt(np.mean((z / spread) ** 2)) < 1.25


def test_attributes_of_zeros_and_of_noise_change_nothing_or_next_to_nothing(data):
    plain = data.fit()
    zeros = data.fit(data.values(np.zeros((M, 2))))
    np.testing.assert_array_equal(zeros.rows.factor, plain.rows.factor)
    noise = np.random.default_rng(5).standard_normal((M, 40))
    found = data.fit(data.values(noise, ("noise",), (40,)))
    assert error(found, data, ~data.cold) < 1.01 * error(plain, data, ~data.cold)
    assert all(e.degrees < 4 for e in found.row_prior.effects)


def test_a_group_that_says_nothing_is_dropped_beside_one_that_does(data):
    noise = np.random.default_rng(6).standard_normal((M, 1))
    values = data.values(np.hstack([data.X, noise]))
    names = [e.name for e in data.fit(values).row_prior.effects]
    assert "x3" not in names
    assert names


def test_units_and_the_order_of_rows_do_not_matter(data):
    found = data.fit(data.values(data.X))
    scaled = data.fit(data.values(data.X * np.array([1e-3, 1.0, 1e3])))
    np.testing.assert_allclose(predict(scaled), predict(found), atol=0.02)
    order = np.random.default_rng(1).permutation(M)
    entries = data.entries
    place = np.argsort(order)
    other = Data()
    other.entries = Entries(
        place[entries.rows()], entries.by_row.indices, entries.by_row.values, (M, N)
    )
    moved = other.fit(data.values(data.X[order]))
    np.testing.assert_allclose(predict(moved), predict(found)[order], atol=0.02)


def test_one_column_a_row_is_the_plain_model(data):
    """Attributes that tell each row from every other say nothing that its own vector does not."""
    plain = data.fit()
    found = data.fit(data.values(np.eye(M), ("id",), (M,)))
    assert error(found, data, ~data.cold) == pytest.approx(error(plain, data, ~data.cold), rel=0.02)


def test_the_pattern_serves_where_it_says_something_and_is_dropped_where_not():
    rng = np.random.default_rng(2)
    m, n = 300, 200
    U, V = rng.standard_normal((m, RANK)), rng.standard_normal((n, RANK))
    Z = U @ V.T
    for chosen in (True, False):
        odds = 1 / (1 + np.exp(3 - 1.5 * Z)) if chosen else np.full((m, n), 0.06)
        rows, cols = np.nonzero(rng.random((m, n)) < odds)
        values = (Z + rng.standard_normal((m, n)))[rows, cols]
        entries = Entries(rows, cols, values.astype(np.float32), (m, n))
        plain = fit_evidence(entries, rank=10).posterior
        known = gather_known(entries, (True, True))
        found = fit_evidence(entries, rank=10, known=known).posterior
        test = rng.random((m, n)) < odds
        test[rows, cols] = False
        ratio = np.sqrt(
            np.mean((predict(found) - Z)[test] ** 2) / np.mean((predict(plain) - Z)[test] ** 2)
        )
        if chosen:
            assert ratio < 0.97
        else:
            assert ratio < 1.001
        forced = gather_known(entries, (True, False), stays=True)
        kept = fit_evidence(entries, rank=10, known=forced).posterior
        assert [e.source for e in kept.row_prior.effects] == ["pattern"]
        assert not kept.col_prior.effects


def test_draws_with_attributes_place_rows_without_cells_too(data):
    values = data.values(data.X)
    known = gather_known(data.entries, values=(values, None))
    start = data.fit(values)
    found = sample_posterior(data.entries, start, 20, rank=4, known=known).average
    z = found.factors.to_dense() + found.mean + found.row[:, None] + found.col
    cold = float(np.sqrt(np.mean((z - data.mean)[data.cold] ** 2)))
    assert cold < 1.1 * error(start, data, data.cold)


def test_a_pattern_that_says_nothing_does_not_take_tables_with_it(data):
    known = gather_known(data.entries, (True, True), (data.values(data.X), None))
    found = fit_evidence(data.entries, rank=8, known=known).posterior
    assert {e.source for e in found.row_prior.effects} >= {"table"}
    assert error(found, data, data.cold) < 0.6 * error(data.fit(), data, data.cold)
