"""Answers are the estimator's, in the words of the interface."""

import msgspec
import numpy as np
import pytest

from pygeco.serve import answers
from pygeco.serve.requests import Explain, FoldIn, Known, Predict, Recommend, Similar
from pygeco.serve.typed import RequestError
from pygeco.serve.writing import write_lists
from serve_cases import fit_clicks, fit_ratings, fit_values, open_values

FITS = {"ratings": fit_ratings, "clicks": fit_clicks}


@pytest.mark.parametrize("kind", ["ratings", "clicks"])
def test_predictions(models, kind) -> None:
    served, model = models[kind], FITS[kind]()
    users, items = [1, 5, "9"], ["m01", "m07", "m60"]
    found = answers.predict(served, Predict(users=users, items=items, deviation=True))
    expected = model.predict([1, 5, 9], items)
    np.testing.assert_allclose(found["scores"], expected, atol=1e-6)
    assert found["known"] == [True] * 3
    if kind == "ratings":
        deviation = model.predict([1, 5, 9], items, return_std=True)[1]
        np.testing.assert_allclose(found["deviations"], deviation, atol=1e-6)
    else:
        assert found["deviations"] == [None] * 3
    one = answers.predict(served, Predict(user="5", item="m07"))
    assert one == {"user": 5, "item": "m07", "known": True, "score": found["scores"][1]}
    assert not answers.predict(served, Predict(user=0, item="m07"))["known"]
    for wrong in (
        Predict(user=1),
        Predict(user=1, items=["m01"]),
        Predict(users=[1, 2], items=["m01"]),
        Predict(user=0, item="m01", unknown="error"),
    ):
        with pytest.raises(RequestError):
            answers.predict(served, wrong)


@pytest.mark.parametrize("kind", ["ratings", "clicks"])
def test_lists(models, kind) -> None:
    served, model = models[kind], FITS[kind]()
    asked = Recommend(k=7, without=["m05", "m06"], deviation=True, reasons=2)
    users = [3, 1, 3, "x"]
    found = answers.recommend(served, users, asked)
    assert [one["user"] for one in found] == users
    assert [one["known"] for one in found] == [True, True, True, False]
    expected = model.recommend([3, 1], 7, exclude=["m05", "m06"])
    for one, columns, scores in zip(found, expected.columns, expected.scores, strict=False):
        assert [item["item"] for item in one["items"]] == columns.tolist()
        np.testing.assert_allclose([x["score"] for x in one["items"]], scores, atol=1e-4)
        assert all(item["title"].startswith("Film ") for item in one["items"])
    assert found[2] == found[0]
    assert found[3]["items"][0]["reasons"] == []
    first = found[0]["items"][0]
    why = model.explain(3, first["item"], 2)
    assert [reason["item"] for reason in first["reasons"]] == why.columns.tolist()
    assert (first["deviation"] is None) == (kind == "clicks")
    with pytest.raises(RequestError, match="at most 1,000 items"):
        answers.recommend(served, [1] * 80, Recommend(k=50, reasons=1))


def test_alike(ratings) -> None:
    model = fit_ratings()
    found = answers.similar(ratings, Similar(items=["m03", "m04"], k=5))
    expected = model.similar(["m03", "m04"], 5)
    for one, columns in zip(found["lists"], expected.columns, strict=True):
        assert [item["item"] for item in one["alike"]] == columns.tolist()
    only = answers.similar(ratings, Similar(item="m03", k=5, only=["m01", "m02", "m03"]))
    assert {one["item"] for one in only["alike"]} == {"m01", "m02"}
    users = answers.similar(ratings, Similar(user="7", k=4))
    assert [one["user"] for one in users["alike"]] == model.similar_rows(7, 4).columns.tolist()
    for wrong in (Similar(), Similar(user=1, item="m01"), Similar(user=1, only=["m01"])):
        with pytest.raises(RequestError):
            answers.similar(ratings, wrong)


def test_reasons_add_up(ratings) -> None:
    found = answers.explain(ratings, Explain(user=4, item="m02", k=60))
    model = fit_ratings()
    why = model.explain(4, "m02", 60)
    assert found["base"] + sum(one["adds"] for one in found["reasons"]) == pytest.approx(
        why.base + why.contributions.sum(), abs=0.01
    )
    many = answers.explain(ratings, Explain(users=[4, 5], items=["m02", "m03"], k=1))
    assert many["explanations"][0]["reasons"] == found["reasons"][:1]
    with pytest.raises(RequestError, match="does not know"):
        answers.explain(ratings, Explain(user=4, item="nope"))


def test_small_ratings_keep_their_digits(tmp_path) -> None:
    served, model = open_values("small", tmp_path), fit_values("small")
    users, items = [1, 5, 9], [1, 7, 60]
    expected, deviation = model.predict(users, items, return_std=True)
    found = answers.predict(served, Predict(users=users, items=items, deviation=True))
    np.testing.assert_allclose(found["scores"], expected, rtol=1e-3)
    np.testing.assert_allclose(found["deviations"], deviation, rtol=1e-3)
    asked = Recommend(user=5, k=5, by="value", deviation=True, reasons=2)
    (one,) = answers.recommend(served, [5], asked)
    (short,) = map(msgspec.json.decode, write_lists(served, [5], Recommend(k=5, by="value")))
    assert [x["score"] for x in short["items"]] == [x["score"] for x in one["items"]]
    listed = [x["item"] for x in one["items"]]
    expected, deviation = model.predict([5] * 5, listed, return_std=True)
    np.testing.assert_allclose([x["score"] for x in one["items"]], expected, rtol=2e-3)
    np.testing.assert_allclose([x["deviation"] for x in one["items"]], deviation, rtol=2e-3)
    why = answers.explain(served, Explain(user=5, item=7, k=3))
    own = served.model.explain(4, 6, 3)
    np.testing.assert_allclose([x["adds"] for x in why["reasons"]], own.contributions, atol=6e-11)
    assert why["base"] == pytest.approx(own.base, rel=1e-3)
    known = [Known(item=3, value=3e-7)]
    new = answers.fold_in(served, FoldIn(known=known, k=2, deviation=True, reasons=1))["items"]
    assert all(x["score"] and x["deviation"] and x["reasons"][0]["adds"] for x in new)
