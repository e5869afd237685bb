"""One rule for ids, known and unknown."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pygeco
from pygeco.errors import UnknownIdWarning
from table_cases import NAMES, fitted, table


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
        with pytest.raises(ValueError, match=r"the id .* was not fitted; the model knows") as error:
            ask()
        assert "np." not in str(error.value)


def test_short_lists_end_without_ids() -> None:
    rows, cols = np.divmod(np.arange(12), 4)
    seen = pa.table({"user": rows, "item": [f"i{k}" for k in cols], "rating": 1.0 + cols})
    best = fitted(seen.slice(0, 11), rank=1).recommend([0, 2], 3)
    assert best.columns.tolist() == [[None] * 3, ["i3", None, None]]
    assert best.scores[1, 0] > -np.inf
    assert np.all(best.scores[0] == -np.inf)


@pytest.mark.parametrize(
    ("ids", "nothing"),
    [
        (np.arange(-2, 2), -1),
        (np.uint64(2**63) + np.arange(4, dtype=np.uint64), 2**64 - 1),
        (np.arange(4, dtype=np.uint8), 255),
        (np.array([False, True]), False),
        (np.array([0.5, 1.5, 2.5]), None),
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), None),
        (np.array(["a", "b"]), None),
    ],
    ids=str,
)
def test_short_lists_of_ids_of_any_kind(ids, nothing) -> None:
    """A user rated all items, another one: the tables have the places that are taken alone."""
    n = len(ids)
    rows, cols = np.repeat([0, 1], [n, 1]), [*range(n), 0]
    model = fitted(pa.table({"user": rows, "item": ids[cols], "rating": np.arange(n + 1.0) % 5}))
    best = model.recommend([0, 1], n)
    assert best.columns[0].dtype == model.column_ids_.dtype
    assert np.all(best.scores[0] == -np.inf)
    missing = best.columns[best.scores == -np.inf]
    assert np.all(pd.isna(missing)) if nothing is None else set(missing.tolist()) == {nothing}
    listed = best.to_arrow().column("item").to_pylist()
    assert sorted(listed) == pa.array(ids[1:]).to_pylist()
    assert len(model.similar(model.column_ids_[0], n + 3).to_arrow()) < n


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
    with pytest.raises(ValueError, match=r"none of its ids, such as 'guest'"):
        model.predict(asked.assign(user_id=["1", "guest", "3"]))  # which made the others texts
    assert np.isfinite(model.score(asked.assign(Rating=3.0)))


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
