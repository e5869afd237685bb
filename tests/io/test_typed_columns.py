"""Columns of every type as numbers: levels, names, and what is kept of types."""

import numpy as np
import pandas as pd
import polars as pl
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


def test_frames_without_cells_are_refused() -> None:
    with pytest.raises(ValueError, match=r"X: a LazyFrame has no cells yet; give X\.collect\(\)"):
        make_dense(pl.LazyFrame({"a": [1.0, None]}))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("size", ["D", "h", "s"])
def test_whole_seconds_stay_whole_in_any_unit(unit, size) -> None:
    """Products with 1e-9 are not, and dates of them were filled with times of day."""
    counts = np.random.default_rng(0).integers(-9_000, 9_000, 500).astype(f"m8[{size}]")
    seconds = counts.astype("m8[s]").astype(float)
    for cells in (counts.astype(f"m8[{unit}]"), np.datetime64(0, unit) + counts):
        found = read_column(pa.chunked_array([pa.array(cells)]), "k")
        np.testing.assert_array_equal(found.values + found.origin, seconds)
        step = find_field("k", found).step
        assert step == (86_400 if size == "D" else 1)


def test_columns_of_several_names_keep_them() -> None:
    names = pd.MultiIndex.from_tuples([("x", 1), ("x", 2)])
    X = pd.DataFrame([[1.0, 2.0]], columns=names)
    assert take_columns(X)[0] == [str(name) for name in names]


def test_infinity_in_new_rows_is_told() -> None:
    field = find_field("k", read_column(pa.chunked_array([pa.array([1.5, 2.0, None])]), "k"))
    with pytest.raises(ValueError, match="column 'k': holds infinity; correct it"):
        read_cells(pa.chunked_array([pa.array([np.inf, None])]), field)
