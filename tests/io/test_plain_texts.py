"""Texts as polars and Arrow give them: long ones, views, codes, in chunks, from files too."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pygeco import Attributes, ImplicitCompletion, LowRankImputer, MatrixCompletion
from pygeco.data import read_attributes, read_ratings
from pygeco.io.plain_texts import unpack_codes, with_plain_texts

ROWS = 101
USERS = [None if k == 17 else "" if k == 23 else f"ann {k % 12}" for k in range(ROWS)]
ITEMS = [f"é{k // 12}" for k in range(ROWS)]
STARS = np.random.default_rng(0).integers(1, 6, ROWS).astype(float)
KNOWN = [row for row in zip(USERS, ITEMS, STARS.tolist(), strict=True) if row[0]]
KINDS = {
    "texts": pa.string(),
    "long texts": pa.large_string(),
    "views": pa.string_view(),
    "codes": pa.dictionary(pa.int32(), pa.string()),
    "codes of long texts": pa.dictionary(pa.uint8(), pa.large_string()),
    "codes of views": pa.dictionary(pa.uint32(), pa.string_view()),
}


def make_table(kind: pa.DataType, rows: list | None = None, chunk: int = 7) -> pa.Table:
    """Chunks with dictionaries of their own."""
    users, items, stars = zip(*(rows or zip(USERS, ITEMS, STARS, strict=True)), strict=True)

    def column(texts: list) -> pa.ChunkedArray:
        parts = [texts[k : k + chunk] for k in range(0, len(texts), chunk)]
        return pa.chunked_array([pa.array(part, pa.string()).cast(kind) for part in parts])

    return pa.table({"user": column(users), "item": column(items), "rating": stars})


def write(table: pa.Table, form: str) -> io.BytesIO:
    file = io.BytesIO()
    if form == "parquet" and "dictionary<values=string_view" in str(table.schema):
        pl.from_arrow(table).write_parquet(file)  # Arrow does not write such
    elif form == "parquet":
        pq.write_table(table, file)
    else:
        new = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
        table = table.unify_dictionaries()
        with new(file, table.schema, options=options) as out:
            out.write_table(table)
    return io.BytesIO(file.getvalue())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["arrow", "stream", "parquet"])
def test_files_of_every_kind_of_text_are_read_alike(kind, form) -> None:
    table = make_table(KINDS[kind])
    found = read_ratings(write(table, form)).table
    assert list(zip(*(column.to_pylist() for column in found.columns), strict=True)) == KNOWN
    columns = read_attributes(write(table, form))
    assert columns["user"].tolist() == USERS
    assert columns["item"].tolist() == ITEMS


@pytest.mark.parametrize("kind", KINDS)
def test_fits_of_every_kind_of_text_are_the_same(kind) -> None:
    table, plain = make_table(KINDS[kind], KNOWN), make_table(pa.string(), KNOWN)
    for X in (table, pl.from_arrow(table)):
        model = MatrixCompletion(rank=1, random_state=0).fit(X)
        assert model.row_ids_.tolist() == sorted({row[0] for row in KNOWN})
        wanted = MatrixCompletion(rank=1, random_state=0).fit(plain)
        assert np.array_equal(model.predict(X)["prediction"], wanted.predict(plain)["prediction"])
        pairs = X.select(["user", "item"])
        assert ImplicitCompletion(rank=1).fit(pairs).row_ids_.tolist() == model.row_ids_.tolist()
    found = Attributes().fit_transform(make_table(KINDS[kind])).toarray()
    assert np.array_equal(found, Attributes().fit_transform(make_table(pa.string())).toarray())


@pytest.mark.parametrize("kind", KINDS)
def test_filled_tables_keep_their_kind_of_text(kind) -> None:
    texts = [None if k % 9 == 4 else "ab"[k % 2] for k in range(ROWS)]
    column = pa.array(texts, pa.string()).cast(KINDS[kind])
    X = pa.table({"c": column, "left": column, "x": np.arange(ROWS) % 2 + STARS / 9})
    found = LowRankImputer(columns={"left": "skip"}, random_state=0).fit_transform(X)
    assert found.schema == X.schema
    filled = found.column("c").to_pylist()
    assert set(filled) == {"a", "b"}
    assert [a for a, b in zip(filled, texts, strict=True) if b] == [b for b in texts if b]
    assert found.column("left").to_pylist() == texts


@pytest.mark.parametrize("kind", KINDS)
def test_codes_are_unpacked_and_views_become_texts(kind) -> None:
    table = make_table(KINDS[kind])
    column = with_plain_texts(table).column("user")
    assert "view" not in str(column.type)
    for one in (column, table.column("user")):
        assert unpack_codes(one).to_pylist() == USERS


def test_categories_that_are_intervals_are_called_by_their_texts() -> None:
    ages = pd.cut(np.arange(30) * 7 % 71, [0, 18, 40, 71], right=False)
    people = pd.DataFrame({"user": [f"u{k}" for k in range(30)], "age": ages})
    texts = people.assign(age=people.age.astype(str))
    known = pd.DataFrame({"user": [f"u{k % 30}" for k in range(120)], "item": np.arange(120) // 10})
    known["rating"] = np.random.default_rng(0).random(120)
    models = [
        MatrixCompletion(random_state=0).fit(known, row_attributes=table)
        for table in (people, texts)
    ]
    names = [model.row_encoder_.get_feature_names_out().tolist() for model in models]
    assert names[0] == names[1] == ["age=[0, 18)", "age=[18, 40)", "age=[40, 71)"]
    new = people.assign(user="new")[:1], texts.assign(user="new")[:1]
    answers = [m.predict("new", [0, 1], new_rows=x) for m, x in zip(models, new, strict=True)]
    assert np.array_equal(*answers)
    assert str(people.age.dtype) == "category"  # what was given stays
    assert people.age.cat.categories.dtype == "interval[int64, left]"
