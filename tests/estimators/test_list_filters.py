"""Lists with columns of each row's own, against lists made row by row."""

import numpy as np
import pytest

from pygeco import ImplicitCompletion, MatrixCompletion

M, N, K = 30, 20, 6
RNG = np.random.default_rng(0)
CELLS = np.unique(RNG.integers(0, M * N, 300))
USERS, ITEMS = np.array([f"u{i:02}" for i in range(M)]), 100 + np.arange(N)


@pytest.fixture(scope="module", params=["ratings", "clicks"])
def model(request):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"user": USERS[CELLS // N], "item": ITEMS[CELLS % N]})
    if request.param == "clicks":
        return ImplicitCompletion(rank=3, spectral=False, random_state=0).fit(table)
    taste = RNG.standard_normal((M, 2)) @ RNG.standard_normal((2, N))
    table["rating"] = taste.reshape(-1)[CELLS]
    return MatrixCompletion(rank=2, random_state=0).fit(table)


def draw_lists():
    return {user: RNG.choice(ITEMS, 8, replace=False) for user in model_users()}


def model_users():
    return [*USERS[np.unique(CELLS // N)]]


def as_table(lists):
    pandas = pytest.importorskip("pandas")
    pairs = [(user, item) for user, items in lists.items() for item in items]
    return pandas.DataFrame(pairs[::-1], columns=["user", "item"])


@pytest.mark.parametrize("name", ["items", "exclude"])
@pytest.mark.parametrize("as_given", [dict, as_table])
def test_every_row_has_the_list_that_it_has_alone(model, name, as_given):
    lists = draw_lists()
    users = model_users()
    found = model.recommend(users, K, **{name: as_given(lists)})
    for t, user in enumerate(users):
        alone = model.recommend(user, K, **{name: lists[user]})
        n = len(alone.columns)
        assert np.array_equal(found.columns[t][:n], alone.columns)
        assert np.allclose(found.scores[t][:n], alone.scores, rtol=1e-5)


def test_rows_that_are_not_named(model):
    users = model_users()[:2]
    plain = model.recommend(users, K)
    found = model.recommend(users, K, exclude={users[0]: plain.columns[0][:2]})
    assert np.array_equal(found.columns[0][: K - 2], plain.columns[0][2:])
    assert np.array_equal(found.columns[1], plain.columns[1])
    found = model.recommend(users, K, items={users[0]: plain.columns[0][:2]})
    assert np.array_equal(found.columns[0][:2], plain.columns[0][:2])
    assert np.isneginf(found.scores[0][2:]).all()
    assert np.isneginf(found.scores[1]).all()
    assert np.array_equal(model.recommend(users, K, exclude={}).columns, plain.columns)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"nobody": [100]}, "exclude: the id 'nobody'"),
        ({"u00": [7]}, "exclude: the id 7 was not fitted"),
        ({"u00": [[100]]}, "exclude: expected a list of columns"),
    ],
)
def test_what_was_not_fitted_is_refused(model, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.recommend("u00", exclude=given)
