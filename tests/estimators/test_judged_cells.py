"""What can be judged, and clicks in any form."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pygeco import ImplicitCompletion, LowRank, MatrixCompletion, cells, evaluate
from pygeco.data import make_ratings
from pygeco.estimators._judged_cells import find_clicks


def test_stored_zeros_are_no_clicks_and_others_come_by_row() -> None:
    X = sp.coo_matrix(([1.0, 0.0, 2.0, 1.0], ([2, 0, 1, 0], [0, 1, 2, 2])), (3, 3))
    found = find_clicks(None, X, (3, 3))
    assert list(zip(*found, strict=True)) == [(0, 2), (1, 2), (2, 0)]
    assert find_clicks(None, X, (3, 3), threshold=2.0).rows.tolist() == [1]


class Table:
    """Scores that are kept as a table of any type."""

    def __init__(self, table) -> None:
        self.table, self.shape = table, table.shape

    def score_rows(self, rows):
        return self.table[rows]


@pytest.mark.parametrize("kind", [np.float16, np.int8, np.int64, np.longdouble, bool, object])
def test_scores_of_any_type_give_the_lists_of_their_numbers(kind) -> None:
    """Truths and integers know no −∞, and half precision overflows in a product."""
    rng = np.random.default_rng(0)
    U, V = (rng.integers(0, 100, (size, 2)).astype(kind) for size in (20, 30))
    held = np.nonzero(rng.random((20, 30)) < 0.2)
    seen = np.nonzero(rng.random((20, 30)) < 0.4)
    table = rng.integers(0, 100, (20, 30)).astype(kind)
    cases = [
        ((U, V), (U.astype(float), V.astype(float))),
        (Table(table), Table(table.astype(float))),
    ]
    if kind is np.float16:
        s = np.full(2, 400, kind)
        cases.append((LowRank(U, s, V), LowRank(U.astype(float), s.astype(float), V.astype(float))))
    for one, other in cases:
        found, wanted = (evaluate(x, held, protocol="all", seen=seen, k=5) for x in (one, other))
        assert found == wanted
        assert found.hit_rate[5] > 0


def test_clicks_in_a_wrong_form_are_refused() -> None:
    model = MatrixCompletion(1, random_state=0).fit(make_ratings((9, 8), 30))
    for wrong in (np.zeros(3), (np.ones(2), np.ones(2)), ([0], [1, 2]), (1, 2, 3, 4, 5), "abc"):
        with pytest.raises(ValueError, match=r"^X: (expected|a tuple)"):
            evaluate(model, wrong, protocol="all")
    with pytest.raises(ValueError, match="has a column 8, but the model has 8"):
        evaluate(model, ([0], [8]), protocol="all")


def test_cells_on_a_cluster_are_not_taken_for_a_matrix() -> None:
    pytest.importorskip("dask.dataframe")
    from dask.dataframe import from_pandas

    table = pd.DataFrame({"user": [3, 3, 5, 8, 8], "item": [1, 2, 2, 1, 7]})
    lazy = from_pandas(table, npartitions=2)
    model = ImplicitCompletion(1, random_state=0).fit(table)
    asked = [model.score, model.keep_held_out, model.partial_fit, model.known_cells, cells]
    asked.append(lambda X: evaluate(model, X, protocol="all"))
    asked.append(ImplicitCompletion(1).fit)
    for ask in asked:
        with pytest.raises(ValueError, match=r"^X: (cells|clicks) in .* X\.compute\(\)"):
            ask(lazy)
    with pytest.raises(ValueError, match=r"^seen: clicks in files or"):
        evaluate(model, table, protocol="all", seen=lazy)


def test_counts_of_zero_are_no_clicks_to_judge_by() -> None:
    rng = np.random.default_rng(0)
    dense = (rng.random((30, 12)) < 0.3).astype(float)
    dense[:, 0] = 1
    held = (rng.random(dense.shape) < 0.2) * dense
    model = ImplicitCompletion(2, random_state=0).fit(dense - held)
    rows, cols = (x.ravel() for x in np.indices(dense.shape))
    expected = evaluate(model, sp.csr_array(held), protocol="all")
    counts = held.ravel()
    for form in ((rows, cols, counts), cells(held), (rows, cols, counts, held.shape)):
        assert evaluate(model, form, protocol="all") == expected
    assert expected.held_out == held.sum()


def test_unknown_ids_stand_for_no_cell() -> None:
    """−1 is not the last column of the row before."""
    U, V = np.ones((3, 1)), np.array([[1.0], [2.0], [3.0], [4.0]])
    held = np.array([0, 1, 2]), np.array([3, 3, 3])
    seen = np.array([1, -1, 2]), np.array([-1, 3, 0])
    found = evaluate((U, V), held, protocol="all", seen=seen, k=1)
    assert (found.rows, found.fitted, found.recall[1]) == (3, 0, 1.0)
    assert find_clicks(None, seen, (3, 4)).sort((3, 4)).rows().tolist() == [2]
    with pytest.raises(ValueError, match="X: has a row -2, but the model has 3"):
        find_clicks(None, (np.array([-2, 1]), np.array([0, 1])), (3, 4))


def test_what_cannot_be_judged_is_said() -> None:
    for model, said in ((object(), "expected a fitted"), ((np.eye(2), np.eye(3)), "factors")):
        with pytest.raises(ValueError, match=said):
            evaluate(model, ([0], [0]), protocol="all")


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
    with pytest.raises(
        ValueError,
        match=r"^negatives: none of its ids, such as 7, was fitted; the model knows ids such as ",
    ):
        evaluate(named, pairs, negatives=unknown, **settings)
