"""Tables with ids into MatrixCompletion, and answers in ids and in the caller's kind."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pygeco import MatrixCompletion, Solver
from pygeco.data import make_ratings
from table_cases import NAMES, RATINGS, fitted, table


def duck(t: pa.Table):
    return duckdb.from_arrow(t)


KINDS = {
    "pyarrow": lambda t: t,
    "pandas": lambda t: t.to_pandas(),
    "polars": pl.from_arrow,
    "duckdb": duck,
    "reader": lambda t: t.to_reader(max_chunksize=100),
}


@pytest.mark.parametrize("library", list(KINDS))
@pytest.mark.parametrize("kind", list(NAMES))
def test_every_library_and_every_kind_of_id_gives_the_model_of_the_arrays(library, kind) -> None:
    if kind in ("date", "decimal") and library == "pandas":
        pytest.skip("pandas has no such type of its own")
    model = fitted(KINDS[library](table(kind)), rank=3)
    # Ids are sorted, so the same matrix arises from sorted positions.
    users = np.unique(model.row_ids_)
    assert len(users) == len(model.row_ids_) == len(np.unique(RATINGS.rows))
    np.testing.assert_array_equal(users, model.row_ids_)
    assert model.column_ids_.tolist() == sorted(f"film {k:03d}" for k in np.unique(RATINGS.cols))
    order = np.argsort([str(NAMES[kind](k)) if kind in ("text", "decimal") else k for k in
                        np.unique(RATINGS.rows)])  # fmt: skip
    place = np.empty(60, int)
    place[np.unique(RATINGS.rows)[order]] = np.arange(len(order))
    cols = np.unique(RATINGS.cols, return_inverse=True)[1]
    plain = fitted((place[RATINGS.rows], cols, RATINGS.values), rank=3)
    np.testing.assert_allclose(model.factors_.to_dense(), plain.factors_.to_dense(), atol=1e-5)
    np.testing.assert_allclose(model.score(table(kind)), plain.score(
        (place[RATINGS.rows], cols, RATINGS.values)), rtol=1e-6)  # fmt: skip


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars", "duckdb"])
def test_predictions_come_back_in_the_callers_kind_and_order(library) -> None:
    model = fitted(table())
    asked = table(shuffle=5).slice(0, 50)
    given = KINDS[library](asked)
    if library == "pandas":
        given.index = given.index[::-1] + 1000
    found = model.predict(given, return_std=True)
    assert type(found) is type(given)
    if library == "pandas":
        assert found.index.equals(given.index)
    plain = found if library == "pyarrow" else pa.table(found)
    assert plain.column_names[:4] == ["user_id", "movieId", "prediction", "deviation"]
    users, items = (asked.column(k).to_pylist() for k in range(2))
    mean, deviation = model.predict(users, items, return_std=True)
    np.testing.assert_array_equal(plain.column("prediction").to_numpy(), mean)
    np.testing.assert_array_equal(plain.column("deviation").to_numpy(), deviation)
    assert plain.column("movieId").to_pylist() == items


def test_intervals_of_new_users_hold() -> None:
    truth = make_ratings((400, 60), 8000, random_state=4, dtype=np.float64)
    new = truth.rows >= 300
    frame = pd.DataFrame({"user": truth.rows, "item": truth.cols, "rating": truth.values})
    model = fitted(frame[~new])
    asked = pd.concat([frame[new], frame[~new].head(1)])  # at least one id is known
    found = model.predict(asked, return_std=True)
    inside = np.abs(found.prediction - asked.rating) <= 1.645 * found.deviation
    assert 0.85 < inside.mean() < 0.95
    posterior = fitted(frame[~new], rank=3, posterior=4)
    again = posterior.predict(asked, return_std=True)
    assert np.all(np.isfinite(again.deviation))


def test_columns_by_name_by_place_and_not_at_all() -> None:
    t = table().rename_columns(["who", "what", "how much"])
    model = MatrixCompletion(2, random_state=0)
    named = model.fit(t, columns=("who", "what", "how much")).to_dense()
    np.testing.assert_array_equal(model.fit(t, columns=(0, 1, 2)).to_dense(), named)
    found = model.predict(t.select(["what", "who"]).slice(0, 3))
    assert found.column_names == ["who", "what", "prediction", "known"]
    with pytest.raises(ValueError, match="columns: there is no column 'when'; the columns are"):
        model.fit(t, columns=("who", "what", "when"))
    with pytest.raises(ValueError, match="columns: expected three"):
        model.fit(t, columns=("who", "what"))
    with pytest.raises(ValueError, match="columns: only a table has columns"):
        model.fit(RATINGS, columns=(0, 1, 2))
    with pytest.raises(ValueError, match="X: expected columns 'who' and 'what'"):
        model.fit(t, columns=(0, 1, 2)).predict(t.rename_columns(["a", "b", "c"]))


def test_a_wide_table_is_still_a_matrix() -> None:
    wide = pd.DataFrame(np.where(np.eye(9, 6) > 0, np.nan, 1.0 + np.arange(6)))
    wide.columns = [f"feature {k}" for k in range(6)]
    model = MatrixCompletion(1, random_state=0, solver=Solver(correction="core")).fit(wide)
    assert model.row_ids_ is None
    assert model.predict(wide).shape == (9, 6)
    again = MatrixCompletion(1, random_state=0, solver=Solver(correction="core"))
    np.testing.assert_array_equal(again.fit(wide.to_numpy()).to_dense(), model.to_dense())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Rating": ["good"] * 900}, "'Rating': expected numbers, but row 1 says 'good'"),
        ({"Rating": [1.0] * 899 + [None]}, "'Rating': row 900 has no value"),
        ({"user_id": [None] + [1] * 899}, "'user_id': row 1 has no id"),
        ({"user_id": [float("nan")] + [1.0] * 899}, "'user_id': row 1 has no id"),
        ({"user_id": [[1]] * 900}, "ids of type list.* are not supported"),
        ({"Rating": [1.0] * 899 + [float("inf")]}, "NaN or infinity"),
        ({"user_id": [1] * 900, "movieId": ["a"] * 900}, "more than once"),
    ],
)
def test_wrong_tables_are_told_in_a_sentence(change, message) -> None:
    t = table()
    for name, values in change.items():
        t = t.set_column(t.column_names.index(name), name, [values])
    with pytest.raises(ValueError, match=message):
        fitted(t)


def test_categories_and_unused_ones() -> None:
    frame = table("text").to_pandas()
    frame["movieId"] = frame["movieId"].astype("category").cat.add_categories(["never seen"])
    model = fitted(frame, rank=2)
    assert "never seen" not in model.column_ids_
    plain = fitted(table("text"), rank=2)
    np.testing.assert_array_equal(model.factors_.V, plain.factors_.V)


def test_weights_go_with_the_rows_of_the_table() -> None:
    t, w = table(), np.random.default_rng(0).random(900)
    order = np.random.default_rng(9).permutation(900)
    one = MatrixCompletion(2, random_state=0).fit(t, sample_weight=w)
    two = MatrixCompletion(2, random_state=0).fit(t.take(order), sample_weight=w[order])
    np.testing.assert_allclose(one.to_dense(), two.to_dense(), atol=1e-4)


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars", "duckdb"])
def test_a_table_is_recommended_for_by_its_column_of_ids(library) -> None:
    model = fitted(table())
    asked = table(shuffle=5).slice(0, 6)
    wanted = model.recommend(asked.column("user_id").to_pylist(), 3)
    for given in (asked, asked.select(["user_id"]), asked.rename_columns(["Member", "b", "c"])):
        found = model.recommend(KINDS[library](given), 3)
        np.testing.assert_array_equal(found.columns, wanted.columns)
    with pytest.raises(ValueError, match=r"rows: expected a column 'user_id' of ids, as in the"):
        model.recommend(KINDS[library](asked.rename_columns(["a", "b", "c"])))
    plain = MatrixCompletion(2, random_state=0).fit(RATINGS)
    with pytest.raises(ValueError, match="rows: a table of ids needs a model fitted from a table"):
        plain.recommend(KINDS[library](asked))
