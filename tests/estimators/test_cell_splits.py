"""Splits of each row's cells, as scikit-learn's tools take them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from pygeco import CellKFold, ImplicitCompletion, LeaveLastOut, MatrixCompletion, RowHoldOut, cells
from pygeco.data import make_ratings


def test_each_row_has_its_share_held_out() -> None:
    listed = cells(make_ratings((40, 30), 500))
    folds = list(RowHoldOut(3, test_size=0.25).split(listed))
    for fitted, held in folds:
        assert np.array_equal(np.sort(np.concatenate([fitted, held])), np.arange(500))
        for row in np.unique(listed.rows):
            count = np.sum(listed.rows == row)
            assert np.sum(listed.rows[held] == row) == min(count - 1, max(1, round(count / 4)))
    assert not np.array_equal(folds[0][1], folds[1][1])
    again = list(RowHoldOut(3, test_size=0.25).split(listed))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(folds, again, strict=True))


def test_the_last_are_left_out_and_what_follows_them_is_not_fitted() -> None:
    rows = np.array([0, 1, 0, 0, 1, 0, 2])
    times = np.array([4, 1, 3, 2, 0, 1, 9])
    listed = cells((rows, np.arange(7), np.ones(7)))
    first, second = LeaveLastOut(n_splits=2, times=times).split(listed)
    assert [x.tolist() for x in first] == [[2, 3, 4, 5, 6], [0, 1]]
    assert [x.tolist() for x in second] == [[3, 4, 5], [2]]  # row 1 has one left, row 2 none
    in_order = next(LeaveLastOut(2).split(listed))
    assert in_order[1].tolist() == [3, 5]
    with pytest.raises(ValueError, match=r"^times: has 3; give one for each of 7 cells"):
        next(LeaveLastOut(times=[1, 2, 3]).split(listed))
    with pytest.raises(ValueError, match=r"^count: must be at least 1"):
        next(LeaveLastOut(0).split(listed))
    with pytest.raises(ValueError, match=r"^count: must be at least 1, a whole number, not 1.5"):
        next(LeaveLastOut(1.5).split(listed))
    with pytest.raises(ValueError, match=r"^count: split 1 holds out nothing, .* than 4 cells"):
        next(LeaveLastOut(4).split(listed))
    with pytest.raises(ValueError, match=r"^X: no row has more than one cell"):
        next(RowHoldOut().split(listed[[0, 1, 6]]))
    with pytest.raises(ValueError, match=r"^test_size: must be between"):
        next(RowHoldOut(test_size=1.0).split(listed))


@pytest.mark.parametrize("cv", [RowHoldOut(2), LeaveLastOut(2, n_splits=2)])
def test_scikit_learn_takes_them(cv) -> None:
    listed = cells(make_ratings((30, 20), 250))
    scores = cross_val_score(MatrixCompletion(1, penalty=None, random_state=0), listed, cv=cv)
    assert scores.shape == (2,)
    assert np.isfinite(scores).all()
    assert type(cv).__name__ in repr(cv)
    assert clone(cv, safe=False).n_splits == 2


@pytest.mark.parametrize("cv", [CellKFold(2), RowHoldOut(2), LeaveLastOut()])
@pytest.mark.parametrize("count", [30, 200])
def test_scikit_learn_is_not_given_cells_of_a_matrix_as_rows(cv, count) -> None:
    """Some 30 cells in 40 rows would be split as rows, and 200 end in an index out of range."""
    rows, cols, values, shape = make_ratings((40, 30), count)
    sparse = sp.csr_array((values, (rows, cols)), shape)
    table = np.full(shape, np.nan)
    table[rows, cols] = values
    model = MatrixCompletion(1, random_state=0)
    for X in (sparse, table, pd.DataFrame(table)):
        assert len(list(cv.split(X))) > 0
        for ask in (cross_val_score, cross_validate):
            with pytest.raises(ValueError, match=r"^X: .* pass cells\(X\) in place of a matrix"):
                ask(model, X, cv=cv)
        with pytest.raises(ValueError, match="pass cells"):
            GridSearchCV(model, {"rank": [1, 2]}, cv=cv).fit(X)
    frame = pd.DataFrame({"user": rows, "item": cols, "rating": values})
    for X in (cells(sparse), frame):
        assert np.all(np.isfinite(cross_val_score(model, X, cv=cv)))


@pytest.mark.parametrize("cv", [CellKFold(3), RowHoldOut(2), LeaveLastOut()])
def test_tables_of_clicks_are_split_as_those_of_ratings_are(cv) -> None:
    rows, cols, values, _ = make_ratings((40, 30), 300)
    ratings = pd.DataFrame({"user": rows, "item": cols, "rating": values})
    pairs, wanted = ratings[["user", "item"]], list(cv.split(ratings))
    for table in (pairs, pairs.assign(timestamp=np.arange(300))[["timestamp", "item", "user"]]):
        for found, expected in zip(cv.split(table), wanted, strict=True):
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])
    model = ImplicitCompletion(rank=2, spectral=False, random_state=0)
    for score, (fitted, held_out) in zip(cross_val_score(model, pairs, cv=cv), wanted, strict=True):
        assert score == clone(model).fit(pairs.iloc[fitted]).score(pairs.iloc[held_out])
