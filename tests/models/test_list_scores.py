"""Lists by choice in single precision against all scores in double, sorted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array

from pygeco import MatrixCompletion
from pygeco.data import make_ratings
from pygeco.models import list_scores
from pygeco.models.completion import ListScorer
from pygeco.models.list_scores import (
    ListWeights,
    check_by,
    list_by_choice,
    order_best,
    pick_largest,
)
from pygeco.models.ranking import ListFilters
from pygeco.models.scoring import list_best


@pytest.fixture(scope="module")
def model():
    rows, cols, values, _ = make_ratings((60, 90), 1500, rank=2)
    fitted = (
        MatrixCompletion(2, random_state=0).fit(coo_array((values, (rows, cols)), (60, 90))).model_
    )
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((90, 8)))[0].astype(np.float32)
    # A draw that liking turns round: some rows need more candidates than the first few.
    weights = ListWeights(V, rng.random(90), rng.random(90), rng.random(8), 4.0, 3.0, 0.3)
    return replace(fitted, lists=weights)


@pytest.mark.parametrize("power", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("count", [3, 60])
def test_lists_are_those_of_all_scores(model, power, count, monkeypatch) -> None:
    monkeypatch.setattr(list_scores, "CANDIDATES", 2)
    rows, allowed = np.arange(count)[::-1], np.arange(90) % 7 != 3
    scorer = ListScorer(model, power)
    for k in (1, 6, 77):
        expected = list_best(scorer, rows, k, hidden=[model.seen], allowed=allowed)
        found = list_by_choice(
            model, model.list_scores, rows, k, power=power, hidden=[model.seen], allowed=allowed
        )
        same = found.columns == expected.columns
        assert same.mean() > 0.99  # but for near ties
        at = np.nonzero(found.columns >= 0)
        values = model.respond(model.linear(rows[at[0]], found.columns[at]))
        np.testing.assert_allclose(found.scores[at], values, rtol=1e-5)
        np.testing.assert_array_equal(np.isneginf(found.scores), found.columns < 0)


def test_the_model_lists_by_them(model) -> None:
    rows = np.arange(60).reshape(6, 10)
    found = model.best(rows, 5, by="auto")
    expected, _ = list_best(ListScorer(model, 4.0), rows, 5, hidden=[model.seen])
    assert (found.columns == expected).mean() > 0.99
    assert found.scores.shape == (6, 10, 5)
    only = model.seen._replace(pointers=model.seen.pointers)
    inside = model.best(rows[0], 5, ListFilters(only=only, hide_seen=False))
    assert all(j in model.seen.indices[model.seen.pointers[i] : model.seen.pointers[i + 1]]
               for i, line in enumerate(inside.columns) for j in line)  # fmt: skip


def test_what_is_kept_does_not_travel(model) -> None:
    assert model.left is model.left
    assert "list_scores" not in model.__getstate__()
    assert set(model.__getstate__()) == set(type(model).__dataclass_fields__)


def test_rows_without_cells_are_drawn_to_nothing() -> None:
    table = np.zeros((9, 5), np.float32)
    assert pick_largest(table[:2], 2)[0].shape == (2, 2)
    np.testing.assert_array_equal(order_best(table, 3), np.tile([0, 1, 2], (9, 1)))


RNG = np.random.default_rng(0)
V = np.linalg.qr(RNG.standard_normal((7, 3)))[0]
WEIGHTS = ListWeights(V, np.arange(1.0, 8), np.arange(7.0, 0, -1), np.ones(3), 1.0, 3.0, 0.5)


def test_choices_are_the_product_of_the_parts():
    known = np.array([[1.0, 0, 1, 0, 0, 0, 1]])
    B = np.diag(WEIGHTS.inward) @ V @ V.T @ np.diag(WEIGHTS.outward)
    assert np.allclose(WEIGHTS.score_choices(known), known @ B)


def test_liking_counts_by_its_power_and_what_draws_nobody_comes_last():
    choice = np.array([[2.0, 2.0, -1.0, -2.0]])
    predicted = np.array([[4.0, 2.0, 5.0, 5.0]])
    assert np.array_equal(WEIGHTS.combine(choice, predicted, 0.0), choice)
    found = WEIGHTS.combine(choice, predicted, 1.0)[0]
    assert found[0] > found[1] > 0 > found[2] > found[3]
    assert found[0] / found[1] == pytest.approx((1 + np.exp(3.404)) / (1 + np.exp(-3.404)))


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="by: unknown"):
        check_by("likes")
