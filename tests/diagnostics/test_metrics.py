"""Errors and rankings against scikit-learn and against plain loops."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_error, ndcg_score, root_mean_squared_error

from pygeco import MatrixCompletion, evaluate, load
from pygeco.data import make_ratings
from pygeco.diagnostics import metrics


def test_errors_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    y, z = rng.standard_normal((2, 500)).astype(np.float32)
    found = metrics.errors(z, y)
    assert found.rmse == pytest.approx(root_mean_squared_error(y, z), rel=1e-6)
    assert found.mae == pytest.approx(mean_absolute_error(y, z), rel=1e-6)
    assert found.cells == 500


def test_intervals_hold_the_true_error_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(2000):
        found = metrics.errors(2.0 * rng.standard_normal(300), np.zeros(300))
        inside += found.low <= 2.0 <= found.high
    assert 0.92 < inside / 2000 < 0.97


def test_coverage_of_a_normal_distribution() -> None:
    y = 3.0 * np.random.default_rng(2).standard_normal(100_000)
    found = metrics.coverage(np.zeros(100_000), np.full(100_000, 3.0), y)
    assert found == pytest.approx(0.9, abs=0.005)


@given(
    st.integers(1, 6).flatmap(
        lambda users: st.tuples(
            st.lists(st.permutations(range(8)), min_size=users, max_size=users),
            st.lists(st.sets(st.integers(0, 9)), min_size=users, max_size=users),
        )
    ),
    st.integers(1, 8),
)
def test_rankings_are_those_of_the_definitions(case, k) -> None:
    orders, relevant = case
    lists = np.array([order[:k] for order in orders])
    users = np.array([u for u, items in enumerate(relevant) for _ in items], int)
    items = np.array([item for items in relevant for item in items], int)
    found = metrics.ranking(lists, users, items)
    some = [u for u, items in enumerate(relevant) if items]
    assert found.users == len(some)
    if not some:
        assert np.isnan(found.precision)
        return
    hits = [len(relevant[u] & set(lists[u].tolist())) for u in some]
    np.testing.assert_allclose(found.precision, np.mean([h / k for h in hits]))
    shares = [h / len(relevant[u]) for h, u in zip(hits, some, strict=True)]
    np.testing.assert_allclose(found.recall, np.mean(shares))
    gains = []
    for u in some:  # scikit-learn's, for scores that put the list first and in its order
        truth = np.array([[float(item in relevant[u]) for item in range(10)]])
        scores = np.zeros((1, 10))
        scores[0, lists[u]] = np.arange(k, 0, -1)
        gains.append(ndcg_score(truth, scores, k=k))
    np.testing.assert_allclose(found.ndcg, np.mean(gains))


def test_a_pair_that_is_given_twice_counts_once() -> None:
    lists, users, items = np.array([[2, 1], [0, 3]]), np.array([0, 0, 1]), np.array([2, 5, 0])
    once = metrics.ranking(lists, users, items)
    assert metrics.ranking(lists, np.tile(users, 3), np.tile(items, 3)) == once


def test_a_short_list_is_filled_without_hits() -> None:
    found = metrics.ranking(np.array([[2, -1, -1]]), np.array([0, 0]), np.array([2, 1]))
    assert found.precision == pytest.approx(1 / 3)
    assert found.recall == 0.5


def table(seed=0) -> pd.DataFrame:
    rows, cols, values, _ = make_ratings((200, 80), 6000, seed=seed)
    return pd.DataFrame({"user": rows, "item": cols, "rating": values})


def test_evaluation_by_a_plain_loop() -> None:
    whole = table()
    held = np.random.default_rng(0).random(len(whole)) < 0.2
    train, test = whole[~held], whole[held]
    model = MatrixCompletion(random_state=0).fit(train)
    found = evaluate(model, test, k=5)
    z = model.predict(test, return_std=True)
    assert found.errors.rmse == pytest.approx(root_mean_squared_error(test.rating, z.prediction))
    assert found.threshold == pytest.approx(train.rating.mean())
    inside = np.abs(z.prediction - test.rating) <= 1.6449 * z.deviation
    assert found.coverage == pytest.approx(inside.mean())
    assert 0.85 < found.coverage < 0.95
    hits, users = [], []
    for user, own in test[test.rating >= train.rating.mean()].groupby("user"):
        if user in model.row_ids_:
            liked = set(own.item) & set(model.column_ids_)
            best = model.recommend(user, 5).columns
            hits.append(len(liked & set(best)) / 5)
            users.append(user)
    assert found.ranking.precision == pytest.approx(np.mean(hits))
    assert found.ranking.users == len(users)
    everything = evaluate(model, test, k=5, threshold=-1.0)
    assert everything.ranking.users >= found.ranking.users


def test_unknown_ids_are_counted() -> None:
    model = MatrixCompletion(2, random_state=0).fit(table())
    new = pd.DataFrame({"user": [0, 9999], "item": [3, 3], "rating": [4.0, 4.0]})
    new.loc[0, "item"] = next(j for j in range(80) if j not in set(table().query("user == 0").item))
    found = evaluate(model, new)
    assert found.unknown == 1
    assert found.errors.cells == 2
    plain = MatrixCompletion(2, random_state=0).fit(make_ratings((20, 10), 60))
    with pytest.raises(ValueError, match="was not fitted from a table"):
        evaluate(plain, new)


def test_without_the_evidence_there_is_no_coverage() -> None:
    model = MatrixCompletion(2, penalty=None, random_state=0).fit(table())
    assert evaluate(model, table(1).head(50)).coverage is None


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (40, 300), (300, 40)])
def test_fitted_cells_are_known(shape) -> None:
    rng = np.random.default_rng(0)
    known = rng.random(shape) < 0.4
    known[0, 0] = known[-1, -1] = True
    X = np.where(known, rng.integers(1, 6, shape), np.nan)
    model = MatrixCompletion(1, penalty=None, random_state=0).fit(X)
    rows, cols = np.indices(shape)
    found = model.was_fitted(rows.reshape(-1), cols.reshape(-1))
    np.testing.assert_array_equal(found, known.reshape(-1))
    assert not model.was_fitted([-1, 0, -1], [0, -1, -1]).any()


def test_held_out_cells_stay_with_the_model_through_updates_and_files(tmp_path) -> None:
    whole = table()
    held = np.random.default_rng(0).random(len(whole)) < 0.2
    model = MatrixCompletion(2, random_state=0).fit(whole[~held]).keep_held_out(whole[held])
    model.partial_fit(pd.DataFrame({"user": [-5, 7], "item": [-3, -3], "rating": [3.0, 4.0]}))
    model = load(model.save(tmp_path / "m.geco") and tmp_path / "m.geco")
    rated = set(map(tuple, whole[["user", "item"]].values)) | {(-5, -3), (7, -3)}
    best = model.recommend(model.row_ids_, 500)
    listed = {
        (user, item)
        for user, items in zip(model.row_ids_, best.columns, strict=True)
        for item in items[np.isfinite(best.scores[np.flatnonzero(model.row_ids_ == user)[0]])]
    }
    assert not listed & rated
    assert len(listed) + len(rated) == model.factors_.shape[0] * model.factors_.shape[1]
    seen = model.recommend(model.row_ids_[:3], 500, exclude_seen=False)
    assert np.isfinite(seen.scores).all()
