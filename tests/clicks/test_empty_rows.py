"""Rows without a click are the average row, wherever they are asked about."""

import numpy as np
import pytest

from pygeco import ImplicitCompletion
from pygeco.arrays.low_rank import LowRank
from pygeco.clicks.empty_rows import fill_empty_rows, settle_factors
from pygeco.objectives import Entries


def make_clicks(empty):
    rng = np.random.default_rng(0)
    clicked = rng.random((60, 20)) < np.linspace(0.05, 0.6, 20)
    clicked[:, 0] = True
    clicked[list(empty)] = False
    return clicked.astype(np.float32)


@pytest.mark.parametrize("empty", [(), (0,), (3, 4, 59), range(59)])
def test_the_mean_of_the_others_is_then_that_of_all(empty):
    clicked = make_clicks(empty)
    X = np.random.default_rng(1).standard_normal((60, 3)).astype(np.float32)
    found = fill_empty_rows(X, Entries(*np.nonzero(clicked), clicked[clicked > 0], (60, 20)))
    mean = np.delete(X, list(empty), axis=0).mean(axis=0)
    np.testing.assert_allclose(found[list(empty)], np.tile(mean, (len(empty), 1)), atol=1e-6)
    np.testing.assert_allclose(found.mean(axis=0) if len(empty) else mean, mean, atol=1e-6)
    np.testing.assert_array_equal(np.delete(found, list(empty), 0), np.delete(X, list(empty), 0))
    assert (found is X) == (len(empty) == 0)


def test_the_factors_stay_singular_vectors():
    clicked = make_clicks([5])
    X, Y = (np.random.default_rng(1).standard_normal((size, 3)) for size in (60, 20))
    entries = Entries(*np.nonzero(clicked), clicked[clicked > 0], (60, 20))
    found = settle_factors(LowRank(X, np.ones(3), Y), entries)
    assert found.U.dtype == found.V.dtype == np.float32
    np.testing.assert_allclose(found.U.T @ found.U, np.eye(3), atol=1e-5)
    np.testing.assert_allclose(found.to_dense(), fill_empty_rows(X, entries) @ Y.T, atol=1e-4)


@pytest.mark.parametrize("empty", [(5,), (0, 7, 59)])
def test_who_has_no_click_is_answered_as_who_is_unknown(empty):
    clicked = make_clicks(empty)
    model = ImplicitCompletion(random_state=0, rank=4).fit(clicked)
    unknown = model.model_.rank_for_average(6)
    popular = np.argsort(-clicked.sum(axis=0), kind="stable")
    assert len(set(unknown.columns) & set(popular[:8])) >= 5
    for row in empty:
        best = model.recommend(row, 6)
        np.testing.assert_array_equal(best.columns, unknown.columns)
        np.testing.assert_allclose(best.scores, unknown.scores, rtol=1e-4)
        assert set(model.recommend(row, 6, exclude=best.columns[:2]).columns).isdisjoint(
            best.columns[:2]
        )
    scores = model.predict(np.zeros((1, 20)))[0]
    np.testing.assert_allclose(scores[unknown.columns], unknown.scores, rtol=1e-4)
    reasons = model.explain(empty[0], 3)
    assert reasons.base == pytest.approx(scores[3], rel=1e-4)
