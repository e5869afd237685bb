"""Lists against held-out clicks, by plain loops."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from list_cases import as_sets, judge_row, judge_rows, make_ugly
from pygeco import ImplicitCompletion, LowRank, MatrixCompletion, cells, evaluate
from pygeco.data import make_ratings
from pygeco.diagnostics.list_metrics import METRICS
from pygeco.estimators import list_evaluation


class Table:
    """Scores that are known."""

    def __init__(self, scores) -> None:
        self.scores, self.shape = scores, scores.shape

    def score_rows(self, rows):
        return self.scores[rows].copy()


@pytest.mark.parametrize("block", [4, 4096])
def test_all_columns_by_plain_loops_on_ugly_scores(block, monkeypatch) -> None:
    monkeypatch.setattr(list_evaluation, "ROWS_AT_ONCE", block)
    scores, seen, held = make_ugly(np.random.default_rng(0))
    ks = (1, 5, 40)  # 40: more than there are columns
    test = sp.csr_matrix(held)
    found = evaluate(Table(scores), test, protocol="all", seen=sp.csr_matrix(seen), k=ks)
    wanted = judge_rows(scores, as_sets(seen), as_sets(held), ks)
    for (name, k), value in wanted.items():
        assert found.to_dict()[name][k] == pytest.approx(value), (name, k)
    assert found.rows == np.sum((held & ~seen).any(axis=1))
    assert found.fitted == np.sum(held & seen)
    assert found.held_out == np.sum(held & ~seen)
    assert 0 < found.ties <= found.rows
    table = found.to_pandas()
    assert table.loc[5, "ndcg"] == found.ndcg[5]
    assert f"{found.recall[5]:.4f}" in repr(found)


def test_factors_in_any_form_give_the_same_figures() -> None:
    rng = np.random.default_rng(1)
    U, V = rng.standard_normal((30, 4)), rng.standard_normal((20, 4))
    held, seen = rng.random((2, 30, 20)) < 0.15
    settings = {"protocol": "all", "seen": np.nonzero(seen), "k": 3}
    found = [
        evaluate(model, test, **settings)
        for model in ((U, V), LowRank(U, np.ones(4), V), Table(U @ V.T))
        for test in (held, np.nonzero(held), sp.coo_matrix(held), cells(sp.csr_matrix(held)))
    ]
    assert all(each == found[0] for each in found)
    assert found[0].ties == 0


def test_a_fitted_completion_leaves_out_its_own_cells() -> None:
    rows, cols, values, _ = make_ratings((60, 30), 700)
    held = np.random.default_rng(0).random(len(rows)) < 0.3
    table = pd.DataFrame({"user": rows, "item": cols, "rating": values})
    model = MatrixCompletion(2, random_state=0).fit(table[~held])
    test = pd.concat([table[held], pd.DataFrame({"user": [-9], "item": [0], "rating": [3.0]})])
    found = evaluate(model, test, protocol="all", k=5, threshold=3.5)
    known = table[~held].groupby("user").item.apply(set)
    figures = []
    for user, own in table[held].query("rating >= 3.5").groupby("user"):
        wanted = set(own.item) & set(model.column_ids_)
        if user in known and wanted:
            best = model.recommend(user, 30).columns
            figures.append(judge_row([j for j in best if j not in known[user]], wanted, 5))
    assert found.unknown >= 0
    assert found.rows == len(figures)
    for name in METRICS:
        assert getattr(found, name)[5] == pytest.approx(np.mean([f[name] for f in figures]))
    pairs = evaluate(model, test[["user", "item"]], protocol="all", k=5)
    assert pairs == evaluate(model, test, protocol="all", k=5)
    assert pairs.unknown >= 1


def test_new_rows_are_folded_in_from_what_is_given() -> None:
    X = _ratings()
    model = MatrixCompletion(2, random_state=0).fit(X[:40])
    rng = np.random.default_rng(0)
    new = X[40:].toarray()
    hide = (rng.random(new.shape) < 0.4) & (new != 0)
    given = sp.csr_matrix(np.where(hide, 0, new))
    found = evaluate(model, sp.csr_matrix(hide), protocol="new-rows", given=given, k=4)
    scores = model.predict(given)
    seen, held = as_sets(given.toarray() != 0), as_sets(hide)
    wanted = judge_rows(np.asarray(scores), seen, held, [4])
    assert found.ndcg[4] == pytest.approx(wanted["ndcg", 4])
    assert found.recall[4] == pytest.approx(wanted["recall", 4])


def _ratings():
    rows, cols, values, shape = make_ratings((50, 25), 600)
    return sp.coo_matrix((values, (rows, cols)), shape).tocsr()


def test_one_is_left_out_against_its_negatives() -> None:
    rng = np.random.default_rng(2)
    scores = rng.integers(0, 6, (12, 30)).astype(float)
    rows, cols = np.arange(12)[::-1], rng.integers(0, 30, 12)
    negatives = [rng.integers(0, 30, rng.integers(0, 9)) for _ in rows]
    settings = {"protocol": "leave-one-out", "negatives": negatives, "k": [1, 3]}
    found = evaluate(Table(scores), (rows, cols), **settings)
    assert found.coverage is None
    assert found.rows == found.held_out == 12
    hits = []
    for i, j, others in zip(rows, cols, negatives, strict=True):
        others = others[others != j]
        above, level = (
            np.sum(test(scores[i, others], scores[i, j])) for test in (np.greater, np.equal)
        )
        hits.append(np.mean([above + place < 3 for place in range(level + 1)]))
    assert found.hit_rate[3] == pytest.approx(np.mean(hits))
    assert found.ties == sum(
        scores[i, j] in scores[i, others[others != j]]
        for i, j, others in zip(rows, cols, negatives, strict=True)
    )
    U, V = np.linalg.qr(scores)
    assert evaluate((U, V.T), (rows, cols), **settings).hit_rate[3] == pytest.approx(
        found.hit_rate[3], abs=0.5
    )


def test_a_constant_score_hits_by_chance() -> None:
    negatives = np.tile(np.arange(1, 100), (5, 1))
    found = evaluate(
        Table(np.zeros((5, 100))),
        (np.arange(5), np.zeros(5, int)),
        protocol="leave-one-out",
        negatives=negatives,
    )
    assert found.hit_rate[10] == pytest.approx(0.1)
    assert found.ties == 5


WRONG = [
    ({"protocol": "some"}, "^protocol: expected one of"),
    ({"protocol": "all"}, "^seen: give the clicks"),
    ({"protocol": "all", "seen": ((), ()), "negatives": []}, "^negatives: is for protocol='leave"),
    ({"protocol": "leave-one-out"}, "^negatives: protocol='leave-one-out' needs"),
    ({"protocol": "leave-one-out", "negatives": [[1]]}, "^negatives: has 1 lists for 2"),
    ({"protocol": "leave-one-out", "negatives": [[1], [9]]}, "^negatives: must be columns"),
    ({"protocol": "new-rows"}, "^given: protocol='new-rows' needs"),
    ({"protocol": "new-rows", "given": np.eye(3)}, "^model: protocol='new-rows' needs"),
    ({"protocol": "all", "seen": ([3], [0])}, "^seen: has a row 3, but the model has 3 rows"),
    ({"protocol": "all", "seen": np.zeros((3, 3)), "k": []}, "^k: give at least one"),
    ({"protocol": "all", "seen": np.zeros((3, 3)), "k": 0}, "^k: expected an integer"),
    ({"protocol": "all", "seen": np.zeros((3, 3)), "threshold": 1}, "^threshold: the clicks have"),
]


@pytest.mark.parametrize(("settings", "said"), WRONG)
def test_what_is_wrong_is_said(settings, said) -> None:
    with pytest.raises(ValueError, match=said):
        evaluate(Table(np.eye(3)), ([0, 1], [1, 2]), **settings)


def test_a_count_of_zero_is_no_held_out_click() -> None:
    """As it is none in a fit, in every form and protocol."""
    rng = np.random.default_rng(0)
    rows, cols = np.divmod(rng.permutation(600), 20)
    counts = rng.poisson(1.0, 600).astype(float)
    table = pd.DataFrame({"user": rows, "item": cols, "count": counts})
    held, own = table[:200], table[200:]
    model = ImplicitCompletion(rank=2, random_state=0).fit(own)
    clicks = held[held["count"] > 0]
    found = evaluate(model, held, protocol="all")
    assert found.held_out == len(clicks) < len(held)
    assert found.to_dict() == evaluate(model, clicks, protocol="all").to_dict()
    new = held.assign(user=held.user + 100), own.assign(user=own.user + 100)
    again = evaluate(model, new[0], protocol="new-rows", given=new[1])
    assert again.held_out == len(clicks)
    plain = ImplicitCompletion(rank=2, random_state=0).fit(
        (own.user, own.item, own["count"], (30, 20))
    )
    cells_ = held.user.to_numpy(), held.item.to_numpy(), held["count"].to_numpy()
    assert evaluate(plain, cells_, protocol="all").held_out == len(clicks)
    lists = [np.arange(20)] * len(held)
    alone = evaluate(model, held, protocol="leave-one-out", negatives=lists)
    assert alone.held_out == len(held)
