"""What is popular beside the singular pairs, and both families, weighed by held-out clicks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pygeco.arrays.low_rank import Array
from pygeco.clicks.judging import Judge, score_rows
from pygeco.clicks.settings import SpectralSettings
from pygeco.clicks.spectral import Spectrum, make_factors, measure_spread
from pygeco.clicks.steps import FAMES
from pygeco.models.seen import Positions
from pygeco.objectives import Entries

BLENDS = (0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)  # the share of the squares


def compare_fames(
    fit: Entries, judge: Judge, spectrum: Spectrum, settings: SpectralSettings
) -> list[float]:
    """The nDCG of these settings with each of `FAMES`."""
    left, right = make_factors(fit, spectrum, replace(settings, fame=1.0))
    right = judge.take(right)

    def tables(rows: Positions) -> Iterator[Array]:
        scores = score_rows(left[:, :-1], rows, right[:, :-1])
        popular = score_rows(left[:, -1:], rows, right[:, -1:])
        for fame in FAMES:
            yield scores + popular * scores.dtype.type(fame)

    return judge.compare(tables, len(FAMES))


def compare_shares(
    judge: Judge, spectral: tuple[Array, Array], squares: tuple[Array, Array]
) -> list[float]:
    """The nDCG of the scores `left` `right`ᵀ of both families with each of `BLENDS`."""
    pairs = spectral, squares
    sizes = [measure_spread(*pair) for pair in pairs]
    listed = [(left, judge.take(right)) for left, right in pairs]

    def tables(rows: Positions) -> Iterator[Array]:
        one, other = (
            score_rows(left, rows, right) / size
            for (left, right), size in zip(listed, sizes, strict=True)
        )
        for share in BLENDS:
            yield (1 - share) * one + share * other

    return judge.compare(tables, len(BLENDS))
