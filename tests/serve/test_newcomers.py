"""New people get the lists that the estimator would make of their cells."""

import numpy as np
import pytest

from pygeco.bayes.reasons import contributions
from pygeco.serve import answers
from pygeco.serve.newcomers import place_known, read_known, weigh_known
from pygeco.serve.requests import FoldIn, Known
from pygeco.serve.typed import RequestError
from serve_cases import ITEMS, fit_clicks, fit_ratings, open_values


def know(*items, values=None):
    values = values or [None] * len(items)
    return [Known(item=item, value=value) for item, value in zip(items, values, strict=True)]


def test_ratings_are_folded_as_transform_does(ratings) -> None:
    model, cols, values = fit_ratings(), np.array([2, 10, 33]), np.array([5.0, 1.0, 4.0])
    X = np.full((1, ITEMS), np.nan)
    X[0, cols] = values
    predicted, deviation = model.predict(X, return_std=True)
    known = know("m03", "m11", "m34", values=values.tolist())
    asked = FoldIn(known=known, k=5, by="value", deviation=True, reasons=3)
    found = answers.fold_in(ratings, asked)["items"]
    rest = np.setdiff1d(np.arange(ITEMS), cols)
    order = [int(one["item"][1:]) - 1 for one in found]
    best = np.sort(predicted[0, rest])[::-1][:5]
    np.testing.assert_allclose([one["score"] for one in found], best, atol=1e-3)
    np.testing.assert_allclose(predicted[0, order], best, atol=1e-3)
    np.testing.assert_allclose([x["deviation"] for x in found], deviation[0, order], atol=1e-3)
    assert {reason["item"] for reason in found[0]["reasons"]} == {"m03", "m11", "m34"}
    high = answers.fold_in(ratings, FoldIn(known=know("m03", values=[5.0]), k=60, by="value"))
    low = answers.fold_in(ratings, FoldIn(known=know("m03", values=[1.0]), k=60, by="value"))
    mean = [np.mean([one["score"] for one in some["items"]]) for some in (high, low)]
    assert mean[0] > mean[1]


def test_clicks_are_folded_as_transform_does(clicks) -> None:
    model, cols = fit_clicks(), np.array([2, 10, 33])
    W = model.transform((np.zeros(3, int), cols))
    scores = (W @ model.components_)[0]
    scores[cols] = -np.inf
    found = answers.fold_in(clicks, FoldIn(known=know("m03", "m11", "m34"), k=5, reasons=2))
    assert [int(one["item"][1:]) - 1 for one in found["items"]] == np.argsort(-scores)[:5].tolist()
    assert all(len(one["reasons"]) == 2 for one in found["items"])


def test_who_clicked_nothing_gets_what_the_average_user_does(clicks) -> None:
    A = clicks.model.factors
    scores = (A.left @ A.V.T).mean(axis=0)
    found = answers.fold_in(clicks, FoldIn(people=[know("m03"), []], k=5))["lists"][1]["items"]
    assert [int(one["item"][1:]) - 1 for one in found] == np.argsort(-scores)[:5].tolist()
    best = np.sort(scores)[::-1][:5]
    np.testing.assert_allclose([one["score"] for one in found], best, atol=1e-3)


def test_people_together_get_what_each_gets_alone(ratings) -> None:
    people = [know("m01", "m02", values=[3.0, 4.0]), [], know("m05", "m05", values=[1.0, 5.0])]
    together = answers.fold_in(ratings, FoldIn(people=people, k=6))["lists"]
    for some, alone in zip(people, together, strict=True):
        assert answers.fold_in(ratings, FoldIn(known=some, k=6)) == alone
    last = answers.fold_in(ratings, FoldIn(known=know("m05", values=[5.0]), k=6))
    assert together[2] == last


def test_wrong_values_are_refused(ratings, clicks) -> None:
    for served, known in (
        (ratings, know("m01")),
        (ratings, know("m01", values=[6.0])),
        (ratings, know("m01", values=[1e300])),
        (ratings, know("gone", values=[3.0])),
        (clicks, know("m01", values=[3.0])),
    ):
        with pytest.raises(RequestError):
            answers.fold_in(served, FoldIn(known=known))


def test_who_rated_nothing_gets_what_is_liked_by_all(ratings) -> None:
    found = answers.fold_in(ratings, FoldIn(known=[], k=5))["items"]
    by_value = answers.fold_in(ratings, FoldIn(known=[], k=5, by="value"))["items"]
    assert found == by_value
    assert [one["score"] for one in found] == sorted((x["score"] for x in found), reverse=True)


def know_as_fitted(served, row: int):
    """A new person who knows what the user in a row does."""
    own = slice(*served.model.seen.pointers[[row, row + 1]].tolist())
    values = served.rescale(served.model.seen.values[own]).tolist()
    return know(*(served.model.seen.indices[own] + 1).tolist(), values=values)


@pytest.mark.parametrize("kind", ["logistic", "ordinal", "poisson", "huber"])
def test_reasons_add_up_to_what_is_predicted_under_any_loss(kind, tmp_path) -> None:
    served, row = open_values(kind, tmp_path), 7
    model, known = served.model, know_as_fitted(served, row)
    cells, values = read_known(served, [known])
    entries = place_known(served, cells, values)
    folded = model.fold_rows(entries)
    linear = (folded.coordinates @ model.factors.V.T + folded.offsets[:, None])[0]
    linear += model.biases.mean + model.biases.col
    variance = None
    if model.likelihood is not None:
        variance = model.vary_rows(entries, noise=False)[0, cells.columns]
    squares = weigh_known(served, entries.by_row.values, linear[cells.columns], variance)
    rest = np.setdiff1d(np.arange(ITEMS), cells.columns)
    cols = cells.columns.astype(np.int64)
    scale = np.std(linear)
    for j in rest[:20].tolist():
        base, parts, _ = contributions(model.posterior, cols, *squares, j)
        assert base + parts.sum() == pytest.approx(linear[j], abs=0.1 * scale)
        fitted = model.explain(row, j, len(cols))
        order = np.argsort(fitted.columns)
        np.testing.assert_allclose(parts, fitted.contributions[order], atol=0.1 * scale)


def test_a_new_person_is_told_the_reasons_of_one_who_knows_the_same(tmp_path) -> None:
    served, row = open_values("ordinal", tmp_path), 7
    asked = FoldIn(known=know_as_fitted(served, row), k=3, reasons=2, by="value")
    for one in answers.fold_in(served, asked)["items"]:
        fitted = served.model.explain(row, one["item"] - 1, 2)
        adds = [reason["adds"] for reason in one["reasons"]]
        np.testing.assert_allclose(adds, fitted.contributions, atol=0.02)
        assert [reason["item"] - 1 for reason in one["reasons"]] == fitted.columns.tolist()


def test_values_that_are_no_label_or_level_are_refused(tmp_path) -> None:
    for kind, wrong, right in (
        ("logistic", [0.3, None], [0, 1, -1]),
        ("ordinal", [2.3, 0.5], [1, 1.5, 5]),
        ("tenths", [0.05, 1.0], [0.1, 0.3, 0.9]),
    ):
        served = open_values(kind, tmp_path)
        for value in wrong:
            with pytest.raises(RequestError, match=r"^value: "):
                answers.fold_in(served, FoldIn(known=know(3, values=[value])))
        for value in right:
            assert answers.fold_in(served, FoldIn(known=know(3, values=[value]), k=2))["items"]
        for level in served.levels:
            answers.fold_in(served, FoldIn(known=know(3, values=[level])))
