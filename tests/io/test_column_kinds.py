"""Kinds of columns: found from types and values, said aloud, set by hand."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pygeco import Columns
from pygeco.io.column_kinds import find_fields


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 200
    z = rng.standard_normal(n)
    return pd.DataFrame(
        {
            "row": np.arange(1, n + 1),
            "number": z,
            "heavy": rng.standard_t(1.5, n) ** 3,
            "income": np.exp(2 * z),
            "visits": rng.poisson(9, n),
            "steps": rng.integers(0, 10_000, n),
            "flag": rng.integers(0, 2, n).astype(float),
            "grade": rng.integers(1, 6, n).astype(float),
            "smokes": rng.random(n) < 0.3,
            "city": rng.choice(["Rome", "Oslo", "Bonn"], n),
            "sex": rng.choice(["f", "m"], n),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "name": [f"person {k}" for k in range(n)],
            "born": pd.Timestamp("1990-05-05") + pd.to_timedelta(np.arange(n), unit="D"),
            "empty": np.full(n, np.nan),
            "tags": [["a", "b"]] * n,
        }
    )


FOUND = {
    "row": "skip", "number": "number", "heavy": "heavy", "income": "positive", "visits": "count",
    "steps": "count", "flag": "yes/no", "grade": "levels", "smokes": "yes/no", "city": "category",
    "sex": "yes/no", "size": "levels", "name": "skip", "born": "number", "empty": "skip",
    "tags": "skip",
}  # fmt: skip


def test_kinds_are_found_and_said(table) -> None:
    found = Columns().find(table)
    assert found.kinds == FOUND
    text = str(found)
    assert "row     skip      counts the rows" in text
    assert "name    skip      200 texts in 200 cells: names" in text
    assert "born    number    dates from 1990-05-05 to" in text
    assert "size    levels    3 levels in order" in text


def test_kinds_by_hand_win(table) -> None:
    given = {"grade": "category", "visits": "number", "row": "number", "sex": "skip"}
    found = Columns(given).find(table)
    assert found.kinds == FOUND | given
    assert found.notes["grade"] == "as given"
    fields = {field.name: field for field in find_fields(table, Columns(given))}
    assert not fields["grade"].is_ordered
    assert fields["grade"].values.tolist() == [1, 2, 3, 4, 5]
    assert not len(fields["visits"].values)
    ordered = find_fields(table[["city"]], Columns({"city": ["Oslo", "Bonn", "Rome"]}))[0]
    assert ordered.kind == "levels"
    assert ordered.levels == ("Oslo", "Bonn", "Rome")
    assert ordered.is_ordered


def test_many_categories_are_those_that_are_frequent() -> None:
    texts = [f"c{k}" for k in range(40) for _ in range(40 - k)]
    field = find_fields(pd.DataFrame({"c": texts}), Columns())[0]
    assert field.kind == "category"
    assert "the 30 most frequent" in field.note
    assert [field.levels[int(v)] for v in field.values] == sorted(f"c{k}" for k in range(30))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nobody": "number"}, "there is no column 'nobody'"),
        ({"city": "colour"}, "'colour' for 'city' is none of number, heavy"),
        ({"city": "number"}, "'city' holds texts"),
        ({"number": "positive"}, "'number' is to be positive, but holds -"),
        ({"grade": ["1", "2"]}, "'grade' holds numbers"),
        ({"city": ["Paris"]}, "no cell of 'city' holds one of the levels"),
        ({"city": ["Rome", "Rome"]}, "the levels of 'city' must be different"),
    ],
)
def test_wrong_kinds_are_told(given, message, table) -> None:
    with pytest.raises(ValueError, match=message):
        Columns(given).find(table)


def test_infinity_is_told() -> None:
    with pytest.raises(ValueError, match="column 'x': holds infinity"):
        Columns().find(pd.DataFrame({"x": [1.0, np.inf]}))
    kinds = Columns({"x": "skip"}).find(pd.DataFrame({"x": [1.0, np.inf, 2.0]})).kinds
    assert kinds == {"x": "skip"}  # what is left out may hold it


def test_spans_are_told_as_such() -> None:
    hours = pd.to_timedelta([-30, 5, None, 7], unit="h")
    clock = pa.array([datetime.time(6, 5), None, datetime.time(18, 30), None])
    table = pa.table({"span": pa.array(hours), "clock": clock})
    assert Columns().find(table).notes == {
        "span": "times from -2 days, 18:00:00 to 7:00:00",
        "clock": "times from 6:05:00 to 18:30:00",
    }
    far = pa.table({"far": pa.array([-(2**60), 2**60], pa.duration("s"))})
    assert Columns().find(far).notes["far"].startswith("times from -")
