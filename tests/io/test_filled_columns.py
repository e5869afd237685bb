"""Filled cells in the types of pandas, polars and Arrow, which are kept."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pygeco.io.column_kinds import find_field
from pygeco.io.filled_columns import append_truths, fill_columns, make_cells, make_filling
from pygeco.io.typed_columns import keep_forms, read_cells, read_column, read_table, take_columns

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
            "part": pd.cut([1.5, np.nan, 3.5, 2.5], 3),
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
        filled[name] = make_filling(np.array([1]), cells[:1], field, column)
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


def test_what_a_type_does_not_hold_is_its_end() -> None:
    """Never infinity, another time of day or an error."""

    def make(x, cells, kind):
        column = pa.chunked_array([pa.array([*cells, None], kind)])
        field = find_field("k", read_column(column, "k"))
        return make_cells(np.array(x), field, kind).to_pylist()

    half = [np.float16(k) for k in (1, 2)]
    assert make([1e6, -1e6, 3.0], half, pa.float16()) == [65504.0, -65504.0, 3.0]
    top = float(np.finfo(np.float32).max)
    assert make([1e300, -1e300], [1.5, 2.5], pa.float32()) == [top, -top]
    for kind, last in (("time64[us]", 999_999), ("time32[ms]", 999_000), ("time64[ns]", 999_999)):
        found = make([-5.0, 2 * DAY], [dt.time(5), dt.time(6)], pa.type_for_alias(kind))
        assert found == [dt.time(0), dt.time(23, 59, 59, last)]
    cells = make([1e5, -1e300], [1, 2], pa.decimal128(4, 2))
    assert [str(cell) for cell in cells] == ["99.99", "-99.99"]
    assert make([1e30], [2**63, 5], pa.uint64()) == [2**64 - 2048]


@pytest.mark.parametrize("make", [frame, polars_frame], ids=["pandas", "polars"])
def test_truths_are_appended(make) -> None:
    X = make()
    found = append_truths(X, {"new": np.array([True, False, True, False])})
    assert list(found.columns) == [*X.columns, "new"]
    assert found["new"].to_list() == [True, False, True, False]
    arrow = append_truths(pa.table(X), {"new": np.array([True, False, True, False])})
    assert arrow.column("new").to_pylist() == [True, False, True, False]


def fill_alone(X, Y):
    """The only row of Y, whose cells are all missing, gets what the first row of X holds."""
    table = read_table(X)
    filled = {}
    for at, (name, form) in enumerate(zip(table.column_names, keep_forms(table), strict=True)):
        column = table.column(at)
        field = find_field(name, read_column(column, name))._replace(form=form)
        cells = read_cells(column, field)[:1]
        filled[name] = make_filling(np.array([0]), cells, field, read_table(Y).column(at))
    return fill_columns(Y, filled)


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT], ids=str)
def test_a_column_that_is_missing_in_all_rows_gets_the_type_of_the_fit(nothing) -> None:
    X = frame().drop(columns="part").assign(day=[dt.date(2020, 1, k) for k in (1, 2, 3, 5)])
    expected = X.iloc[[0]]
    found = fill_alone(X, pd.DataFrame([[nothing] * X.shape[1]], [4], X.columns))
    for name in X:
        if nothing is not np.nan or name not in ("short", "whole"):  # a number, which stays one
            pd.testing.assert_series_equal(found[name], expected[name])


def test_so_it_does_in_other_packages() -> None:
    X, pandas = polars_frame(), frame().drop(columns="part")
    empty = pl.DataFrame({name: [None] for name in X.columns})
    found = fill_alone(X, empty)
    assert found.schema == X.schema
    assert found.equals(X[:1])
    arrow = pa.Table.from_pandas(pandas, preserve_index=False)
    empty = pa.table({name: pa.nulls(1) for name in arrow.column_names})
    found = fill_alone(arrow, empty)
    assert found.schema.types == arrow.schema.types
    assert found.to_pylist() == arrow[:1].to_pylist()
    for given in (pandas, arrow):  # a model of a table of another package
        assert fill_alone(given, pl.from_arrow(empty))["text"].to_list() == ["x"]


def test_a_type_that_holds_the_cells_stays() -> None:
    X = pd.DataFrame({"whole": [3, 4, 5, 3], "text": ["a", "b", "a", "b"]})
    kinds = {"whole": "float32", "text": "category"}
    Y = pd.DataFrame({"whole": [np.nan], "text": [None]}).astype(kinds)
    found = fill_alone(X, Y.assign(text=pd.Categorical([None], ["b"])))
    assert found["whole"].dtype == "float32"
    assert found["text"].tolist() == ["a"]
    assert found["text"].cat.categories.tolist() == ["a", "b"]


def test_without_a_type_of_the_fit_it_is_what_cells_say() -> None:
    """As in models of earlier versions."""
    born = pd.to_datetime(["2020-01-01", "2020-01-03"])
    X = pd.DataFrame({"a": [1.5, 2.5], "truth": [True, False], "text": ["x", "y"], "born": born})
    names, columns = take_columns(X.iloc[[0, 1, 0, 1, 0]])
    fields = [
        find_field(name, read_column(c, name)) for name, c in zip(names, columns, strict=True)
    ]
    rows, x = np.array([0]), [2.5, 1, 0, DAY]
    filled = {
        field.name: make_filling(rows, np.array([value]), field, pa.nulls(1))
        for field, value in zip(fields, x, strict=True)
    }
    found = fill_columns(pd.DataFrame([[None] * 4], columns=names), filled)
    assert found.iloc[0].tolist() == [2.5, True, "x", pd.Timestamp("1970-01-02")]


def fill_with(levels, column, *, is_ordered=False):
    """The missing cells of a column get the last of the levels of the fit, by each package."""
    fit = pd.DataFrame({"g": pd.Categorical(levels, levels, ordered=is_ordered)})
    field = find_field("g", read_column(read_table(fit).column(0), "g"))
    x = np.array([len(levels) - 1.0 if field.levels else field.values[-1]])
    out = []
    for X in (pd.DataFrame({"g": column}), pa.table({"g": pa.array(column)})):
        arrow = read_table(X).column(0)
        rows = np.flatnonzero(np.isnan(read_cells(arrow, field)))
        filled = fill_columns(X, {"g": make_filling(rows, x.repeat(len(rows)), field, arrow)})
        out.append(filled["g"] if isinstance(X, pd.DataFrame) else filled.to_pandas()["g"])
    pd.testing.assert_series_equal(*out)
    return out[0]


@pytest.mark.parametrize("is_ordered", [True, False])
@pytest.mark.parametrize("levels", [["lo", "mid", "hi"], [3, 5, 9]], ids=str)
@pytest.mark.parametrize("own", [[0], [1, 0], [2, 0], [0, 1, 2]], ids=str)
def test_a_category_gets_the_levels_that_it_lacks(levels, own, is_ordered) -> None:
    mine = [levels[k] for k in own]
    column = pd.Categorical([*mine, None, mine[0], None], mine, ordered=is_ordered)
    if is_ordered and own == [1, 0]:
        with pytest.raises(ValueError, match=r"a missing cell is to get '.*', which is none of"):
            fill_with(levels, column, is_ordered=True)
        return
    found = fill_with(levels, column, is_ordered=is_ordered)
    assert found.tolist() == [*mine, levels[-1], mine[0], levels[-1]]
    expected = mine if 2 in own else [levels[k] for k in own] + [levels[-1]]
    assert found.cat.categories.tolist() == expected
    assert found.cat.ordered == is_ordered


def test_categories_of_another_kind_are_refused_where_they_lack_one() -> None:
    parts = pd.cut([1.0, 2.0, 3.0], 3)
    column = pd.cut([1.0, np.nan, 3.0], [0, 1, 3])
    with pytest.raises(ValueError, match=r"column 'g': a missing cell is to get '\(2.333, 3.0\]'"):
        fill_with(list(parts.categories), column, is_ordered=True)
    with pytest.raises(ValueError, match="column 'part': is missing in all rows, without the cat"):
        fill_alone(frame()[["part"]], pd.DataFrame({"part": [None]}))


def test_an_enum_of_polars_gets_the_levels_that_it_lacks() -> None:
    X = pl.DataFrame({"e": pl.Series(["a", None], dtype=pl.Enum(["a"]))})
    fit = pl.DataFrame({"e": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"]))})
    column = read_table(fit).column(0)
    field = find_field("e", read_column(column, "e"))
    filling = make_filling(np.array([1]), np.array([0.0]), field, read_table(X).column(0))
    found = fill_columns(X, {"e": filling})
    assert found["e"].to_list() == ["a", "b"]
    assert found["e"].dtype == pl.Enum(["b", "a"])
