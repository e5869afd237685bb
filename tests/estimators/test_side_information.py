"""Attributes and patterns in MatrixCompletion: ids, settings, files, continued fits."""

import numpy as np
import pandas as pd
import pytest

from pygeco import MatrixCompletion, Solver, load

GENRES = np.array(["comedy", "drama", "horror"])


@pytest.fixture(scope="module")
def tables():
    """Ratings by taste in genres, users of two kinds, and items that no one has rated."""
    rng = np.random.default_rng(0)
    names = [f"u{t:03d}" for t in range(120)]
    users = pd.DataFrame({"user": names, "sex": rng.choice(["f", "m"], 120)})
    items = pd.DataFrame({"item": 10 * np.arange(50), "genre": rng.choice(GENRES, 50)})
    taste = np.array([[1.5, 0.0, -1.5], [-1.5, 0.5, 1.5]])
    kind = (users["sex"] == "m").to_numpy().astype(int)
    genre = np.searchsorted(GENRES, items["genre"])
    Z = taste[kind][:, genre] + 0.3 * rng.standard_normal((120, 50))
    mask = rng.random((120, 50)) < 0.3
    mask[:, ::10] = False
    mask[::15] = False
    rows, cols = np.nonzero(mask)
    values = (3 + Z + 0.3 * rng.standard_normal((120, 50)))[rows, cols]
    at = users["user"].to_numpy()[rows], items["item"].to_numpy()[cols]
    ratings = pd.DataFrame({"user": at[0], "item": at[1], "rating": values})
    return ratings, users, items, 3 + Z


@pytest.fixture(scope="module")
def model(tables):
    ratings, users, items, _ = tables
    settings = {"row_attributes": users, "column_attributes": items}
    return MatrixCompletion(random_state=0, clip=False).fit(ratings, **settings)


def test_ids_that_only_the_attributes_know_become_rows_and_columns(model, tables):
    _, users, items, Z = tables
    np.testing.assert_array_equal(model.row_ids_, users["user"])
    np.testing.assert_array_equal(model.column_ids_, items["item"])
    assert model.factors_.shape == Z.shape
    pairs = users["user"].to_numpy()[::15, None], items["item"].to_numpy()[None, ::10]
    found = model.predict(*pairs)
    expected = Z[::15, ::10]
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.9
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.6


def test_the_order_of_the_attributes_does_not_matter(model, tables):
    ratings, users, items, _ = tables
    other = MatrixCompletion(random_state=0, clip=False).fit(
        ratings,
        row_attributes=users.sample(frac=1, random_state=1),
        column_attributes=items.sample(frac=1, random_state=2),
    )
    np.testing.assert_allclose(other.factors_.to_dense(), model.factors_.to_dense(), atol=1e-5)


def test_attributes_in_the_order_of_the_rows_of_a_matrix(tables):
    ratings, users, items, _ = tables
    rows, cols = ratings["user"].str[1:].astype(int).to_numpy(), ratings["item"].to_numpy() // 10
    cells = rows, cols, ratings["rating"].to_numpy(), (120, 50)
    given = {"row_attributes": users[["sex"]], "column_attributes": items[["genre"]]}
    by_place = MatrixCompletion(random_state=0, clip=False).fit(cells, **given)
    by_id = MatrixCompletion(random_state=0, clip=False).fit(
        ratings, row_attributes=users, column_attributes=items
    )
    np.testing.assert_allclose(by_place.factors_.to_dense(), by_id.factors_.to_dense(), atol=1e-4)


def test_a_file_keeps_attributes_and_encoders(model, tables, tmp_path):
    model.save(tmp_path / "model.geco")
    found = load(tmp_path / "model.geco")
    np.testing.assert_array_equal(found.factors_.U, model.factors_.U)
    np.testing.assert_array_equal(
        found.row_attributes_.matrix.toarray(), model.row_attributes_.matrix.toarray()
    )
    users = tables[1]
    again = found.row_encoder_.transform(users)
    np.testing.assert_array_equal(again.toarray(), model.row_attributes_.matrix.toarray())
    effects = [(e.name, e.weight) for e in found.posterior_.row_prior.effects]
    assert effects == [(e.name, e.weight) for e in model.posterior_.row_prior.effects]


def test_new_cells_find_the_attributes_of_their_rows(model, tables):
    ratings, users, items, Z = tables
    cold = str(users["user"][15])
    new = pd.DataFrame({"user": [cold], "item": [items["item"][1]], "rating": [Z[15, 1]]})
    settings = {"row_attributes": users, "column_attributes": items}
    other, drawn = (
        MatrixCompletion(posterior=count, random_state=0, clip=False)
        .fit(ratings, **settings)
        .partial_fit(new)
        for count in (0, 3)
    )
    before, after, of_draws = (
        np.sqrt(np.mean((one.predict(np.full(50, cold), items["item"]) - Z[15]) ** 2))
        for one in (model, other, drawn)
    )
    assert max(after, of_draws) < 1.1 * before < 0.7


def test_a_continued_fit_has_the_same_bits_and_attributes_are_part_of_it(tables, tmp_path):
    ratings, users, _, _ = tables
    path = tmp_path / "fit.ckpt"

    def fit(given, **settings):
        return MatrixCompletion(random_state=0, **settings).fit(
            ratings, row_attributes=given, checkpoint=path
        )

    whole = MatrixCompletion(random_state=0).fit(ratings, row_attributes=users)
    seen = []
    fit(users, callback=lambda sweep: seen.append(sweep) or len(seen) == whole.n_iter_ - 2)
    assert whole.n_iter_ - 2 == len(seen)
    again = fit(users)
    np.testing.assert_array_equal(again.factors_.U, whole.factors_.U)
    with pytest.raises(ValueError, match="other data or settings"):
        fit(users.assign(sex=users["sex"].to_numpy()[::-1]))


def test_settings_that_cannot_be_had_say_so(tables):
    ratings, users, _, _ = tables
    with pytest.raises(ValueError, match="pattern: expected one of"):
        MatrixCompletion(pattern="rows").fit(ratings)
    with pytest.raises(ValueError, match=r"pattern: .* evidence"):
        MatrixCompletion(pattern=True, solver=Solver()).fit(ratings)
    with pytest.raises(ValueError, match=r"row_attributes: .* evidence"):
        MatrixCompletion(penalty=None).fit(ratings, row_attributes=users)


@pytest.mark.parametrize("pattern", [True, False, "row", "column"])
def test_the_pattern_is_of_the_sides_that_were_asked_for(tables, pattern):
    p = MatrixCompletion(pattern=pattern, random_state=0).fit(tables[0]).posterior_
    found = [len(prior.effects) for prior in (p.row_prior, p.col_prior)]
    assert found == [int(pattern in (True, "row")), int(pattern in (True, "column"))]
