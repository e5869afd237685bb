"""Lists and single scores of whatever scores columns, against plain sorting."""

import numpy as np

from pygeco.models import ranking, scoring
from pygeco.models.scoring import FactorScorer, Scorer, list_best, score_cells
from pygeco.models.seen import sort_cells


class Table:
    def __init__(self, scores) -> None:
        self.scores, self.shape = scores, scores.shape

    def score_rows(self, rows):
        return self.scores[rows].copy()


def make_case(seed=0, m=40, n=25):
    rng = np.random.default_rng(seed)
    factors = FactorScorer(
        rng.standard_normal((m, 3)), rng.standard_normal((n, 3)), rng.standard_normal(n)
    )
    dense = factors.left @ factors.right.T + factors.offsets
    return factors, Table(dense), dense, rng


def test_lists_of_factors_and_of_tables_are_sorted_scores(monkeypatch) -> None:
    monkeypatch.setattr(ranking, "ROWS", 7)
    factors, table, dense, rng = make_case()
    hidden = [rng.random(dense.shape) < 0.4 for _ in range(2)]
    cells = [sort_cells(*np.nonzero(x), np.ones(x.sum()), dense.shape) for x in hidden]
    allowed = rng.random(dense.shape[1]) < 0.5
    rows = rng.integers(0, len(dense), 30)
    left = np.where(hidden[0] | hidden[1] | ~allowed, -np.inf, dense)[rows]
    order = np.argsort(-left, axis=1, kind="stable")[:, :6]
    scores = np.take_along_axis(left, order, 1)
    for scorer in (factors, table):
        assert isinstance(scorer, Scorer)
        best = list_best(scorer, rows, 6, hidden=cells, allowed=allowed)
        np.testing.assert_array_equal(best.columns, np.where(np.isfinite(scores), order, -1))
        np.testing.assert_allclose(best.scores, scores)


def test_single_scores_in_any_order(monkeypatch) -> None:
    monkeypatch.setattr(scoring, "ROWS", 4)
    monkeypatch.setattr(scoring, "CELLS_AT_ONCE", 11)
    factors, table, dense, rng = make_case(1)
    rows, cols = rng.integers(0, 40, 60), rng.integers(0, 25, 60)
    for scorer in (factors, FactorScorer(factors.left, factors.right), table):
        off = 0 if getattr(scorer, "offsets", 0) is not None else factors.offsets[cols]
        np.testing.assert_allclose(score_cells(scorer, rows, cols) + off, dense[rows, cols])
