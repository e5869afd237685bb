"""Tables with ids into MatrixCompletion, and answers in ids and in the caller's kind."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pygeco
from pygeco import MatrixCompletion, Solver
from pygeco.data import make_ratings
from pygeco.errors import UnknownIdWarning

RATINGS = make_ratings((60, 40), 900, dtype=np.float64)
NAMES = {
    "int": lambda k: 10 * k - 77,
    "text": lambda k: f"id {chr(0x3B1 + k % 20)}{k}",
    "date": lambda k: dt.date(2020, 1, 1) + dt.timedelta(days=3 * k),
    "time": lambda k: dt.datetime(2020, 1, 1) + dt.timedelta(microseconds=7 * k),
    "number": lambda k: k / 8 - 1,
    "decimal": lambda k: f"{k}.50",
}


def table(kind: str = "int", shuffle: int = 1) -> pa.Table:
    """The ratings under ids, in another order."""
    order = np.random.default_rng(shuffle).permutation(len(RATINGS.values))
    name = NAMES[kind]
    user = pa.array([name(int(k)) for k in RATINGS.rows[order]])
    if kind == "decimal":
        user = user.cast(pa.decimal128(9, 2))
    item = pa.array([f"film {k:03d}" for k in RATINGS.cols[order]])
    return pa.table({"user_id": user, "movieId": item, "Rating": RATINGS.values[order]})


def duck(t: pa.Table):
    return duckdb.from_arrow(t)


KINDS = {
    "pyarrow": lambda t: t,
    "pandas": lambda t: t.to_pandas(),
    "polars": pl.from_arrow,
    "duckdb": duck,
    "reader": lambda t: t.to_reader(max_chunksize=100),
}


def fitted(X, **settings) -> MatrixCompletion:
    return MatrixCompletion(random_state=0, **settings).fit(X)


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


def test_lists_and_reasons_speak_ids() -> None:
    model = fitted(table("text"))
    user = model.row_ids_[7]
    known = set(table("text").to_pandas().query("user_id == @user").movieId)
    best = model.recommend([user, model.row_ids_[2]], 5)
    assert best.columns.shape == (2, 5)
    assert not known & set(best.columns[0])
    np.testing.assert_allclose(
        best.scores[0], model.predict([user] * 5, best.columns[0]), rtol=1e-5
    )
    near = model.similar("film 003", 4)
    assert set(near.columns) < set(model.column_ids_) - {"film 003"}
    reasons = model.explain(user, best.columns[0][0], k=3)
    assert set(reasons.columns) <= known
    for ask in (
        lambda: model.recommend("nobody", unknown="error"),
        lambda: model.similar(["film 003", 3]),
    ):
        with pytest.raises(ValueError, match=r"the id .* was not fitted; the model knows"):
            ask()


def test_short_lists_end_without_ids() -> None:
    rows, cols = np.divmod(np.arange(12), 4)
    seen = pa.table({"user": rows, "item": [f"i{k}" for k in cols], "rating": 1.0 + cols})
    best = fitted(seen.slice(0, 11), rank=1).recommend([0, 2], 3)
    assert best.columns.tolist() == [[None] * 3, ["i3", None, None]]
    assert best.scores[1, 0] > -np.inf
    assert np.all(best.scores[0] == -np.inf)


def test_unknown_ids_are_the_average_nan_or_an_error() -> None:
    model = fitted(table()).set_params(clip=False)
    asked = pd.DataFrame(
        {"user_id": [NAMES["int"](3), 999, 999], "movieId": ["film 001", "film 001", "no film"]}
    )
    full = model.to_dense()
    film = model.column_ids_.tolist().index("film 001")
    mean, deviation = (
        model.predict(asked, return_std=True)[c] for c in ("prediction", "deviation")
    )
    np.testing.assert_allclose(mean[1:], [full[:, film].mean(), full.mean()], rtol=1e-5)
    everywhere = model.predict(table(), return_std=True).column("deviation").to_numpy().mean()
    assert everywhere < min(deviation[1:])
    assert deviation[2] == pytest.approx(np.hypot(full.std(), everywhere), rel=0.2)
    nan = model.predict(asked, unknown="nan", return_std=True)
    assert nan.isna().sum().tolist() == [0, 0, 2, 2, 0]
    assert nan.known.tolist() == [True, False, False]
    assert nan.notna().all(axis=1).tolist() == [True, False, False]
    with pytest.raises(ValueError, match=r"'user_id': the id 999 was not fitted \(2 of 3 cells"):
        model.predict(asked, unknown="error")
    with pytest.raises(ValueError, match="unknown: expected one of"):
        model.predict(asked, unknown="guess")
    with pytest.raises(ValueError, match=r"none of its ids, such as 'x'.*knows ids such as"):
        model.predict(asked.assign(user_id="x"))
    assert np.isfinite(model.score(asked.assign(Rating=3.0)))


def test_intervals_of_new_users_hold() -> None:
    truth = make_ratings((400, 60), 8000, seed=4, dtype=np.float64)
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


@pytest.mark.parametrize("kind", list(NAMES))
def test_ids_survive_the_file(kind, tmp_path) -> None:
    model = fitted(table(kind), rank=2)
    model.save(tmp_path / "model")
    for mmap in (False, True):
        again = pygeco.load(tmp_path / "model", mmap=mmap)
        assert again.row_ids_.dtype == model.row_ids_.dtype
        np.testing.assert_array_equal(again.row_ids_, model.row_ids_)
        asked = table(kind).slice(0, 9)
        assert again.predict(asked).equals(model.predict(asked))
        assert again.recommend(model.row_ids_[:2], 3).columns.tolist() == (
            model.recommend(model.row_ids_[:2], 3).columns.tolist()
        )


def test_weights_go_with_the_rows_of_the_table() -> None:
    t, w = table(), np.random.default_rng(0).random(900)
    order = np.random.default_rng(9).permutation(900)
    one = MatrixCompletion(2, random_state=0).fit(t, sample_weight=w)
    two = MatrixCompletion(2, random_state=0).fit(t.take(order), sample_weight=w[order])
    np.testing.assert_allclose(one.to_dense(), two.to_dense(), atol=1e-4)


@pytest.mark.parametrize("kind", ["int", "text"])
def test_one_rule_for_unknown_ids_in_tables_lists_and_recommendations(kind) -> None:
    model = fitted(table(kind), clip=False)  # the average row is the mean of plain sums
    known, lost = NAMES[kind](3), {"int": 999, "text": "nobody"}[kind]
    users, items = [known, lost, lost], ["film 001", "film 001", "no film"]
    asked = pd.DataFrame({"user_id": users, "movieId": items})
    marked = model.predict(asked, return_std=True)
    assert marked.known.tolist() == [True, False, False]
    alone = model.predict(asked.iloc[1:], return_std=True)  # none is known, and that is no error
    np.testing.assert_allclose(alone.prediction, marked.prediction[1:], rtol=1e-6)
    with pytest.warns(UnknownIdWarning) as told:
        mean, deviation = model.predict(users, items, return_std=True)
    said = [str(one.message) for one in told]
    assert said[0].startswith(f"rows: 2 of 3 ids, such as {lost}, were not fitted; they count as")
    assert said[1].startswith("cols: 1 of 3 ids, such as no film, were not fitted")
    np.testing.assert_allclose(mean, marked.prediction, rtol=1e-6)
    np.testing.assert_allclose(deviation, marked.deviation, rtol=1e-6)
    with pytest.warns(UnknownIdWarning, match="have no answer"):
        gaps = model.predict(users, items, unknown="nan")
    assert np.isnan(gaps).tolist() == [False, True, True]
    for ask in (model.predict, lambda *x, **y: model.recommend(x[0], **y)):
        with pytest.raises(ValueError, match=r"rows: the id .* was not fitted; the model knows"):
            ask(users, items, unknown="error")
        with pytest.raises(ValueError, match="unknown: expected one of"):
            ask(users, items, unknown="guess")
    with pytest.warns(UnknownIdWarning, match="rows: 2 of 3 ids"):
        best = model.recommend(users, 4)
    np.testing.assert_array_equal(best.columns[0], model.recommend(known, 4).columns)
    full = model.to_dense().mean(axis=0)
    order = np.argsort(-full, kind="stable")[:4]
    for row in (1, 2):
        assert best.columns[row].tolist() == model.column_ids_[order].tolist()
        np.testing.assert_allclose(best.scores[row], full[order], rtol=1e-5)
    with pytest.warns(UnknownIdWarning):
        one = model.recommend(lost, 4)
    assert one.columns.tolist() == best.columns[1].tolist()
    with pytest.warns(UnknownIdWarning):
        empty = model.recommend([known, lost], 2, unknown="nan")
    assert empty.columns[1].tolist() == [None, None]
    assert np.all(np.isneginf(empty.scores[1]))
    with pytest.raises(ValueError, match=r"none of its ids, such as .*knows ids such as"):
        model.predict([3.5 if kind == "text" else "x"], ["film 001"])


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
