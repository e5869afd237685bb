"""Attributes beside a model's rows: in its order, by id, with those of others behind."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from pygeco import Attributes
from pygeco.estimators._attribute_tables import align_attributes

IDS = {
    "int": (np.array([3, 5, 8, 13]), [13, 21, 3, 5]),
    "text": (np.array(["a", "bc", "d", "x"], object), ["x", "new", "a", "bc"]),
    "date": (
        np.array(["2020-01-01", "2020-02-01", "2020-03-01", "2021-01-01"], "M8[D]"),
        [dt.date(2021, 1, 1), dt.date(2019, 5, 5), dt.date(2020, 1, 1), dt.date(2020, 2, 1)],
    ),
    "number": (np.array([0.5, 1.0, 1.5, 2.0]), [2.0, 7.25, 0.5, 1.0]),
    "uint8": (np.array([3, 5, 8, 13], np.uint8), [13, 21, 3, 5]),
}
VALUES = {"sex": ["F", "M", "M", "F"], "age": [10.0, 20.0, 40.0, 90.0]}
MAKERS = {
    "dict": dict,
    "pandas": lambda t: pa.table(t).to_pandas(),
    "polars": lambda t: pl.from_arrow(pa.table(t)),
    "pyarrow": pa.table,
    "duckdb": lambda t: duckdb.from_arrow(pa.table(t)),
}


@pytest.mark.parametrize("library", MAKERS)
@pytest.mark.parametrize("kind", IDS)
def test_rows_stand_in_the_models_order_and_others_behind(library, kind) -> None:
    ids, asked = IDS[kind]
    if kind == "date" and library == "dict":
        asked = np.array(asked, "M8[D]")
    found = align_attributes(MAKERS[library]({"user_id": asked} | VALUES), ids, 4)
    plain = Attributes().fit_transform(VALUES).toarray()
    wanted = np.stack([plain[2], plain[3], 0 * plain[0], plain[0], plain[1]])
    np.testing.assert_array_equal(found.matrix.toarray(), wanted)
    assert isinstance(found.matrix, sp.csr_array)
    assert found.matrix.dtype == np.float32
    found.matrix.check_format()
    assert found.known.tolist() == [True, True, False, True, True]
    assert found.extra_ids.dtype == ids.dtype
    assert found.extra_ids.tolist() == np.array([asked[1]], ids.dtype).tolist()
    assert found.groups == found.encoder.groups_
    assert found.encoder.id_column_ == "user_id"


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_table_does_not_matter(seed) -> None:
    rng = np.random.default_rng(seed)
    ids = np.unique(rng.integers(0, 60, 30))
    own = rng.permutation(60)[:25]
    table = {"id": own, "x": rng.normal(size=25), "c": rng.choice(list("abc"), 25)}
    found = align_attributes(table, ids, len(ids))
    order = rng.permutation(25)
    mixed = align_attributes({k: v[order] for k, v in table.items()}, ids, len(ids))
    rows = {one: k for k, one in enumerate([*ids, *found.extra_ids])}
    again = {one: k for k, one in enumerate([*ids, *mixed.extra_ids])}
    coded = found.encoder.transform(table).toarray()
    for k, one in enumerate(own):
        np.testing.assert_array_equal(found.matrix.toarray()[rows[one]], coded[k])
        np.testing.assert_allclose(mixed.matrix.toarray()[again[one]], coded[k], atol=1e-6)
    assert found.known.sum() == 25
    assert not found.matrix.toarray()[~found.known].any()
    assert set(found.extra_ids) == set(own) - set(ids)


def test_ids_are_found_by_their_values_where_no_name_says_so() -> None:
    ids = np.array(["ann", "bob", "eve"], object)
    table = {"x": [1.0, 2, 3], "who": ["eve", "zoe", "bob"], "c": ["p", "q", "p"]}
    found = align_attributes(table, ids, 3)
    assert found.encoder.id_column_ == "who"
    assert found.known.tolist() == [False, True, True, True]
    # Numbers written as text, and text of numbers.
    text = align_attributes({"id": ["5", "3", "9"], "x": [1, 2, 4]}, np.array([3, 5]), 2)
    assert text.extra_ids.tolist() == [9]
    assert text.extra_ids.dtype == np.int64
    whole = align_attributes({"id": [5, 3], "x": [1, 2]}, np.array(["3", "5"], object), 2)
    np.testing.assert_allclose(whole.matrix.toarray(), [[1], [-1]])


def test_a_column_that_only_looks_like_ids_is_no_guess() -> None:
    """Ages are distinct whole numbers here, and none, or one of several, that match."""
    ids = np.arange(100, 112)
    ages = {"age": np.arange(20, 32), "x": np.arange(12.0)}
    with pytest.raises(ValueError, match=r"no column of 'age', 'x' has the model's ids, such as"):
        align_attributes(ages, ids, 12)
    with pytest.raises(
        ValueError, match=r"with \(Attributes\(id_column='age'\), table\), or id_col"
    ):
        align_attributes(ages, ids, 12)
    assert align_attributes((Attributes(id_column=None), ages), ids, 12).known.all()
    found = align_attributes(ages | {"tag": ids[::-1]}, ids, 12)
    assert found.encoder.id_column_ == "tag"
    with pytest.raises(ValueError, match=r"more than one column of 'age', 'tag' has the model's"):
        align_attributes(ages | {"age": ids, "tag": ids[::-1]}, ids, 12)


@pytest.mark.parametrize("kind", [np.array, list, pd.Series, pa.array])
def test_large_ids_are_distinct_as_integers(kind) -> None:
    ids = 2**60 + np.arange(12)
    given = {"user": kind(ids[::-1].tolist()), "x": kind(np.arange(12.0).tolist())}
    table = pd.DataFrame(given) if kind is pd.Series else given
    found = align_attributes(pa.table(given) if kind is pa.array else table, ids, 12)
    assert found.encoder.id_column_ == "user"
    assert (np.diff(found.matrix.toarray()[:, 0]) < 0).all()


def test_rows_in_order_need_no_ids() -> None:
    X = np.random.default_rng(0).normal(size=(4, 3))
    for ids in (None, IDS["text"][0]):
        found = align_attributes(X, ids, 4)
        np.testing.assert_array_equal(
            found.matrix.toarray(), Attributes().fit_transform(X).toarray()
        )
        assert found.known.all()
        assert not len(found.extra_ids)
        frame = align_attributes((Attributes(id_column=None), pd.DataFrame(VALUES)), ids, 4)
        assert frame.groups == found.encoder.fit(VALUES).groups_
    S = sp.random_array((4, 9), density=0.3, rng=0)
    np.testing.assert_allclose(align_attributes(S, None, 4).matrix.toarray(), S.toarray())


def test_positions_are_ids_of_rows_without_ids() -> None:
    table = {"user_id": [2, 0, 3], "x": [1.0, 2.0, 4.0]}
    found = align_attributes(table, None, 5)
    plain = Attributes().fit_transform(table).toarray()
    np.testing.assert_array_equal(found.matrix.toarray()[[2, 0, 3]], plain)
    assert found.known.tolist() == [True, False, True, True, False]
    rising = align_attributes({"user_id": [10, 20, 30], "x": [1.0, 2.0, 4.0]}, None, 3)
    np.testing.assert_array_equal(rising.matrix.toarray(), plain)
    with pytest.raises(ValueError, match=r"holds ids such as 30, but the model's rows are pos"):
        align_attributes({"user_id": [30, 20, 10], "x": [1.0, 2.0, 4.0]}, None, 3)


def test_an_encoder_codes_as_it_was_fitted_or_is_fitted_as_a_copy() -> None:
    table = {"id": [3, 5, 8, 13], "code": [1, 2, 2, 3]}
    ids = IDS["int"][0]
    fresh = Attributes(categories=["code"])
    found = align_attributes((fresh, table), ids, 4)
    assert not hasattr(fresh, "groups_")
    np.testing.assert_array_equal(found.matrix.toarray(), np.eye(3)[[0, 1, 1, 2]])
    fitted = Attributes(categories=["code"]).fit({"id": [0, 1, 2], "code": [1, 2, 3]})
    again = align_attributes((fitted, table), ids, 4)
    assert again.encoder is fitted
    np.testing.assert_array_equal(again.matrix.toarray(), found.matrix.toarray())
    assert fitted.ids_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("given", "ids", "told"),
    [
        (
            {"id": [3, 5, 3], "x": [1, 2, 3]},
            "int",
            "rows: the id 3 stands 2 times in column 'id'; keep one row for each id, or name "
            "another column with Attributes(id_column=…).",
        ),
        (
            {"id": ["a", "b", "b", "b"], "x": [1, 2, 3, 4]},
            "text",
            "rows: the id 'b' stands 3 times in column 'id'; keep one row for each id, or name "
            "another column with Attributes(id_column=…).",
        ),
        (
            np.eye(3),
            "int",
            "rows: have 3 rows and no ids, but the model has 4; give a row for each, in their "
            "order, or a table with a column of ids.",
        ),
        (
            {"id": [1, 2], "x": [1, 2]},
            "int",
            "rows: none of the ids in column 'id', such as 1, is one of the model's, such as 3; "
            "name the column of ids with Attributes(id_column=…).",
        ),
        (
            {"id": ["q", "r"], "x": [1, 2]},
            "int",
            "rows: none of the ids in column 'id', such as 'q', is one of the model's, such as 3; "
            "name the column of ids with Attributes(id_column=…).",
        ),
        (
            {"id": [3, 5.5], "x": [1, 2]},
            "int",
            "rows: the id 5.5 in column 'id' is not of the kind of the model's ids, int64.",
        ),
        (
            {"id": [3, 500], "x": [1, 2]},
            "uint8",
            "rows: the id 500 in column 'id' is not of the kind of the model's ids, uint8.",
        ),
        (Attributes(), "int", "rows: an encoder alone has no rows; give (encoder, table)."),
    ],
)
def test_errors_are_one_sentence(given, ids, told) -> None:
    with pytest.raises(ValueError, match=r"^") as error:
        align_attributes(given, IDS[ids][0], 4, name="rows")
    assert str(error.value) == told
