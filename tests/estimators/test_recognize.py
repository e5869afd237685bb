"""A table is never taken for a matrix in silence; marks and clicks are never fitted in silence."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from pygeco import CellKFold, MatrixCompletion, cells
from pygeco.data import make_ratings
from pygeco.errors import ClicksWarning, ColumnWarning
from pygeco.estimators._recognize import looks_like_triples

R = make_ratings((60, 40), 900, dtype=np.float64)
USERS, ITEMS = R.rows * 7 + 100, R.cols * 3 + 5
STARS = np.clip(np.round(R.values), 1, 5)
TIMES = 1_200_000_000 + np.random.default_rng(0).integers(0, 10**8, 900)


def frame(*names: str, text: bool = False) -> pd.DataFrame:
    items = [f"film {k}" for k in ITEMS] if text else ITEMS
    given = dict(zip(names, (USERS, items, STARS, TIMES), strict=False))
    return pd.DataFrame(given)


def small(**settings) -> MatrixCompletion:
    return MatrixCompletion(**{"rank": 2, "random_state": 0, **settings})


PLAIN = small().fit(frame("user", "item", "rating"))


def same(model: MatrixCompletion) -> bool:
    return model.predict(USERS[:9], model.column_ids_[:9]).tolist() == (
        PLAIN.predict(USERS[:9], PLAIN.column_ids_[:9]).tolist()
    )


@pytest.mark.parametrize(
    "names",
    [
        ("User_ID", "Anime_ID", "Feedback", "timestamp"),
        ("member_no", "ISBN", "Book-Rating", "date"),
        ("visitor", "Track Id", "stars", "when"),
    ],
)
@pytest.mark.parametrize("kind", [lambda t: t, pl.from_pandas, pa.Table.from_pandas])
def test_tables_are_recognised_by_their_names(names, kind) -> None:
    assert same(small().fit(kind(frame(*names))))


def test_values_may_come_as_y() -> None:
    pairs = frame("user", "item")
    model = small().fit(pairs, pd.Series(STARS, name="stars"))
    assert same(model)
    assert model.table_columns_ == ("user", "item", "stars")
    assert model.score(pairs, STARS) == PLAIN.score(frame("user", "item", "rating"))
    array = np.column_stack([USERS, ITEMS])
    for given in (array, array.astype(float)):
        model = small().fit(given, STARS)
        assert same(model)
        assert model.score(given, STARS) == PLAIN.score(frame("user", "item", "rating"))
        found = model.predict(given[:9])
        np.testing.assert_array_equal(found, PLAIN.predict(USERS[:9], ITEMS[:9]))
    tuples = small().fit((R.rows, R.cols), STARS)
    np.testing.assert_array_equal(
        tuples.to_dense(), small().fit((R.rows, R.cols, STARS)).to_dense()
    )
    with pytest.raises(ValueError, match=r"^y: X has values already; leave y out"):
        small().fit((R.rows, R.cols, STARS), STARS)
    with pytest.raises(ValueError, match=r"^y: expected 900 values, one for each pair"):
        small().fit(pairs, STARS[:7])
    with pytest.raises(ValueError, match=r"^y: expected numbers"):
        small().fit(pairs, ["good"] * 900)


def test_y_of_a_matrix_is_a_target_of_others() -> None:
    X = np.random.default_rng(0).standard_normal((30, 5))
    y = np.arange(30)
    np.testing.assert_array_equal(small().fit(X, y).to_dense(), small().fit(X).to_dense())
    make_pipeline(small()).fit_transform(X[:, :2], y)


def test_columns_by_position_are_said_aloud() -> None:
    with pytest.warns(ColumnWarning, match=r"columns=\('who', 'what', 'how much'\) to say so"):
        model = small().fit(frame("who", "what", "how much", "date", text=True))
    assert model.row_ids_.tolist() == PLAIN.row_ids_.tolist()
    with pytest.warns(ColumnWarning, match="'how much' for values"):
        assert same(small().fit(frame("user", "item", "how much")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small().fit(frame("who", "what", "how much"), columns=("who", "what", "how much"))


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("a", "b", "c"), False),
        (("a", "b", "c", "d"), False),
        (("user", "b", "c"), False),
        (("user", "b", "rating", "d"), False),
    ],
)
def test_what_is_not_clear_is_refused_with_the_argument_to_write(names, text) -> None:
    X = frame(*names, text=text)
    if names[-1] == "d":
        X["d"] = R.values  # no time
    with pytest.raises(ValueError, match=r"pass columns=\('.*'\), or what is right") as told:
        small().fit(X)
    assert "columns='matrix'" in str(told.value)
    assert same(small().fit(X, columns=names[:3]))
    with pytest.raises(ValueError, match="columns: expected three"):
        small().fit(X, columns="rows")


def test_triples_in_an_array_are_refused_or_taken_as_told() -> None:
    X = np.column_stack([USERS, ITEMS, STARS])
    timed = np.column_stack([X, TIMES])
    for given in (X, timed, X[:100], X.astype(int), X[:, [2, 0, 1]]):
        with pytest.raises(ValueError, match=r"looks like triples .* pass columns=\(0, 1, 2\)"):
            small().fit(given)
        with pytest.raises(ValueError, match="looks like triples"):
            cells(given)
    model = small().fit(X, columns=(0, 1, 2))
    assert same(model)
    assert model.score(X) == PLAIN.score(frame("user", "item", "rating"))
    assert small().fit(X, columns="matrix").factors_.shape == (900, 3)


@pytest.mark.parametrize("seed", range(5))
def test_matrices_are_no_triples(seed) -> None:
    rng = np.random.default_rng(seed)
    for X in (
        rng.standard_normal((100, 3)),
        rng.integers(1, 6, (100, 3)),  # a survey
        rng.integers(0, 256, (20_000, 3)) // 8,  # pixels
        rng.integers(0, 20, (20, 5)),
        np.where(rng.random((50, 3)) < 0.3, np.nan, rng.integers(0, 9, (50, 3))),
    ):
        assert not looks_like_triples(list(X.T))


def test_cells_of_a_table_keep_their_ids() -> None:
    table = frame("User_ID", "Anime_ID", "Feedback", "timestamp")
    listed = cells(table)
    assert len(listed) == 900
    model = small().fit(listed)
    assert same(model)
    np.testing.assert_array_equal(model.predict(listed), PLAIN.predict(USERS, ITEMS))
    assert model.score(listed) == pytest.approx(model.score(table))
    assert PLAIN.score(listed[:50]) == pytest.approx(PLAIN.score(table[:50]))
    again = cells(frame("a", "b"), STARS, columns=("a", "b"))
    np.testing.assert_array_equal(again.values, STARS)
    with pytest.raises(ValueError, match="its cells have ids, but the model was not fitted from"):
        small().fit((R.rows, R.cols, STARS)).score(listed)


def test_cross_validation_over_tables() -> None:
    table = frame("User_ID", "Anime_ID", "Feedback", "timestamp")
    cv = KFold(3, shuffle=True, random_state=0)
    by_hand = []
    for train, test in cv.split(table):
        model = small().fit(table.iloc[train])
        found = model.predict(table.iloc[test]).prediction - STARS[test]
        by_hand.append(-np.sqrt(np.mean(found**2)))
    pairs = table[["User_ID", "Anime_ID"]]
    array = np.column_stack([USERS, ITEMS])
    for X, y in ((table, None), (pairs, table.Feedback), (array, STARS)):
        np.testing.assert_allclose(cross_val_score(small(), X, y, cv=cv), by_hand, rtol=1e-6)
    scores = cross_val_score(small(), cells(table), cv=CellKFold(3))
    assert np.all(np.abs(scores - np.mean(by_hand)) < 0.2)
    search = GridSearchCV(small(), {"rank": [1, 2]}, cv=CellKFold(3)).fit(array, STARS)
    assert np.isfinite(search.best_score_)


MARKED = [(-1.0, 0.2), (0.0, 0.6), (99.0, 0.1)]


def with_marks(mark: float, share: float) -> np.ndarray:
    hit = np.random.default_rng(1).random(900) < share
    ten = np.clip(np.round(2 * R.values), 1, 10)
    return np.where(hit, mark, ten)


@pytest.mark.parametrize(("mark", "share"), MARKED)
def test_marks_for_no_rating_are_refused_or_left_out(mark, share) -> None:
    values = with_marks(mark, share)
    keep = values != mark
    table = frame("user", "item").assign(rating=values)
    dense = np.full((60, 40), np.nan)
    dense[R.rows, R.cols] = values
    part = np.full((60, 40), np.nan)
    part[R.rows[keep], R.cols[keep]] = values[keep]
    shape = (60, 40)
    forms = {
        "table": (table, table[keep]),
        "tuple": (
            (R.rows, R.cols, values, shape),
            (R.rows[keep], R.cols[keep], values[keep], shape),
        ),
        "cells": (cells((R.rows, R.cols, values, shape)),) * 2,
        "sparse": tuple(
            sp.csr_array((v, (r, c)), shape)
            for r, c, v in (
                (R.rows, R.cols, values),
                (R.rows[keep], R.cols[keep], values[keep]),
            )
        ),
        "dense": (dense, part),
    }
    forms["cells"] = forms["cells"][0], forms["cells"][0][keep]
    weights = np.random.default_rng(2).random(900)
    for name, (given, wanted) in forms.items():
        with pytest.raises(ValueError, match=rf"missing_values={mark:g} to leave them out"):
            small().fit(given)
        plain = small().fit(wanted)
        model = small(missing_values=mark).fit(given)
        np.testing.assert_array_equal(model.to_dense(), plain.to_dense(), err_msg=name)
        assert model.seen_.values.min() >= 1
        kept = small(missing_values=None).fit(given)
        assert mark in kept.seen_.values
        if name in ("table", "tuple", "cells"):
            one = small(missing_values=[mark, 77]).fit(given, sample_weight=weights)
            two = small().fit(wanted, sample_weight=weights[keep])
            np.testing.assert_array_equal(one.to_dense(), two.to_dense(), err_msg=name)
    model = small(missing_values=mark).fit(table)
    assert model.score(table) == model.score(table[keep])
    more = frame("user", "item").assign(rating=values).iloc[:20]
    np.testing.assert_array_equal(
        small(missing_values=mark).fit(table).partial_fit(more).to_dense(),
        small(missing_values=mark).fit(table).partial_fit(more[keep[:20]]).to_dense(),
    )


@pytest.mark.parametrize(
    "values",
    [
        np.repeat([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [30, 20, *[50] * 9]),  # a true 0 to 10
        np.repeat([0, 1, 2, 3, 7], [800, 80, 15, 4, 1]),  # counts
        np.repeat([1, 2, 3, 9], [800, 80, 15, 5]),
        np.repeat([-2, -1, 0, 1, 2], 100),
        np.repeat([-1, 0, 1], 100),
        np.repeat([-1, 1], 100),
        np.repeat([0, 1], [900, 100]),
        np.repeat(np.arange(0.5, 5.5, 0.5), 10),
        np.random.default_rng(0).standard_normal(1000),
        np.random.default_rng(0).poisson(1.5, 1000),
        np.repeat([10, 99], 50),
    ],
)
def test_true_scales_have_no_marks(values) -> None:
    from pygeco.io.value_scale import find_mark

    assert find_mark(np.random.default_rng(0).permutation(values)) is None


@pytest.mark.parametrize("wrong", ["none", "-1", [[1]], object()])
def test_wrong_missing_values(wrong) -> None:
    with pytest.raises(ValueError, match=r"^missing_values: expected 'auto', None, a number"):
        small(missing_values=wrong).fit(frame("user", "item", "rating"))


def test_clicks_are_named() -> None:
    with pytest.raises(ValueError, match=r"every value is 1, so these are clicks .* no estimator"):
        small().fit(frame("user", "item").assign(rating=1))
    with pytest.warns(ClicksWarning, match="every value is 1, so these are clicks"):
        small().fit(sp.csr_array((np.ones(900), (R.rows, R.cols)), (60, 40)))
