"""Settings by held-out clicks."""

from __future__ import annotations

import numpy as np
import pytest

from pygeco import Entries
from pygeco.clicks import search as searching
from pygeco.clicks.judging import hold_out_clicks
from pygeco.clicks.search import Search
from pygeco.clicks.settings import SpectralSettings, SquaresSettings


@pytest.fixture(scope="module")
def split(clicks):
    return hold_out_clicks(clicks, 0)


def test_the_best_trial_is_taken(split):
    search = Search(split, 0)
    for family, found in (
        ("spectral", search.choose_spectral(SpectralSettings())),
        ("squares", search.choose_squares(SquaresSettings())),
    ):
        best = max(t.ndcg for t in search.trials if t.family == family)
        assert found.ndcg >= best / 1.006
        again = search.compare_popularities(found.left, found.right, (0.0,))
        assert again[0] == pytest.approx(found.ndcg, abs=1e-6)


def split_ring():
    """Neighbors of nine in a ring: no low rank has them all."""
    first = np.random.default_rng(0).integers(9, size=(900, 1))
    rows, cols = np.repeat(np.arange(900), 3), (first + np.arange(3)) % 9
    clicks = Entries(rows, cols.ravel(), np.ones(2700, np.float32), (900, 9))
    return hold_out_clicks(clicks, 0)


def test_of_few_columns_all_pairs_are_tried():
    search = Search(split_ring(), 0)
    found = search.choose_spectral(SpectralSettings())
    assert found.settings.rank == 9
    assert found.ndcg > 1.005 * max(t.ndcg for t in search.trials if t.settings.rank < 9)


def test_of_few_columns_a_light_background_is_found():
    """That of the start, 111 clicks a cell, leaves hardly more than one direction."""
    split = split_ring()
    found = Search(split, 0).choose_squares(SquaresSettings())
    by_hand = Search(split, 0).choose_squares(SquaresSettings(background=1.0))
    assert found.ndcg > 0.95 * by_hand.ndcg


def test_what_is_given_is_kept(split):
    search = Search(split, 0)
    given = SquaresSettings(rank=5, ridge=0.02, popularity=0.0)
    found = search.choose_squares(given).settings
    assert (found.rank, found.ridge, found.popularity) == (5, 0.02, 0.0)
    assert {t.settings.rank for t in search.trials} == {5}
    assert len({t.settings.background for t in search.trials}) > 1


def test_no_ridge_is_compared_twice(split, monkeypatch):
    made, compared, make = [], {}, searching.make_factors

    def record(*given):
        made.append(given[2].ridge)
        return make(*given)

    class Recorded(Search):
        def compare_popularities(self, left, right, powers):
            assert made[-1] not in compared
            compared[made[-1]] = max(found := super().compare_popularities(left, right, powers))
            return found

    monkeypatch.setattr(searching, "make_factors", record)
    found = Recorded(split, 0).choose_spectral(SpectralSettings(8, 0.3, 0.3, popularity=0.0))
    assert len(compared) in (3, 4)  # three, and one more where the best is at an end
    steps = np.log(sorted(compared)) / np.log(searching.RIDGE_STEP)
    assert np.allclose(np.diff(steps), 1)
    assert max(compared.values()) <= 1.01 * found.ndcg


def test_a_true_answer_ends_the_search(split):
    search = Search(split, 0, lambda trial: len(search.trials) >= 2)
    search.choose_spectral(SpectralSettings())
    assert len(search.trials) == 2


def test_shares_are_compared_by_their_own_lists(split):
    search = Search(split, 0)
    one = search.choose_spectral(SpectralSettings(8, 0.3, 0.3, 1.0, 0.0))
    two = search.choose_squares(SquaresSettings(4, 0.2, 0.01, 0.0, 0.0, 0.0))
    share, ndcg = search.choose_share(one, two)
    ends = {t.share: t.ndcg for t in search.trials if t.family == "both"}
    assert ends[0.0] == pytest.approx(one.ndcg, abs=1e-6)
    assert ends[1.0] == pytest.approx(two.ndcg, abs=1e-6)
    assert ndcg == ends[share] >= 0.997 * max(ends.values())
