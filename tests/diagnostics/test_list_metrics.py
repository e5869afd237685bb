"""Figures of lists against plain loops and scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score, recall_score

from list_cases import judge_row
from pygeco.diagnostics.list_metrics import (
    METRICS,
    ListTotals,
    count_ties,
    find_hits,
    measure_hits,
    measure_ranks,
)


def test_figures_are_those_of_the_definitions() -> None:
    rng = np.random.default_rng(0)
    lists = np.array([rng.permutation(12)[:7] for _ in range(40)])
    lists[3, 4:] = -1
    held = [np.sort(rng.choice(12, rng.integers(1, 12), replace=False)) for _ in lists]
    pointers = np.cumsum([0, *map(len, held)])
    hits = find_hits(lists, pointers, np.concatenate(held))
    found = measure_hits(hits, np.diff(pointers), (1, 5, 9))
    for i, own in enumerate(held):
        for t, k in enumerate((1, 5, 9)):  # 9: longer than the lists
            wanted = judge_row([j for j in lists[i].tolist() if j >= 0], set(own.tolist()), k)
            np.testing.assert_allclose(found[:, t, i], [wanted[name] for name in METRICS])


def test_figures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    truth, scores = rng.random((9, 30)) < 0.2, rng.standard_normal((9, 30))
    truth[:, 0] = True
    order = np.argsort(-scores, axis=1)[:, :6]
    pointers = np.concatenate([[0], np.cumsum(truth.sum(axis=1))])
    hits = find_hits(order, pointers, np.nonzero(truth)[1])
    found = dict(
        zip(METRICS, measure_hits(hits, truth.sum(axis=1), [6]).mean(axis=-1), strict=True)
    )
    listed = np.zeros_like(truth)
    np.put_along_axis(listed, order, True, 1)
    assert found["ndcg"] == pytest.approx(ndcg_score(truth, scores, k=6))
    assert found["recall"] == pytest.approx(recall_score(truth, listed, average="samples"))


def test_no_column_is_relevant() -> None:
    assert not find_hits(np.array([[0, 1]]), np.array([0, 0]), np.zeros(0, int)).any()


def test_ranks_are_means_over_the_orders_of_equals() -> None:
    above, equal = np.array([0, 2, 3, 9, 0]), np.array([0, 3, 0, 4, 20])
    found = measure_ranks(above, equal, (1, 4))
    for i, (more, level) in enumerate(zip(above, equal, strict=True)):
        for t, k in enumerate((1, 4)):
            orders = [
                judge_row([0] * (more + place) + [1] + [0] * 30, {1}, k)
                for place in range(level + 1)
            ]
            wanted = [np.mean([each[name] for each in orders]) for name in METRICS]
            np.testing.assert_allclose(found[:, t, i], wanted)


def test_rows_count_as_tied_where_another_order_gives_other_figures() -> None:
    scores = np.array([[3.0, 2, 1], [2, 2, 1], [2, 2, 1], [3, 2, 2], [3, -np.inf, -np.inf]])
    hits = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0]], bool)
    assert [count_ties(scores[[i]], hits[[i]], 2) for i in range(5)] == [0, 0, 1, 1, 0]


def test_totals_are_means_and_standard_errors_in_any_blocks() -> None:
    figures = np.random.default_rng(2).random((len(METRICS), 2, 50))
    totals = ListTotals((5, 10), np.zeros(4))
    for part in np.array_split(figures, [7, 31], axis=-1):
        totals.add(part)
    for t, name in enumerate(METRICS):
        np.testing.assert_allclose(list(totals.means()[name].values()), figures[t].mean(axis=-1))
        error = figures[t].std(axis=-1, ddof=1) / np.sqrt(50)
        np.testing.assert_allclose(list(totals.errors()[name].values()), error)
    nothing = ListTotals((5,), np.zeros(4))
    assert np.isnan([nothing.means()["ndcg"][5], nothing.errors()["ndcg"][5]]).all()
    assert np.isnan(nothing.mean_popularity()[5])
