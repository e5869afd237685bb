"""Columns of every type as numbers, and back: the types of pandas, polars and Arrow are kept."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pygeco.io.column_kinds import find_field
from pygeco.io.typed_columns import (
    append_truths,
    fill_columns,
    make_cells,
    read_cells,
    read_column,
    take_columns,
)

DAY = 86_400.0


def frame():
    return pd.DataFrame(
        {
            "float": [1.5, None, 3.5, 2.5],
            "short": np.array([1.5, np.nan, 3.5, 2.5], "float32"),
            "whole": pd.array([1, None, 3, 3], "Int64"),
            "truth": pd.array([True, None, False, True], "boolean"),
            "order": pd.Categorical(["lo", None, "hi", "lo"], ["lo", "hi"], ordered=True),
            "class": pd.Categorical(["b", None, "a", "c"], ["b", "a", "c"]),
            "number class": pd.Categorical([7, None, 5, 7]),
            "text": ["x", None, "y", "x"],
            "date": pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-01-05"]),
            "zone": pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-01-05"]).tz_localize(
                "Europe/Berlin"
            ),
            "span": pd.to_timedelta([1, None, 3, 2], unit="D"),
        },
        index=[4, 5, 6, 9],
    )


def polars_frame():
    return pl.DataFrame(
        {
            "float": [1.5, None, 3.5, float("nan")],
            "whole": pl.Series([1, None, 3, 3], dtype=pl.Int8),
            "truth": [True, None, False, True],
            "enum": pl.Series(["lo", None, "hi", "lo"], dtype=pl.Enum(["lo", "hi"])),
            "class": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
            "text": ["x", None, "y", "x"],
            "date": [dt.date(2020, 1, 1), None, dt.date(2020, 1, 3), dt.date(2020, 1, 5)],
            "time": [dt.datetime(2020, 1, 1, 5), None, dt.datetime(2020, 1, 3), None],
        }
    )


def fill_first(X):
    """The second cell of each column gets what its first one holds."""
    names, columns = take_columns(X)
    filled = {}
    for name, column in zip(names, columns, strict=True):
        field = find_field(name, read_column(column, name))
        cells = read_cells(column, field)
        assert np.isnan(cells[1])
        filled[name] = np.array([1]), make_cells(cells[:1], field, column.type)
    return fill_columns(X, filled)


def test_pandas_keeps_its_types_index_and_known_cells() -> None:
    before, X = frame(), frame()
    found = fill_first(X)
    pd.testing.assert_frame_equal(X, before)  # what was given stays as it was
    expected = before.copy()
    for name in expected:
        expected.loc[5, name] = before.loc[4, name]
    pd.testing.assert_frame_equal(found, expected)


def test_polars_keeps_its_types() -> None:
    X = polars_frame()
    found = fill_first(X)
    assert found.schema == X.schema
    assert found.row(1) == found.row(0) == X.row(0)
    assert found[2:].equals(X[2:], null_equal=True)


def test_arrow_keeps_its_schema() -> None:
    X = pa.Table.from_pandas(frame(), preserve_index=False)
    found = fill_first(X)
    assert found.schema.equals(X.schema)
    rows = found.to_pylist()
    assert rows[1] == rows[0] == X.to_pylist()[0]
    assert rows[2:] == X.to_pylist()[2:]


def test_numbers_are_rounded_into_their_type() -> None:
    column = pa.chunked_array([pa.array([1, None, 100], pa.int8())])
    field = find_field("k", read_column(column, "k"))
    cells = make_cells(np.array([2.6, 400.0, -1e30]), field, column.type)
    assert cells.to_pylist() == [3, 127, -128]
    days = pa.chunked_array([pa.array([0, 5, 9], pa.timestamp("s")).cast(pa.timestamp("ms"))])
    moment = find_field("t", read_column(days, "t"))
    assert moment.step == 1
    dates = pa.chunked_array([pa.array([0, 5, None], pa.date32())])
    moment = find_field("d", read_column(dates, "d"))
    assert moment.step == DAY
    assert make_cells(np.array([2.4 * DAY]), moment, pa.timestamp("us")).to_pylist() == [
        dt.datetime(1970, 1, 3)
    ]
    decimal = pa.decimal128(6, 2)
    prices = pa.chunked_array([pa.array([1, 2, None], pa.decimal128(6, 2))])
    price = find_field("p", read_column(prices, "p"))
    assert [str(p) for p in make_cells(np.array([1.234]), price, decimal).to_pylist()] == ["1.23"]


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


@pytest.mark.parametrize("make", [frame, polars_frame], ids=["pandas", "polars"])
def test_truths_are_appended(make) -> None:
    X = make()
    found = append_truths(X, {"new": np.array([True, False, True, False])})
    assert list(found.columns) == [*X.columns, "new"]
    assert found["new"].to_list() == [True, False, True, False]
    arrow = append_truths(pa.table(X), {"new": np.array([True, False, True, False])})
    assert arrow.column("new").to_pylist() == [True, False, True, False]
