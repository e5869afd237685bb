"""A table is never taken for a matrix in silence; marks and clicks are never fitted in silence."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from frame_cases import ITEMS, STARS, TIMES, USERS, R, frame, small
from pygeco import CellKFold, ImplicitCompletion, MatrixCompletion, cells
from pygeco.errors import ColumnWarning
from pygeco.estimators._unnamed_numbers import looks_like_triples

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
def test_tables_are_recognized_by_their_names(names, kind) -> None:
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


def test_values_with_the_labels_in_another_order_are_refused() -> None:
    """They were taken by position, where pandas goes by label."""
    X, y = frame("user", "item"), pd.Series(STARS)
    mixed = y.sample(frac=1, random_state=0)
    for name, beside in (
        ("y", {"y": mixed}),
        ("sample_weight", {"y": y, "sample_weight": mixed}),
        ("times", {"y": y, "times": mixed}),
    ):
        with pytest.raises(ValueError, match=rf"^{name}: its index .* {name}\.loc\[X\.index\]"):
            small().fit(X, **beside)
    model = small().fit(X, mixed.loc[X.index])
    assert same(model)
    with pytest.raises(ValueError, match=r"^y: its index"):
        model.score(X, mixed)
    for other in (STARS, y.set_axis(range(1000, 1900))):  # by position
        assert same(small().fit(X, other))


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
    """Without time, which by chance says something of a third of so few cells."""
    table = frame("User_ID", "Anime_ID", "Feedback", "timestamp")
    cv = KFold(3, shuffle=True, random_state=0)
    by_hand = []
    for train, test in cv.split(table):
        model = small(time=False).fit(table.iloc[train])
        found = model.predict(table.iloc[test]).prediction - STARS[test]
        by_hand.append(-np.sqrt(np.mean(found**2)))
    pairs = table[["User_ID", "Anime_ID"]]
    array = np.column_stack([USERS, ITEMS])
    for X, y in ((table, None), (pairs, table.Feedback), (array, STARS)):
        np.testing.assert_allclose(
            cross_val_score(small(time=False), X, y, cv=cv), by_hand, rtol=1e-6
        )
    scores = cross_val_score(small(time=False), cells(table), cv=CellKFold(3))
    assert np.all(np.abs(scores - np.mean(by_hand)) < 0.2)
    search = GridSearchCV(small(time=False), {"rank": [1, 2]}, cv=CellKFold(3)).fit(array, STARS)
    assert np.isfinite(search.best_score_)


@pytest.mark.parametrize("kind", [list, np.stack])
def test_a_list_of_triplets_is_no_matrix_of_three_rows(kind) -> None:
    triplets = kind([R.rows, R.cols, STARS])
    for take in (small().fit, cells):
        with pytest.raises(ValueError, match=r"^X: 3 lines of 900 numbers .* pass a tuple of them"):
            take(triplets)
    assert small().fit(triplets, columns="matrix").factors_.shape == (3, 900)
    answers = np.random.default_rng(0).integers(1, 6, (3, 900))
    assert small().fit(answers).factors_.shape == answers.shape


@pytest.mark.parametrize("kind", [MatrixCompletion, ImplicitCompletion])
@pytest.mark.parametrize(
    ("X", "words"),
    [
        ({"user": ["a"], "item": ["b"]}, "a dict is no table"),
        ([["a", "b"], ["c"]], "of one length"),
    ],
)
def test_what_is_no_table_is_named(kind, X, words):
    with pytest.raises(ValueError, match=f"^X: .*{words}"):
        kind().fit(X)
