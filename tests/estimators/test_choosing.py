"""Lists of ratings by choice and value: learned from cells that are not known at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pygeco
from pygeco import MatrixCompletion
from pygeco.estimators import _choosing


@pytest.fixture(scope="module")
def ratings():
    """People rate what is of their kind; what they like is another matter."""
    rng = np.random.default_rng(0)
    m, n = 300, 80
    kind, group = np.arange(n) % 4, rng.integers(4, size=m)
    known = rng.random((m, n)) < np.where(kind == group[:, None], 0.6, 0.03)
    taste = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    values = np.clip(np.round(3 + taste + 0.3 * rng.standard_normal((m, n))), 1, 5)
    rows, cols = np.nonzero(known)
    test = rng.random(len(rows)) < 0.15
    cells = rows, cols, values[known]
    fit, held = (tuple(x[keep] for x in cells) for keep in (~test, test))
    return (*fit, (m, n)), (*held, (m, n)), (kind, group)


@pytest.fixture(scope="module")
def model(ratings):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_choosing, "MIN_CELLS", 1000)
        model = MatrixCompletion(random_state=0, pattern=False).fit(ratings[0])
        assert model.lists_ is None
        return model.learn_lists()


def test_lists_by_both_are_better_than_by_value(model, ratings):
    rows, cols, values, shape = ratings[1]
    liked = values >= ratings[0][2].mean()
    held = rows[liked], cols[liked], values[liked], shape
    ndcg = {}
    for by in ("auto", "value", "choice"):
        lists = model.recommend(by=by, k=10).columns
        found = pygeco.metrics.ranking(lists, held[0], held[1])
        ndcg[by] = found.ndcg
    assert ndcg["auto"] > 1.2 * ndcg["value"]
    assert ndcg["auto"] > ndcg["choice"]


def test_choices_are_of_the_own_kind_and_unseen(model, ratings):
    lists = model.recommend(by="choice", k=5)
    kind, group = ratings[2]
    assert np.mean(kind[lists.columns] == group[:, None]) > 0.9
    seen = set(zip(*(x.tolist() for x in ratings[0][:2]), strict=True))
    assert not any((i, j) in seen for i, row in enumerate(lists.columns) for j in row.tolist())
    assert np.allclose(
        lists.scores, model.predict(np.arange(300)[:, None], lists.columns), rtol=1e-5
    )


def test_by_value_is_the_order_of_predictions(model):
    scores = model.recommend(by="value", k=20).scores
    assert np.all(np.diff(scores, axis=1) <= 1e-6)


def test_lists_stay_with_the_file(model, tmp_path):
    model.save(tmp_path / "m.geco")
    again = pygeco.load(tmp_path / "m.geco")
    assert again.lists_.power == model.lists_.power
    assert np.array_equal(again.recommend().columns, model.recommend().columns)


def test_few_cells_and_unknown_words(ratings):
    small = MatrixCompletion(random_state=0, rank=1).fit(ratings[1])
    by_value = small.recommend(0, k=3, by="value").columns
    assert np.array_equal(small.recommend(0, k=3).columns, by_value)
    assert small.lists_ is None
    with pytest.raises(ValueError, match="by: unknown"):
        small.recommend(0, by="taste")


def test_what_is_judged_is_what_lists_are_made_by(model, monkeypatch):
    """The powers that are tried give the scores of `combine`, one after the other in place."""
    seen = []
    compare = _choosing.Judge.compare

    def record(judge, tables, count, weights=None):
        seen.append((judge, tables, count))
        return compare(judge, tables, count, weights)

    monkeypatch.setattr(_choosing.Judge, "compare", record)
    found = _choosing.learn_lists(model, required=True)
    judge, tables, count = seen[-1]
    rows = judge.rows[:40]
    got = [table.copy() for table in tables(rows)]
    assert len(got) == count == 7
    choice, values = got[0], got[-1]
    for half, table in zip(_choosing.HALVES, got, strict=False):
        wanted = found.combine(choice, values, half / 2)
        assert np.allclose(table, wanted, rtol=1e-4, atol=1e-6 * np.abs(choice).max())
    assert (choice <= 0).any()  # and these keep their order


def test_whole_lines_are_predicted_as_cells_are(model):
    lines = model.model_.predict_lines(np.array([5, 0, 299]))
    cells = model.model_.predict(np.array([[5], [0], [299]]), np.arange(80))
    assert np.allclose(lines, cells, rtol=1e-6)


def limit_search(monkeypatch, cells, rows):
    monkeypatch.setattr(_choosing, "MAX_SEARCHED_CELLS", cells)
    monkeypatch.setattr(_choosing, "MIN_SEARCHED_ROWS", rows)


@pytest.mark.parametrize(("most", "least"), [(1500, 10), (10, 40), (1, 1)])
def test_rows_that_are_searched_have_all_of_their_cells(model, monkeypatch, most, least):
    seen = model.model_.seen
    limit_search(monkeypatch, most, least)
    some = _choosing._sample_rows(seen)
    counts, lines = np.diff(some.pointers), {}
    for i, (first, last) in enumerate(zip(seen.pointers, seen.pointers[1:], strict=False)):
        lines.setdefault((*seen.indices[first:last], *seen.values[first:last]), i)
    found = [
        lines[(*some.indices[first:last], *some.values[first:last])]
        for first, last in zip(some.pointers, some.pointers[1:], strict=False)
    ]
    assert found == sorted(set(found))
    assert len(counts) == least or counts.sum() <= most
    assert len(counts) == least or counts.sum() > most - np.diff(seen.pointers).max()


def test_few_cells_are_all_searched(model, monkeypatch):
    seen = model.model_.seen
    assert _choosing._sample_rows(seen) is seen
    limit_search(monkeypatch, 1, 300)
    assert _choosing._sample_rows(seen) is seen


def test_settings_from_some_rows_make_lists_about_as_good(model, ratings, monkeypatch):
    limit_search(monkeypatch, len(ratings[0][0]) // 2, 10)
    found, whole = _choosing.learn_lists(model, required=True), model.lists_
    assert found.vectors.shape == whole.vectors.shape
    assert found.threshold == whole.threshold
    # Rows are folded in: their columns have seen what is held out, a tenth of what they know.
    assert found.deviation == pytest.approx(whole.deviation, rel=0.25)
    rows, cols, values, _ = ratings[1]
    liked = values >= ratings[0][2].mean()
    ndcg = []
    for lists in (whole, found):
        made = replace(model.model_, lists=lists)
        columns = made.best(np.arange(300), 10).columns
        ndcg.append(pygeco.metrics.ranking(columns, rows[liked], cols[liked]).ndcg)
    assert ndcg[1] > 0.97 * ndcg[0]


def test_judged_rows_of_some_are_folded_in_from_their_other_cells(model, monkeypatch):
    made = []
    make = _choosing._model_rest

    def keep(estimator, judge, values):
        made.append((make(estimator, judge, values), judge, values))
        return made[-1][0]

    limit_search(monkeypatch, 1000, 10)
    monkeypatch.setattr(_choosing, "_model_rest", keep)
    assert _choosing.learn_lists(model, required=True)
    rest, judge, values = made[0]
    known = judge.seen
    told = model.transform((known.rows(), known.indices, values, judge.shape))
    held = judge.held.rows(), judge.held.indices.astype(np.int64)
    assert np.allclose(rest.predict(*held), model.inverse_transform(told)[held], rtol=1e-4)
