"""scikit-learn's searches and cross-validation over cells."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)

from pygeco import CellKFold, MatrixCompletion, Ridge, cells
from pygeco.data import make_ratings


@pytest.fixture(scope="module")
def ratings():
    return make_ratings((40, 30), 500, rank=2, noise=0.4, dtype=np.float64)


def forms(ratings):
    rows, cols, values, shape = ratings
    sparse = sp.csr_array((values, (rows, cols)), shape)
    dense = np.full(shape, np.nan)
    dense[rows, cols] = values
    order = np.lexsort((cols, rows))
    triplets = rows[order], cols[order], values[order], shape
    pairs = np.column_stack([rows, cols])[order]
    return {
        "sparse": cells(sparse),
        "dense": cells(dense),
        "triplets": cells(triplets),
        "pairs": cells(pairs, values[order], shape),
    }


def small(**settings):
    return MatrixCompletion(**{"rank": 2, "penalty": Ridge(1e-3), "random_state": 0} | settings)


@pytest.mark.parametrize("form", ["sparse", "dense", "triplets", "pairs"])
def test_every_form_lists_the_same_cells(ratings, form) -> None:
    found = forms(ratings)[form]
    first = forms(ratings)["triplets"]
    for mine, other in zip(found.triplets[:3], first.triplets[:3], strict=True):
        np.testing.assert_array_equal(mine, other)
    assert found.matrix_shape == ratings.shape
    assert len(found) == found.shape[0] == 500
    part = found[np.array([3, 1])]
    assert part.matrix_shape == ratings.shape
    np.testing.assert_array_equal(part.values, first.values[[3, 1]])
    assert len(found[7]) == 1
    model, same = small().fit(found), small().fit(tuple(ratings))
    np.testing.assert_array_equal(model.to_dense(), same.to_dense())
    np.testing.assert_array_equal(model.predict(found), same.predict(found.rows, found.cols))
    assert model.score(found) == same.score(tuple(ratings))


@pytest.mark.parametrize("kind", [sp.coo_array, sp.coo_matrix])
def test_repeated_cells_are_left_to_the_policy(kind) -> None:
    X = kind(([1.0, 5.0, 2.0, 4.0], ([1, 0, 1, 1], [2, 1, 0, 2])), shape=(2, 3))
    found = cells(X)
    assert list(zip(found.rows, found.cols, found.values, strict=True)) == [
        (0, 1, 5.0),
        (1, 0, 2.0),
        (1, 2, 1.0),
        (1, 2, 4.0),
    ]
    with pytest.raises(ValueError, match=r"cell \(1, 2\) is given more than once"):
        small(rank=1).fit(found)
    last = small(rank=1, duplicates="last").fit(found)
    np.testing.assert_array_equal(last.seen_.values, [5, 2, 4])


def test_every_cell_is_in_exactly_one_test_fold(ratings) -> None:
    listed = forms(ratings)["sparse"]
    folds = list(CellKFold(4, random_state=3).split(listed))
    assert len(folds) == 4
    held = np.sort(np.concatenate([test for _, test in folds]))
    np.testing.assert_array_equal(held, np.arange(500))
    for train, test in folds:
        assert not set(train) & set(test)
        assert len(train) + len(test) == 500
        assert len(np.unique(listed.rows[test])) > 20  # cells of many rows, not rows
    again = list(CellKFold(4, random_state=3).split(forms(ratings)["dense"]))
    for one, other in zip(folds, again, strict=True):
        np.testing.assert_array_equal(one[1], other[1])
    other = next(iter(CellKFold(4, random_state=4).split(listed)))
    assert set(other[1]) != set(folds[0][1])
    rows, cols, values, shape = ratings
    matrix = sp.csr_array((values, (rows, cols)), shape)
    np.testing.assert_array_equal(next(CellKFold(4, random_state=3).split(matrix))[1], folds[0][1])


@pytest.mark.parametrize("form", ["sparse", "dense", "triplets", "pairs"])
def test_scores_are_those_by_hand(ratings, form) -> None:
    listed = forms(ratings)[form]
    cv = CellKFold(3, random_state=0)
    scores = cross_val_score(small(), listed, cv=cv)
    for (train, test), score in zip(cv.split(listed), scores, strict=True):
        model = small().fit(listed[train])
        error = model.predict(listed.rows[test], listed.cols[test]) - listed.values[test]
        assert score == pytest.approx(-np.sqrt(np.mean(error**2)), rel=1e-12)


def test_a_search_finds_the_best_of_its_grid(ratings) -> None:
    listed = forms(ratings)["sparse"]
    cv = CellKFold(3)
    grid = {"rank": [1, 2], "penalty": [Ridge(1e-3), Ridge(1.0)]}
    search = GridSearchCV(small(), grid, cv=cv).fit(listed)
    by_hand = {
        (rank, penalty.alpha): cross_val_score(small(rank=rank, penalty=penalty), listed, cv=cv)
        for rank in grid["rank"]
        for penalty in grid["penalty"]
    }
    best = max(by_hand, key=lambda key: by_hand[key].mean())
    assert (search.best_params_["rank"], search.best_params_["penalty"].alpha) == best
    assert search.best_score_ == pytest.approx(by_hand[best].mean(), rel=1e-12)
    assert search.best_estimator_.factors_.shape == ratings.shape
    assert search.predict(listed).shape == (500,)


def test_other_tools_and_scorers(ratings) -> None:
    listed = forms(ratings)["pairs"]
    scoring = {"rmse": "neg_root_mean_squared_error", "mae": "neg_mean_absolute_error"}
    found = cross_validate(small(), listed, listed.values, cv=CellKFold(3), scoring=scoring)
    own = cross_val_score(small(), listed, cv=CellKFold(3))
    np.testing.assert_allclose(found["test_rmse"], own, rtol=1e-12)
    folds = KFold(3, shuffle=True, random_state=0)
    held = cross_val_predict(small(biases=True), listed, listed.values, cv=folds)
    assert np.sqrt(np.mean((held - listed.values) ** 2)) < listed.values.std()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((np.zeros((3, 2)), np.zeros(3)), r"^X: with y, expected pairs of integers"),
        ((np.zeros((3, 3), int), np.zeros(3)), r"^X: with y, expected pairs of integers"),
        ((([0], [1]),), r"^X: a tuple must be"),
        ((([0, 1], [1], [2.0]),), r"^X: rows, cols and values must be of one length"),
        ((np.zeros((2, 2)), None, (2, 2)), r"^shape: goes with pairs and y"),
        ((np.zeros(3),), r"^X: expected a matrix of real numbers"),
    ],
)
def test_bad_input(arguments, match) -> None:
    with pytest.raises(ValueError, match=match):
        cells(*arguments)


def low_rank(m: int, n: int, missing: float) -> np.ndarray:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n)) + 0.3 * rng.standard_normal(
        (m, n)
    )
    return np.where(rng.random(X.shape) < missing, np.nan, X)


@pytest.mark.parametrize(("folds", "sparse"), [(2, False), (2, True), (3, False)])
def test_the_default_score_of_a_fold_of_rows_is_that_of_new_rows(folds, sparse) -> None:
    given = X = low_rank(60, 25, 0.3)
    with warnings.catch_warnings():  # folds as large as the fit: taken for new rows, and told
        warnings.filterwarnings("ignore", message="X: has other values than the fit")
        if sparse:
            given = sp.csr_array((X[~np.isnan(X)], np.nonzero(~np.isnan(X))), X.shape)
        scores = cross_val_score(MatrixCompletion(2, random_state=0), given, cv=KFold(folds))
        search = GridSearchCV(MatrixCompletion(random_state=0), {"rank": [1, 2]}, cv=KFold(folds))
        search.fit(given)
    assert np.all((scores < -0.28) & (scores > -0.4))  # the noise is 0.3
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["rank"] >= 2


def test_the_rows_of_the_fit_are_told_from_new_ones() -> None:
    X = low_rank(60, 25, 0.3)
    model = MatrixCompletion(2, random_state=0).fit(X)
    assert model.score(X) == pytest.approx(model.score(cells(X)))
    held = np.where(np.isnan(X), low_rank(60, 25, 0.0), np.nan)
    assert model.score(held) == pytest.approx(model.score(cells(held)))
    other = np.random.default_rng(0).permutation(X)
    with pytest.warns(UserWarning, match=r"X: has other values .* pass pygeco.cells\(X\)"):
        new = model.score(other)
    assert new == pytest.approx(model.score(other[:59]), abs=0.02)
    assert new > model.score(cells(other)) + 0.5  # the fitted rows have nothing to do with them
