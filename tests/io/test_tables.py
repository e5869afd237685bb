"""Finding ids and columns, against plain dictionaries."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pygeco import MatrixCompletion
from pygeco.io.attribute_columns import read_arrow
from pygeco.io.plain_texts import unpack_codes
from pygeco.io.tables import (
    as_arrow,
    encode_ids,
    find_positions,
    parse_ids,
)

BIG = 2**53
KINDS = {
    "int": st.integers(-(2**63), 2**63 - 1),
    "large": st.integers(BIG, BIG + 5),
    "text": st.text(max_size=3),
    "number": st.floats(allow_nan=False, width=32),
    "flag": st.booleans(),
}


@pytest.mark.parametrize("kind", list(KINDS))
@given(st.data())
def test_positions_are_those_of_a_dictionary(kind, data) -> None:
    values = data.draw(st.sets(KINDS[kind], min_size=1, max_size=20))
    asked = data.draw(st.lists(KINDS[kind] | st.sampled_from(sorted(values)), max_size=20))
    dtype = {"text": object, "number": float, "flag": bool}.get(kind, np.int64)
    ids = np.array(sorted(values), dtype=dtype)
    place = {one: at for at, one in enumerate(ids.tolist())}
    wanted = np.array(asked, dtype=dtype)
    assert find_positions(ids, wanted).tolist() == [place.get(one, -1) for one in asked]
    assert find_positions(ids, wanted.reshape(-1, 1)).shape == (len(asked), 1)


def test_other_kinds_are_unknown_and_no_error() -> None:
    text, number = np.array(["1", "a"], dtype=object), np.array([1, 2])
    assert find_positions(text, [1, None, "a", 2.5]).tolist() == [-1, -1, 1, -1]
    assert find_positions(number, ["1", "2"]).tolist() == [-1, -1]
    assert find_positions(number, [1.0, 1.5]).tolist() == [0, -1]
    assert find_positions(number, 2) == 1
    assert find_positions(np.zeros(0, np.int64), [1]).tolist() == [-1]
    assert find_positions(np.array([False, True]), [1]).tolist() == [-1]


def test_unsigned_ids_compare_exactly() -> None:
    ids = np.array([1, 2**63, 2**63 + 1], np.uint64)
    assert find_positions(ids, np.array([-1, 1], np.int64)).tolist() == [-1, 0]
    assert find_positions(ids, ids).tolist() == [0, 1, 2]
    assert find_positions(np.array([-5, 7]), np.array([7, 2**64 - 5], np.uint64)).tolist() == [
        1,
        -1,
    ]


def test_dates_of_every_kind() -> None:
    days = np.array(["2020-01-01", "2020-01-03"], "M8[D]")
    for asked in (
        [dt.date(2020, 1, 3)],
        np.array(["2020-01-03T00:00"], "M8[m]"),
        [np.datetime64("2020-01-03")],
        [pd.Timestamp("2020-01-03")],
    ):
        assert find_positions(days, asked).tolist() == [1]
    assert find_positions(days, [dt.datetime(2020, 1, 3, 12)]).tolist() == [-1]
    assert find_positions(days, [object()]).tolist() == [-1]
    assert parse_ids(days, ["2020-01-03"]).tolist() == [dt.date(2020, 1, 3)]


def test_ids_written_as_text() -> None:
    for ids, text, wanted in (
        (np.array([5, 7]), "7", 1),
        (np.array([5, 7]), "seven", -1),
        (np.array([0.5, 7.0]), "7", 1),
        (np.array([False, True]), "True", 1),
        (np.array([False, True]), "maybe", -1),
        (np.array(["7", "x"], dtype=object), "7", 0),
    ):
        assert find_positions(ids, parse_ids(ids, [text])).tolist() == [wanted]


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["c", "a", "b"])], ids=["free", "enum"])
def test_categories_of_polars_are_ids_and_attributes(kind) -> None:
    series = pl.Series("k", ["b", "a", "b", "c"], dtype=kind)
    column = as_arrow(pl.DataFrame({"k": series})).column("k")
    assert unpack_codes(column).to_pylist() == series.to_list()
    found = encode_ids(column, "k")
    assert found.ids[found.codes].tolist() == series.to_list()
    assert found.ids.tolist() == ["a", "b", "c"]
    texts = read_arrow(column, "k")
    assert [texts.levels[code] for code in texts.codes] == series.to_list()
    model = MatrixCompletion(1, random_state=0)
    model.fit(pl.DataFrame({"user": series, "item": [1, 1, 2, 2], "rating": [1.0, 2.0, 3.0, 4.0]}))
    assert model.row_ids_.tolist() == ["a", "b", "c"]
