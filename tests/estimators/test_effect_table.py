"""The table of what attributes say, against predictions that are moved by hand."""

import numpy as np
import pandas as pd
import pytest

from pygeco import MatrixCompletion, load

GENRES = np.array(["comedy", "drama", "horror"])


@pytest.fixture(scope="module")
def tables():
    """Ratings that follow genre, year and age; the color of an item says nothing."""
    rng = np.random.default_rng(1)
    users = pd.DataFrame({"user": np.arange(90), "age": rng.uniform(20, 70, 90)})
    items = pd.DataFrame(
        {
            "item": np.arange(60),
            "genre": rng.choice(GENRES, 60),
            "year": rng.integers(1950, 2020, 60).astype(float),
            "color": rng.choice(["blue", "green", "red", "gray"], 60),
        }
    )
    genre = np.searchsorted(GENRES, items["genre"])
    old = (users["age"].to_numpy() - 45) / 15
    year = (items["year"].to_numpy() - 1985) / 20
    taste = np.array([0.8, 0.0, -0.8])[genre] * (1 + 0.7 * old[:, None])
    Z = 3 + taste + 0.4 * year + 0.3 * old[:, None] + 0.2 * rng.standard_normal((90, 1))
    rows, cols = np.nonzero(rng.random((90, 60)) < 0.35)
    values = (Z + 0.3 * rng.standard_normal(Z.shape))[rows, cols]
    ratings = pd.DataFrame({"user": rows, "item": cols, "rating": values})
    return ratings, users, items


def fit(ratings, users, items, **settings):
    return MatrixCompletion(random_state=0, clip=False, **settings).fit(
        ratings, row_attributes=users, column_attributes=items
    )


@pytest.fixture(scope="module")
def model(tables):
    return fit(*tables, pattern=True)


def whole(p, rows, cols):
    """All predictions, of vectors with their offsets."""
    return p.mean + p.scale * (rows[:, :-1] @ cols[:, :-1].T + rows[:, -1:] + cols[:, -1])


def vectors(side):
    return np.column_stack([side.factor, side.bias]).astype(float)


def sides(model):
    p = model.posterior_
    yield "row", p, p.row_prior, vectors(p.rows), vectors(p.cols), model.row_attributes_
    yield "column", p, p.col_prior, vectors(p.cols), vectors(p.rows), model.column_attributes_


def test_weights_and_strengths_are_those_of_predictions_moved_by_hand(model) -> None:
    found = {(line.side, line.group, line.level): line for line in model.attribute_effects_}
    tried = 0
    for side, p, prior, own, other, _ in sides(model):
        encoder = model.row_encoder_ if side == "row" else model.column_encoder_
        names = list(encoder.get_feature_names_out())
        for effect in prior.effects:
            levels = [name for name in names if name.partition("=")[0] == effect.name]
            if effect.source == "pattern":
                continue
            average = effect.mean if "=" in levels[0] else 0 * effect.mean
            moves = effect.coefficients - average @ effect.coefficients
            for name, move in zip(levels, moves, strict=True):
                line = found[side, effect.name, name.partition("=")[2]]
                change = whole(p, own[:1] + move, other) - whole(p, own[:1], other)
                assert line.weight == pytest.approx(change.mean(), abs=1e-6)
                assert line.strength == pytest.approx(np.sqrt(np.mean(change**2)), rel=1e-4)
                tried += 1
    assert tried >= 4


def test_groups_are_as_strong_as_what_they_move(model) -> None:
    found = {(group.side, group.group): group for group in model.attribute_effects_.groups}
    known = np.zeros((90, 60))
    seen = model.seen_
    known[seen.rows(), seen.indices] = 1
    for side, p, prior, own, other, values in sides(model):
        cells = known if side == "row" else known.T
        total = whole(p, own - own.mean(axis=0), other) - whole(p, 0 * own, other)
        for effect in prior.effects:
            if effect.source == "pattern":
                X = cells / np.sqrt(cells.sum(axis=1, keepdims=True))
            else:
                X = values.split()[values.names.index(effect.name)].toarray()
            moves = (X - X.mean(axis=0)) @ effect.coefficients
            change = whole(p, moves, other) - whole(p, 0 * own, other)
            group = found[side, effect.name]
            assert group.strength == pytest.approx(np.sqrt(np.mean(change**2)), rel=1e-3)
            assert group.degrees == effect.degrees
            assert 0 < group.share < np.mean(change**2) / np.mean(total**2)


