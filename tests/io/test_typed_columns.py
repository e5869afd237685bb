"""Columns of every type as numbers: levels, names, and what is kept of types."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pygeco.io.column_kinds import find_field
from pygeco.io.typed_columns import make_dense, read_cells, read_column, take_columns


def test_levels_of_another_table_are_those_of_the_fit() -> None:
    fit = pa.chunked_array([pa.array(["b", "a", "b", None]).dictionary_encode()])
    field = find_field("k", read_column(fit, "k"))
    other = pa.chunked_array([pa.array(["c", "a"]), pa.array(["b", None])])
    found = read_cells(other, field)
    expected = [-1, field.levels.index("a"), field.levels.index("b"), np.nan]
    np.testing.assert_array_equal(found, expected)
    chunks = [pa.array(part).dictionary_encode() for part in (["b", "a"], ["a", "c", None])]
    mixed = read_column(pa.chunked_array(chunks), "k")
    assert [mixed.levels[int(k)] for k in mixed.values[:-1]] == ["b", "a", "a", "c"]
    with pytest.raises(ValueError, match="column 'k': held texts in the fit"):
        read_cells(pa.chunked_array([pa.array([1.0, 2.0])]), field)


def test_lists_have_no_order_and_names_are_told_apart() -> None:
    assert read_column(pa.chunked_array([pa.array([[1], [2, 3]])]), "k") is None
    with pytest.raises(ValueError, match="two columns are called 'a'"):
        take_columns(pa.table([[1], [2]], names=["a", "a"]))


def test_sparse_columns_become_dense_and_streams_are_refused() -> None:
    X = pd.DataFrame({"a": [0.0, np.nan, 2.0], "b": [1, 0, 0], "c": ["x", None, "y"]})
    sparse = X.astype({"a": pd.SparseDtype(float, np.nan), "b": pd.SparseDtype(int, 0)})
    before = sparse.copy()
    pd.testing.assert_frame_equal(make_dense(sparse), X)
    pd.testing.assert_frame_equal(sparse, before)
    assert make_dense(X) is X
    array = np.eye(2)
    assert make_dense(array) is array
    for one, kind in ((pa.table(X).to_reader(), "RecordBatchReader"), (X["a"], "Series")):
        with pytest.raises(ValueError, match=f"X: a {kind} is no table that can be read twice"):
            make_dense(one)
