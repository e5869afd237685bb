"""Settings: what is given stays, and what cannot be is refused."""

from __future__ import annotations

import pytest

from pygeco import SpectralSettings, SquaresSettings


def test_given_settings_stay():
    mixed = SquaresSettings(rank=7, ridge=0.5).with_defaults(SquaresSettings(1, 2, 3, 4, 5, 6))
    assert mixed == SquaresSettings(7, 2, 0.5, 4, 5, 6)
    assert mixed.is_complete
    assert not SpectralSettings(rank=3).is_complete


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (SquaresSettings(rank=0), "rank must be an integer of at least 1"),
        (SquaresSettings(background=-1.0), "background must be above zero"),
        (SpectralSettings(ridge=float("nan")), "ridge must be"),
        (SpectralSettings(popularity="much"), "popularity must be a number"),
    ],
)
def test_what_cannot_be_is_named(settings, words):
    with pytest.raises(ValueError, match=words):
        settings.check("squares")
