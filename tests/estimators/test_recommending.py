"""Top-k lists against plain sorting."""

import numpy as np
import pytest

from pygeco import MatrixCompletion
from pygeco.data import make_ratings
from pygeco.engines.cpu.ranking import top_k


@pytest.fixture(scope="module")
def model():
    data = make_ratings((120, 90), 2500, 3, 0.4, 0)
    return MatrixCompletion(random_state=0).fit(tuple(data)), data


@pytest.mark.parametrize("k", [1, 3, 50])
def test_top_k_sorts(k) -> None:
    rng = np.random.default_rng(k)
    scores = rng.integers(0, 20, (40, 50)).astype(np.float32)
    scores[0, :] = -np.inf
    scores[1, 3:] = -np.inf
    scores[2, 5] = np.nan
    found, values = np.empty((40, k), np.int64), np.empty((40, k), np.float32)
    top_k(scores, found, values)
    for row in range(3, 40):
        order = np.lexsort((np.arange(50), -scores[row]))[:k]
        np.testing.assert_array_equal(found[row], order)
        np.testing.assert_array_equal(values[row], scores[row, order])
    assert (found[0] == -1).all()
    assert (found[1] >= 0).sum() == min(k, 3)
    assert 5 not in found[2]


@pytest.mark.parametrize("exclude", [True, False])
def test_recommendations_are_the_best_predictions(model, exclude) -> None:
    fitted, data = model
    rows = np.array([5, 0, 77])
    ranking = fitted.recommend(rows, k=7, exclude_seen=exclude)
    for row, columns, scores in zip(rows, *ranking, strict=True):
        whole = fitted.predict(np.full(90, row), np.arange(90)).astype(float)
        if exclude:
            whole[data.cols[data.rows == row]] = -np.inf
        best = np.sort(whole)[::-1][:7]
        np.testing.assert_allclose(scores, best, atol=1e-5)
        np.testing.assert_allclose(whole[columns], best, atol=1e-5)
        assert len(set(columns)) == 7


@pytest.mark.parametrize("biases", ["auto", ("column",), False], ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e6, -1e6])
def test_a_large_offset_changes_no_list_and_scores_are_predictions(offset, biases) -> None:
    rows, cols, values, shape = make_ratings((60, 50), 1200, 3, 0.4, 0)
    given = (rows, cols, values.astype(float) + offset, shape)
    settings = {"penalty": None, "biases": biases, "clip": False}  # no ties at the end of the scale
    fitted = MatrixCompletion(4, random_state=0, **settings).fit(given)
    ranking = fitted.recommend(np.arange(60), k=8, exclude_seen=False)
    expected = np.argsort(-fitted.to_dense(), axis=1, kind="stable")[:, :8]
    np.testing.assert_array_equal(ranking.columns, expected)
    predicted = fitted.predict(np.repeat(np.arange(60), 8), ranking.columns.reshape(-1))
    np.testing.assert_array_equal(ranking.scores.reshape(-1), predicted)


def test_a_column_is_no_reason_for_itself(model) -> None:
    fitted, data = model
    row, known = data.rows[0], data.cols[data.rows == data.rows[0]]
    reasons = fitted.explain(row, known[0], k=1000)
    assert set(reasons.columns) == set(known[1:])
    rest = (data.rows != row) | (data.cols != known[0])
    side = fitted.transform((data.rows[rest], data.cols[rest], data.values[rest], data.shape))
    without = fitted.inverse_transform(side[row : row + 1])[0, known[0]]
    assert reasons.base + reasons.contributions.sum() == pytest.approx(without, abs=1e-4)


def test_one_row_gives_one_list_and_k_is_bounded(model) -> None:
    fitted, data = model
    ranking = fitted.recommend(4, k=500)
    seen = (data.rows == 4).sum()
    assert ranking.columns.shape == (90,)
    assert (ranking.columns >= 0).sum() == 90 - seen
    assert np.isneginf(ranking.scores[90 - seen :]).all()


def test_similar_columns_have_the_largest_cosines(model) -> None:
    fitted, _ = model
    V = (fitted.factors_.V * fitted.factors_.s).astype(float)
    cosine = V @ V.T / np.outer(np.linalg.norm(V, axis=1), np.linalg.norm(V, axis=1))
    np.fill_diagonal(cosine, -np.inf)
    ranking = fitted.similar(np.array([3, 8]), k=4)
    for column, scores in zip((3, 8), ranking.scores, strict=True):
        np.testing.assert_allclose(scores, np.sort(cosine[column])[::-1][:4], atol=1e-5)
    assert fitted.similar(3, k=4).columns.tolist() == ranking.columns[0].tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.recommend(120), "rows: index 120 is outside 0 … 119"),
        (lambda m: m.recommend([0.5]), "rows: expected integers"),
        (lambda m: m.recommend(0, k=0), "k: expected an integer of at least 1"),
        (lambda m: m.similar(-1), "columns: index -1 is outside"),
        (lambda m: m.explain(0, 90), "column: index 90 is outside"),
    ],
)
def test_bad_arguments_are_named(model, call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call(model[0])


def test_candidates_and_columns_left_out(model) -> None:
    fitted, _ = model
    rows = np.array([5, 77])
    some, never = [3, 8, 11, 40, 41, 80], [8, 40]
    found = fitted.recommend(rows, 10, items=some, exclude=never, exclude_seen=False)
    assert found.columns.shape == (2, 4)
    for row, columns, scores in zip(rows, *found, strict=True):
        assert set(columns) == set(some) - set(never)
        np.testing.assert_allclose(scores, fitted.predict(np.full(4, row), columns), atol=1e-5)
        assert (np.diff(scores) <= 0).all()
    free = fitted.recommend(rows, 90, exclude=never)
    assert not np.isin(never, free.columns).any()
    seen = fitted.recommend(rows, 10, items=some)
    for row, columns, scores in zip(rows, *seen, strict=True):
        listed = columns[np.isfinite(scores)]
        assert not fitted.was_fitted(np.full(len(listed), row), listed).any()
    with pytest.raises(ValueError, match="items: none is left"):
        fitted.recommend(0, items=[3], exclude=[3])
    with pytest.raises(ValueError, match="exclude: index 90 is outside"):
        fitted.recommend(0, exclude=[90])


def test_similar_rows_have_the_largest_cosines(model) -> None:
    fitted, _ = model
    U = (fitted.factors_.U * fitted.factors_.s).astype(float)
    unit = U / np.linalg.norm(U, axis=1, keepdims=True)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -np.inf)
    found = fitted.similar_rows([3, 8], k=4)
    for row, rows, scores in zip((3, 8), *found, strict=True):
        np.testing.assert_allclose(scores, np.sort(cosine[row])[::-1][:4], atol=1e-5)
        np.testing.assert_allclose(cosine[row, rows], scores, atol=1e-5)
    assert list(found.to_pandas()) == ["row", "place", "similar_row", "similarity"]
