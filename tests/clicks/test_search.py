"""Settings by held-out clicks."""

from __future__ import annotations

import pytest

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


def test_what_is_given_is_kept(split):
    search = Search(split, 0)
    given = SquaresSettings(rank=5, ridge=0.02, popularity=0.0)
    found = search.choose_squares(given).settings
    assert (found.rank, found.ridge, found.popularity) == (5, 0.02, 0.0)
    assert {t.settings.rank for t in search.trials} == {5}
    assert len({t.settings.background for t in search.trials}) > 1


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
