"""Simple rules, lists and warnings of the report against plain loops."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from pygeco import MatrixCompletion, diagnostics, evaluate
from pygeco.diagnostics import baselines
from report_cases import by_evidence, by_labels, by_path, ratings

KINDS = ("user", "item", "rating")


def test_rules_are_damped_means() -> None:
    model, (fitted, held) = by_evidence(), ratings()
    judged = diagnostics.judge(model, held)
    found = diagnostics.predict_by_rules(model, judged, KINDS)
    names = ["overall mean", "mean of the item", "means of the item and the user"]
    assert [rule.name for rule in found] == names
    rows, cols, values, (m, n) = fitted
    mean = values.mean()

    def damped(index, rest, size):
        return np.array([rest[index == t].sum() / ((index == t).sum() + 5) for t in range(size)])

    own = mean + damped(cols, values - mean, n)
    taste = damped(rows, values - own[cols], m)
    wanted = [np.full(len(held[0]), mean), own[held[1]], own[held[1]] + taste[held[0]]]
    for rule, predicted in zip(found, wanted, strict=True):
        np.testing.assert_allclose(rule.predicted, predicted, rtol=1e-5)


def test_the_constant_of_labels_is_their_share() -> None:
    rows, cols, values, shape = ratings()[1]
    judged = diagnostics.judge(by_labels(), (rows, cols, (values > 3.5).astype(float), shape))
    (rule,) = diagnostics.predict_by_rules(by_labels(), judged, KINDS)
    assert rule.predicted[0] == pytest.approx(np.mean(ratings()[0][2] > 3.5), abs=1e-4)


@pytest.mark.parametrize("side", ["row", "column"])
@pytest.mark.parametrize("model", [by_evidence, by_path])
def test_groups_by_activity_are_a_partition(model, side) -> None:
    judged = diagnostics.judge(model(), ratings()[1])
    rule = diagnostics.predict_by_rules(model(), judged, KINDS)[0]
    groups = diagnostics.measure_error_by_activity(model(), judged, rule, side)
    assert len(groups) > 1
    assert sum(group.cells for group in groups) == len(judged.observed)
    assert all(a.high < b.low for a, b in pairwise(groups))
    total = sum(group.cells * group.error**2 for group in groups)
    assert np.sqrt(total / len(judged.observed)) == pytest.approx(judged.rmse)


@pytest.mark.parametrize("rows_at_once", [1, 3, 64])
def test_popular_columns_are_those_that_a_row_does_not_know(rows_at_once, monkeypatch) -> None:
    """Rows that know nothing but one column, all columns, and numbers in between."""
    monkeypatch.setattr(baselines, "ROWS_AT_ONCE", rows_at_once)
    rng = np.random.default_rng(0)
    known = rng.random((40, 12)) < rng.random((40, 1))
    known[np.arange(40), rng.integers(0, 12, 40)] = True
    known[7] = True
    rows, cols = np.nonzero(known)
    values = rng.integers(1, 6, len(rows)).astype(float)
    model = MatrixCompletion(1, random_state=0).fit((rows, cols, values, known.shape))
    order = np.argsort(-known.sum(axis=0), kind="stable")
    asked = np.array([7, 0, 39, 12, 13, 14, 7])
    for k in (1, 5, 12, 20):
        found = baselines.list_popular(model, asked, k)
        for row, line in zip(asked, found, strict=True):
            wanted = order[~known[row, order]][:k]
            assert list(line) == [*wanted, *[-1] * (min(k, 12) - len(wanted))]


@pytest.mark.parametrize("rows_at_once", [3, 64])
def test_lists_are_judged_as_by_evaluate(rows_at_once, monkeypatch) -> None:
    monkeypatch.setattr(baselines, "ROWS_AT_ONCE", rows_at_once)
    tables = [
        pd.DataFrame({"user": part[0], "item": part[1], "rating": part[2]}) for part in ratings()
    ]
    model = MatrixCompletion(2, random_state=0).fit(tables[0])
    found = diagnostics.judge_lists(model, diagnostics.judge(model, tables[1]))
    wanted = evaluate(model, tables[1], k=10)
    assert found.model == pytest.approx(wanted.ranking)
    popular = tables[0].item.value_counts().sort_index()
    order = popular.sort_values(ascending=False, kind="stable").index
    known = set(tables[0].user), set(tables[0].item)
    hits = []
    for user, own in tables[1][tables[1].rating >= wanted.threshold].groupby("user"):
        liked = set(own.item) & known[1]
        if user in known[0] and liked:
            seen = set(tables[0].item[tables[0].user == user])
            best = [item for item in order if item not in seen][:10]
            hits.append(len(set(best) & liked) / 10)
    assert found.popular.precision == pytest.approx(np.mean(hits))