def test_deviations_are_those_of_the_ridge(model) -> None:
    """Against S = (XᵀX + λ)⁻¹ of all groups of a side; 16 draws know a deviation to a sixth."""
    effects = model.posterior_.col_prior.effects
    values, p = model.column_attributes_, model.posterior_
    known = np.zeros((60, 90))
    known[model.seen_.indices, model.seen_.rows()] = 1
    blocks = {
        "pattern": known / np.sqrt(known.sum(axis=1, keepdims=True)),
        **{name: part.toarray() for name, part in zip(values.names, values.split(), strict=True)},
    }
    X = np.column_stack([blocks[effect.name] for effect in effects])
    X = X - X.mean(axis=0)
    weights = np.concatenate([[e.weight] * len(e.coefficients) for e in effects])
    S = np.linalg.inv(X.T @ X + np.diag(weights))
    z = np.append(p.rows.factor.mean(axis=0), 1.0)
    unit = p.scale**2 * z @ np.linalg.inv(p.col_prior.precision) @ z
    assert [effect.name for effect in effects[:2]] == ["pattern", "genre"]
    at = slice(len(blocks["pattern"].T), len(blocks["pattern"].T) + len(GENRES))
    turn = np.eye(len(GENRES)) - blocks["genre"].mean(axis=0)
    expected = unit * np.diag(turn @ S[at, at] @ turn.T)
    lines = {line.level: line for line in model.attribute_effects_ if line.group == "genre"}
    found = np.array([lines[name].deviation ** 2 for name in GENRES])
    np.testing.assert_allclose(np.log(found / expected), 0, atol=1.2)
    assert abs(np.log(found.mean() / expected.mean())) < 0.7


def test_the_strongest_come_first_and_what_says_nothing_is_listed_with_zero(model) -> None:
    effects = model.attribute_effects_
    sizes = [group.strength for group in effects.groups]
    assert sizes == sorted(sizes, reverse=True)
    for group in effects.groups:
        sizes = [level.strength for level in group.levels]
        assert sizes == sorted(sizes, reverse=True)
    last = effects.groups[-1]
    assert (last.group, last.strength, last.degrees, last.share) == ("color", 0.0, 0.0, 0.0)
    assert [line.group for line in effects].count("color") == 1
    patterns = [(line.side, line.level) for line in effects if line.group == "pattern"]
    assert sorted(patterns) == [("column", ""), ("row", "")]
    assert all(np.isnan(line.weight) for line in effects if line.group == "pattern")
    comedy = next(line for line in effects if line.level == "comedy")
    horror = next(line for line in effects if line.level == "horror")
    assert comedy.weight > 4 * comedy.deviation > 0 > -4 * horror.deviation > horror.weight


def test_a_number_in_other_units_has_the_same_weight(model, tables) -> None:
    ratings, users, items = tables
    other = fit(ratings, users, items.assign(year=1000 * items["year"] + 7), pattern=True)
    for one, two in zip(model.attribute_effects_, other.attribute_effects_, strict=True):
        assert one[:3] == two[:3]
        np.testing.assert_allclose(one[3:], two[3:], rtol=1e-3, atol=1e-5)


def test_a_file_says_the_same(model, tmp_path) -> None:
    model.save(tmp_path / "m.geco")
    again = load(tmp_path / "m.geco").attribute_effects_.to_pandas()
    pd.testing.assert_frame_equal(again, model.attribute_effects_.to_pandas())


def test_without_attributes_there_are_patterns_or_nothing(tables) -> None:
    ratings = tables[0]
    model = MatrixCompletion(random_state=0, pattern=True).fit(ratings)
    assert {line.group for line in model.attribute_effects_} == {"pattern"}
    for settings in ({"pattern": False}, {"penalty": None, "rank": 1}):
        model = MatrixCompletion(random_state=0, **settings).fit(ratings)
        assert len(model.attribute_effects_) == len(model.attribute_effects_.to_pandas()) == 0
        assert "nothing was told" in repr(model.attribute_effects_)
    with pytest.raises(AttributeError, match="not fitted"):
        _ = MatrixCompletion().attribute_effects_


def test_at_rank_zero_weights_are_those_of_the_offsets(tables) -> None:
    ratings, _, items = tables
    high = items["genre"].to_numpy()[ratings["item"]] == "horror"
    noise = np.random.default_rng(0).standard_normal(len(ratings))
    model = fit(ratings.assign(rating=2.0 * high + noise), None, items)
    assert model.rank_ == 0
    lines = {line.level: line for line in model.attribute_effects_ if line.group == "genre"}
    effect = next(e for e in model.posterior_.col_prior.effects if e.name == "genre")
    weights = model.posterior_.scale * (
        effect.coefficients[:, 0] - effect.mean @ effect.coefficients
    )
    np.testing.assert_allclose([lines[name].weight for name in GENRES], weights, rtol=1e-5)
    np.testing.assert_allclose([lines[name].strength for name in GENRES], abs(weights), rtol=1e-5)
    assert lines["horror"].weight - lines["drama"].weight == pytest.approx(2, abs=0.2)
