"""Popularity and both families beside each other, against whole tables of scores."""

from dataclasses import replace

import numpy as np
import pytest

from pygeco import Entries
from pygeco.clicks.blends import BLENDS, compare_fames, compare_shares
from pygeco.clicks.judging import average, hold_out_clicks, hold_out_more
from pygeco.clicks.search import Search
from pygeco.clicks.settings import SpectralSettings, SquaresSettings
from pygeco.clicks.spectral import find_spectrum, make_factors
from pygeco.clicks.squares import fit_squares
from pygeco.clicks.steps import FAMES, pick_popularity, pick_share

SPECTRAL = SpectralSettings(6, 0.4, 0.3, 2.0, 0.1)
SQUARES = SquaresSettings(4, 0.02, 0.01, 0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def few():
    """Some 450 clicks in three groups, of which a tenth says little."""
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=90)
    chance = np.where(np.arange(30) % 3 == group[:, None], 0.3, 0.1) * np.linspace(0.2, 1.8, 30)
    rows, cols = np.nonzero(rng.random((90, 30)) < chance)
    return Entries(rows, cols, np.ones(len(rows), np.float32), (90, 30))


def judge_table(judge, table):
    return judge.compare(lambda rows: [table[rows].astype(np.float32)], 1)[0]


def test_each_fame_and_each_share_is_judged_by_its_scores(few):
    fit, judge = hold_out_clicks(few, 0)
    spectrum = find_spectrum(fit, SPECTRAL, seed=0)
    found = compare_fames(fit, judge, spectrum, SPECTRAL)
    for fame, score in zip(FAMES, found, strict=True):
        left, right = make_factors(fit, spectrum, replace(SPECTRAL, fame=fame))
        assert score == pytest.approx(judge_table(judge, left @ right.T), abs=2e-3)
    pairs = make_factors(fit, spectrum, SPECTRAL), fit_squares(fit, SQUARES, seed=0)[:2]
    tables = [left @ right.T for left, right in pairs]
    one, two = (table / table.std() for table in tables)
    for share, score in zip(BLENDS, compare_shares(judge, *pairs), strict=True):
        assert score == pytest.approx(judge_table(judge, (1 - share) * one + share * two), abs=2e-3)


def test_more_tenths_are_held_out_where_one_has_few_clicks(few, clicks):
    split = hold_out_clicks(few, 0)
    more = hold_out_more(few, 0, split)
    assert len(more) == 4
    held = [set(zip(x.judge.held.rows(), x.judge.held.indices, strict=True)) for x in more]
    held.append(set(zip(split.judge.held.rows(), split.judge.held.indices, strict=True)))
    assert all(
        len(one & other) < len(one) / 2 for one in held for other in held if one is not other
    )
    assert [len(x.judge.held.indices) for x in more] == [
        len(x.judge.held.indices) for x in hold_out_more(few, 0, split)
    ]
    many = np.nonzero(np.ones((90, 70)))
    full = Entries(*many, np.ones(6300, np.float32), (90, 70))
    assert hold_out_more(full, 0, hold_out_clicks(full, 0)) == ()


def test_what_is_chosen_last_is_the_best_of_all_tenths(few):
    split = hold_out_clicks(few, 0)
    more = hold_out_more(few, 0, split)
    search = Search(split, 0, others=more)
    one = search.choose_spectral(replace(SPECTRAL, popularity=0.1))
    spectra = [find_spectrum(fit, SPECTRAL, seed=0) for fit, _ in (split, *more)]
    told = [
        compare_fames(*each, spectrum, SPECTRAL)
        for each, spectrum in zip((split, *more), spectra, strict=True)
    ]
    fames = [trial.ndcg for trial in search.trials if trial.settings.fame]
    assert fames == pytest.approx(average(told)[1:], abs=1e-6)
    assert one.settings.fame == FAMES[pick_popularity(FAMES, average(told))]
    two = search.choose_squares(SQUARES)
    share, ndcg = search.choose_share(one, two)
    scores = [trial.ndcg for trial in search.trials if trial.family == "both"]
    assert ndcg in scores
    assert share == BLENDS[pick_share(BLENDS, scores)]
    alone = compare_shares(search.judge, one[2:4], two[2:4])
    assert max(np.abs(np.array(alone) - scores)) > 1e-3
