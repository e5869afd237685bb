"""Cold start: predictions and lists for ids that were not fitted, by their attributes."""

import numpy as np
import pandas as pd
import pytest

from pygeco import MatrixCompletion

GENRES = np.array(["comedy", "drama", "horror"])
TASTE = np.array([[1.5, 0.0, -1.5], [-1.5, 0.5, 1.5]])


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    users = pd.DataFrame(
        {"user": [f"u{t:03d}" for t in range(150)], "sex": rng.choice(["f", "m"], 150)}
    )
    users["age"] = rng.integers(18, 80, 150)
    items = pd.DataFrame({"item": 10 * np.arange(60), "genre": rng.choice(GENRES, 60)})
    kind = (users["sex"] == "m").to_numpy().astype(int)
    genre = np.searchsorted(GENRES, items["genre"])
    Z = 3 + TASTE[kind][:, genre] + 0.3 * rng.standard_normal((150, 60))
    rows, cols = np.nonzero(rng.random((150, 60)) < 0.3)
    some = (rows < 120) & (cols < 50)
    rows, cols = rows[some], cols[some]
    ratings = pd.DataFrame(
        {
            "user": users["user"].to_numpy()[rows],
            "item": items["item"].to_numpy()[cols],
            "rating": (Z + 0.3 * rng.standard_normal(Z.shape))[rows, cols],
        }
    )
    return ratings, users, items, Z


def fit(world, **settings):
    ratings, users, items, _ = world
    known = {"row_attributes": users[:120], "column_attributes": items[:50]}
    return MatrixCompletion(random_state=0, clip=False, **settings).fit(ratings, **known)


@pytest.fixture(scope="module")
def model(world):
    return fit(world)


def cells(world, rows, cols):
    _, users, items, Z = world
    i, j = (x.ravel() for x in np.meshgrid(rows, cols, indexing="ij"))
    return users["user"].to_numpy()[i], items["item"].to_numpy()[j], Z[i, j]


@pytest.mark.parametrize("posterior", [0, 5])
def test_new_rows_and_columns_are_predicted_by_their_attributes(world, posterior):
    model = fit(world, posterior=posterior)
    _, users, items, _ = world
    new = {"new_rows": users[120:], "new_columns": items[50:]}
    for rows, cols in ((range(120, 150), range(50)), (range(120), range(50, 60))):
        i, j, expected = cells(world, rows, cols)
        found, deviation = model.predict(i, j, return_std=True, **new)
        assert np.sqrt(np.mean((found - expected) ** 2)) < 0.5
        # The deviation is that of a rating, whose own noise is 0.3.
        noisy = expected + 0.3 * np.random.default_rng(1).standard_normal(len(expected))
        assert 0.8 < np.mean(np.abs(noisy - found) < 1.645 * deviation) < 0.99
    i, j, _ = cells(world, range(120), range(50))
    np.testing.assert_array_equal(model.predict(i, j, **new), model.predict(i, j))
    none = {"new_rows": users[:0], "new_columns": items[:0]}
    np.testing.assert_array_equal(model.predict(i, j, **none), model.predict(i, j))


def test_draws_leave_the_doubt_of_lines_without_cells_to_the_evidence(world):
    """Draws know them by a prior that does not count rows by their cells: it is too narrow."""
    ratings, users, items, _ = world
    settings = {"random_state": 0, "clip": False, "posterior": 4}
    model = MatrixCompletion(**settings).fit(ratings, row_attributes=users, column_attributes=items)
    for rows, cols, is_cold in (
        (range(120, 150), range(60), True),
        (range(150), range(50, 60), True),
        (range(120), range(50), False),
    ):
        ids = cells(world, rows, cols)[:2]
        i = np.searchsorted(model.row_ids_, ids[0])
        j = np.searchsorted(model.column_ids_, ids[1])
        deviation = model.predict(*ids, return_std=True)[1]
        wide = np.sqrt(model.posterior_.variance(i, j))
        assert np.allclose(deviation, wide, rtol=1e-4) == is_cold


@pytest.mark.parametrize("posterior", [0, 5])
def test_reasons_of_lines_without_cells_add_up_to_their_predictions(world, posterior):
    ratings, users, items, _ = world
    given = {"row_attributes": users, "column_attributes": items}
    model = MatrixCompletion(random_state=0, clip=False, posterior=posterior).fit(ratings, **given)
    assert model.posterior_.row_prior.cold is not None
    rated = set(zip(ratings["user"], ratings["item"], strict=True))
    for user, item in (("u140", 30), ("u149", 580), ("u003", 590), ("u003", 30), ("u004", 100)):
        if (user, item) in rated:
            continue
        why = model.explain(user, item, k=100)
        total = why.base + why.contributions.sum() + sum(why.attributes.values())
        exact = user >= "u120"
        whole = model.predict([user], [item])[0]
        assert total == pytest.approx(whole, abs=1e-5 if exact else 2e-3)


def test_one_new_row_as_a_dict_of_what_is_known_of_it(model):
    columns = model.column_ids_
    m = model.recommend(new_rows={"sex": "m"}, k=5)
    f = model.recommend(new_rows={"sex": "f", "age": 30}, k=5)
    assert m.columns.shape == (1, 5)
    assert not set(m.columns[0]) & set(f.columns[0])
    assert set(m.columns[0]) <= set(columns)
    values = model.predict(np.full(5, "new"), m.columns[0], new_rows={"user": "new", "sex": "m"})
    np.testing.assert_allclose(values, m.scores[0], atol=1e-4)


def test_lists_of_new_rows_have_their_ids_and_keep_to_candidates(model, world):
    _, users, items, _ = world
    found = model.recommend(new_rows=users[120:125], items=items["item"][:8], k=3)
    assert found.to_pandas()["user"].unique().tolist() == users["user"][120:125].tolist()
    assert set(found.columns.ravel()) <= set(items["item"][:8])
    some = model.recommend(["u121", "u003"], new_rows=users[120:125], k=3)
    assert some.columns.shape == (2, 3)


def test_a_list_that_cannot_be_filled_ends_in_no_column(model, world):
    known = world[0].loc[world[0]["user"] == "u003", "item"].unique()
    new = model.recommend("u003", items=known, k=len(known), new_rows={"user": "new", "sex": "m"})
    old = model.recommend("u003", items=known, k=len(known))
    np.testing.assert_array_equal(new.columns, old.columns)
    assert not set(new.columns) & set(known)


def test_what_is_wrong_is_said_in_one_sentence(model, world):
    _, users, _, _ = world
    with pytest.raises(ValueError, match=r"rows: 'u999' was not fitted and is not among new_rows"):
        model.predict(["u999"], [0], new_rows=users[120:])
    with pytest.raises(ValueError, match="there is no attribute 'height'; the model knows"):
        model.recommend(new_rows={"height": 3})
    with pytest.raises(ValueError, match="new_rows: needs rows and cols"):
        model.predict(users, new_rows=users[120:])
    plain = MatrixCompletion(random_state=0).fit(world[0])
    with pytest.raises(ValueError, match="fitted without row_attributes"):
        plain.recommend(new_rows={"sex": "m"})
