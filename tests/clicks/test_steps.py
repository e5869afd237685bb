"""Steps of the search: there and back is the same place, and what is given is not moved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pygeco.clicks.settings import SpectralSettings, SquaresSettings
from pygeco.clicks.steps import (
    first_rank,
    lighter_backgrounds,
    near_popularities,
    near_ridges,
    neighbors,
    pick_popularity,
    pick_share,
    settings_key,
)

NOW = SquaresSettings(8, 0.1, 0.01, 0.0, 0.5, 0.0)


def test_a_step_there_and_back_is_the_same_place():
    for low, high in neighbors(NOW, SquaresSettings()):
        back = [one for pair in neighbors(low, SquaresSettings()) for one in pair]
        assert settings_key(NOW) in {settings_key(one) for one in back}
        assert settings_key(low) != settings_key(high)


def test_given_settings_have_no_neighbors():
    given = SquaresSettings(ridge=0.01, row_power=0.0)
    moved = [one for pair in neighbors(NOW, given) for one in pair]
    assert {(one.ridge, one.row_power) for one in moved} == {(0.01, 0.0)}
    assert len(moved) == 4
    fixed = SpectralSettings(8, 0.3, 0.3, 2.0, 0.1)
    assert near_ridges(fixed, fixed, is_first=True) == (2.0,)
    assert near_popularities(fixed, fixed, is_first=True) == (0.1,)


def test_heavy_backgrounds_have_lighter_ones_beside_them():
    tried = list(lighter_backgrounds(replace(NOW, background=100.0), SquaresSettings()))
    assert [one.background for one in tried] == [25.0, 6.25, 1.5625, 0.390625]
    assert {replace(one, background=0.1) for one in tried} == {NOW}
    assert not list(lighter_backgrounds(replace(NOW, background=1.0), SquaresSettings()))
    given = SquaresSettings(background=100.0)
    assert not list(lighter_backgrounds(given.with_defaults(NOW), given))


@pytest.mark.parametrize(
    ("given", "rank"), [(SquaresSettings(), 5), (SquaresSettings(rank=30), 20)]
)
def test_small_matrices_start_from_small_ranks(given, rank):
    assert first_rank(given.with_defaults(SquaresSettings(rank=64)), given, (90, 20)) == rank


def test_popularity_must_bring_something():
    assert pick_popularity((-0.1, 0.0, 0.1), [0.3, 0.328, 0.33]) == 1
    assert pick_popularity((-0.1, 0.0, 0.1), [0.3, 0.32, 0.33]) == 2


def test_an_uneven_blend_must_bring_something():
    assert pick_share((0.0, 0.35, 0.5, 1.0), [0.3, 0.34, 0.3395, 0.32]) == 2
    assert pick_share((0.0, 0.35, 0.5, 1.0), [0.36, 0.34, 0.3395, 0.32]) == 0
