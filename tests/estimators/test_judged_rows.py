"""Ids of new rows and of negatives, against positions."""

import numpy as np
import pandas as pd
import pytest

from pygeco import ImplicitCompletion, MatrixCompletion, evaluate
from pygeco.data import make_ratings

USERS = np.array([f"u{i:02}" for i in range(40)])
ITEMS = 500 - 10 * np.arange(20)


def make_table():
    rows, cols, values, _ = make_ratings((40, 20), 400)
    return pd.DataFrame({"user": USERS[rows], "item": ITEMS[cols], "rating": values})


@pytest.fixture(scope="module", params=["ratings", "clicks"])
def models(request):
    """A model by ids, and the same by positions."""
    table = make_table()
    table = table[table.user < "u30"]
    codes = [np.unique(table[name], return_inverse=True) for name in ("user", "item")]
    at = [code for _, code in codes]
    if request.param == "ratings":
        kind, cells = MatrixCompletion(2, random_state=0), (*at, table.rating.to_numpy())
    else:
        kind = ImplicitCompletion(rank=2, spectral=False, random_state=0)
        cells, table = tuple(at), table[["user", "item"]]
    from sklearn.base import clone

    return clone(kind).fit(table), clone(kind).fit(cells), codes


def test_new_rows_by_id(models):
    named, numbered, ((_, _), (items, _)) = models
    new = make_table()
    new = new[new.user >= "u30"].sample(frac=1, random_state=0)
    given, held = new.iloc[::2], new.iloc[1::2]
    users = np.unique(given.user)
    held = held[held.user.isin(users) & held.item.isin(items)]
    import scipy.sparse as sp

    def place(part):
        return np.searchsorted(users, part.user), np.searchsorted(items, part.item)

    matrix = sp.coo_array((given.rating, place(given)), (len(users), len(items))).tocsr()
    if named is not None and isinstance(named, ImplicitCompletion):
        matrix.data[:] = 1
        given = given[["user", "item"]]
    found = evaluate(named, held, protocol="new-rows", given=given, k=3)
    wanted = evaluate(numbered, place(held), protocol="new-rows", given=matrix, k=3)
    assert found.ndcg[3] == pytest.approx(wanted.ndcg[3])
    assert found.held_out == wanted.held_out > 20


def test_negatives_by_id(models):
    named, numbered, ((users, _), (items, _)) = models
    rng = np.random.default_rng(0)
    rows, cols = rng.integers(0, len(users), 15), rng.integers(0, len(items), 15)
    beside = rng.integers(0, len(items), (15, 6))
    pairs = pd.DataFrame({"user": users[rows], "item": items[cols]})
    settings = {"protocol": "leave-one-out", "k": 2}
    unknown = np.full((15, 1), 7)  # an id that was not fitted
    found = evaluate(named, pairs, negatives=np.hstack([unknown, items[beside]]), **settings)
    wanted = evaluate(numbered, (rows, cols), negatives=beside, **settings)
    assert found.ndcg == wanted.ndcg
    with pytest.raises(ValueError, match=r"^negatives: none of its ids, such as np.int64\(7\)"):
        evaluate(named, pairs, negatives=unknown, **settings)
