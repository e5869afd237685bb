"""Cells by row, against plain sets and dictionaries."""

import numpy as np
import scipy.sparse as sp

from pygeco import Entries
from pygeco.models.seen import (
    NO_CELLS,
    append_empty_rows,
    count_other_values,
    cut_rows,
    has_cells,
    hide_cells,
    keep_cells,
    sort_cells,
)

SHAPE = (6, 5)


def cells(seed: int = 0):
    rng = np.random.default_rng(seed)
    at = rng.permutation(30)[:14]
    return at // 5, at % 5, rng.standard_normal(14)


def test_sorted_cells_are_the_same_cells_row_by_row() -> None:
    rows, cols, values = cells()
    seen = sort_cells(rows, cols, values, SHAPE)
    found = dict(zip(zip(seen.rows(), seen.indices, strict=True), seen.values, strict=True))
    assert found == dict(zip(zip(rows, cols, strict=True), values, strict=True))
    assert np.all(np.diff(seen.rows() * 5 + seen.indices) > 0)


def test_which_cells_are_there_and_which_have_another_value() -> None:
    rows, cols, values = cells()
    seen = sort_cells(rows, cols, values, SHAPE)
    i, j = (index.reshape(-1) for index in np.indices(SHAPE))
    known = set(zip(rows.tolist(), cols.tolist(), strict=True))
    wanted = [(a, b) in known for a, b in zip(i.tolist(), j.tolist(), strict=True)]
    assert has_cells(seen, 5, i, j).tolist() == wanted
    assert not has_cells(seen, 5, np.array([-1, 0]), np.array([2, -1])).any()
    assert not has_cells(NO_CELLS, 5, i[:3] * 0, j[:3]).any()
    other = values.copy()
    other[:3] += 1
    assert count_other_values(seen, 5, rows, cols, other) == 3


def test_rows_are_cut_out_with_an_empty_one_after_them() -> None:
    seen = sort_cells(*cells(), SHAPE)
    part = cut_rows(seen, 2, 5)
    assert len(part.pointers) == 5
    inside = (seen.rows() >= 2) & (seen.rows() < 5)
    np.testing.assert_array_equal(part.rows() + 2, seen.rows()[inside])
    np.testing.assert_array_equal(part.values, seen.values[inside])
    assert cut_rows(None, 0, 1) is None


def test_new_rows_have_no_cells() -> None:
    seen = sort_cells(*cells(), SHAPE)
    more = append_empty_rows(seen, 3)
    assert len(more.pointers) == SHAPE[0] + 4
    np.testing.assert_array_equal(more.rows(), seen.rows())
    assert append_empty_rows(None, 3) is None


def test_seen_cells_are_hidden_in_lines_of_any_order() -> None:
    rows, cols, values = cells()
    seen = sort_cells(rows, cols, values, SHAPE)
    asked = np.array([4, 0, 4])
    table = np.zeros((3, 5))
    hide_cells(table, asked, seen)
    for t, row in enumerate(asked):
        assert np.flatnonzero(np.isinf(table[t])).tolist() == sorted(cols[rows == row])


def test_cells_of_the_caller_are_copied() -> None:
    X = sp.csr_array(np.eye(4, dtype=np.float32))
    X.indices = X.indices.astype(np.int32)
    kept = keep_cells(Entries.from_sparse(X))
    X.data[:] = 9
    assert kept.values.tolist() == [1, 1, 1, 1]
