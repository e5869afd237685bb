"""Groups of attributes as operators against their dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco.bayes.attributes import AttributeValues, group_pattern, group_table, mark_cells
from pygeco.objectives import Entries


def make_cells(m=14, n=9, seed=0):
    rng = np.random.default_rng(seed)
    mask = rng.random((m, n)) < 0.4
    mask[3] = False  # a row without cells
    rows, cols = np.nonzero(mask)
    return mask, Entries(rows, cols, rng.standard_normal(len(rows)).astype(np.float32), (m, n))


def to_dense(group):
    return group.X.matmat(np.eye(group.size, dtype=np.float32))


def check_adjoint(group, m):
    dense = to_dense(group)
    Y = np.random.default_rng(1).standard_normal((m, 3)).astype(np.float32)
    np.testing.assert_allclose(group.X.rmatmat(Y), dense.T @ Y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("columns", [False, True])
def test_the_pattern_is_the_known_cells_each_row_of_unit_length_about_its_mean(columns):
    mask, entries = make_cells()
    orders = (entries.by_row, entries.by_col)
    group = group_pattern(*(orders[::-1] if columns else orders), mark_cells(orders[0]))
    P = (mask.T if columns else mask).astype(float)
    counts = P.sum(axis=1)
    known = counts > 0
    X = P / np.sqrt(np.maximum(counts, 1))[:, None]
    X = np.where(known[:, None], X - X[known].mean(axis=0), 0.0)
    np.testing.assert_allclose(to_dense(group), X, atol=1e-6)
    np.testing.assert_allclose(group.diagonal, (X**2).sum(axis=0), atol=1e-5)
    check_adjoint(group, len(X))


def test_rows_that_all_know_the_same_have_no_pattern():
    m, n = 6, 5
    rows, cols = np.divmod(np.arange(m * n), n)
    entries = Entries(rows, cols, np.ones(m * n, np.float32), (m, n))
    every = mark_cells(entries.by_row)
    assert group_pattern(entries.by_row, entries.by_col, every) is None


def test_a_table_is_centered_over_rows_with_data_and_kept_for_all_that_are_known():
    _, entries = make_cells()
    rng = np.random.default_rng(2)
    X = np.where(rng.random((14, 5)) < 0.6, rng.standard_normal((14, 5)), 0.0)
    known = rng.random(14) < 0.8
    X[~known] = 0.0
    known[3], X[3, 0] = True, 2.0  # the row without cells
    values = AttributeValues(sp.csr_array(X.astype(np.float32)), known, ("a", "b"), (2, 3))
    some = entries.by_row.counts() > 0
    groups = list(group_table(values, some, entries.engine))
    assert [group.name for group in groups] == ["a", "b"]
    counted = known & some
    expected = np.where(known[:, None], X - X[counted].mean(axis=0), 0.0)
    np.testing.assert_allclose(np.hstack([to_dense(g) for g in groups]), expected, atol=1e-6)
    diagonal = np.concatenate([group.diagonal for group in groups])
    np.testing.assert_allclose(diagonal, (expected[counted] ** 2).sum(axis=0), atol=1e-4)
    for group in groups:
        check_adjoint(group, 14)


def test_a_column_that_says_the_same_of_all_rows_is_no_group():
    _, entries = make_cells()
    values = AttributeValues(
        sp.csr_array(np.full((14, 1), 3.0, np.float32)), np.ones(14, bool), ("same",), (1,)
    )
    assert not list(group_table(values, entries.by_row.counts() > 0, entries.engine))


def test_values_are_taken_and_widened_by_rows():
    X = np.arange(12.0).reshape(4, 3)
    values = AttributeValues(
        sp.csr_array(X), np.array([True, False, True, True]), ("a", "b"), (1, 2)
    )
    part = values.take(np.array([2, 0]))
    np.testing.assert_array_equal(part.matrix.toarray(), X[[2, 0]])
    wide = values.widen(6, np.array([5, 0, 2, 3]))
    expected = np.zeros((6, 3))
    expected[[5, 0, 2, 3]] = X
    np.testing.assert_array_equal(wide.matrix.toarray(), expected)
    np.testing.assert_array_equal(wide.known, [False, False, True, True, False, True])
    assert [x.shape for x in values.split()] == [(4, 1), (4, 2)]
