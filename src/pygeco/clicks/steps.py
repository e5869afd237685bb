"""Steps of the search for settings: where it starts, and what lies next to what it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

from pygeco.clicks.settings import SpectralSettings, SquaresSettings

POPULARITIES = (-0.1, 0.0, 0.1, 0.2, 0.3)
POPULARITY_STEP = 0.1
FAMES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
SHARE_GAIN = 0.003  # what an uneven blend must bring
POPULARITY_GAIN = 0.01  # of the nDCG: what a power of popularity must bring
RIDGE_STEP = 3.0  # a factor
SQUARES_STEPS = {"ridge": 1.6, "background": 2.0}  # factors
SQUARES_POWER_STEP = 0.25
# Of few columns each has a heavy background at first: of 100 it weighs as much as ten clicks, and
# no step by 2 may pay on the long way down from there.
FIRST_BACKGROUND_STEP = 4.0  # a factor
LEAST_FIRST_BACKGROUND = 0.3  # clicks that a cell weighs


def first_rank(
    start: SpectralSettings | SquaresSettings,
    given: SpectralSettings | SquaresSettings,
    shape: tuple[int, int],
) -> int:
    """The rank that a search starts from: a fourth of the smaller side, unless one is given."""
    rank, side = start.rank or 1, min(shape)
    return min(rank, side) if given.rank is not None else min(rank, max(1, side // 4))


def near_popularities(
    now: SpectralSettings, given: SpectralSettings, is_first: bool
) -> tuple[float, ...]:
    """All that are tried at first, then those next to the best."""
    if given.popularity is not None:
        return (given.popularity,)
    if is_first or now.popularity is None:
        return POPULARITIES
    near = (now.popularity, now.popularity - POPULARITY_STEP, now.popularity + POPULARITY_STEP)
    return tuple(round(power, 3) for power in near)


def pick_popularity(powers: tuple[float, ...], scores: list[float]) -> int:
    """The place of the power nearest to zero of those that are about as good as the best.

    What is popular in the data is not always what will be asked for.
    """
    enough = max(scores) * (1 - POPULARITY_GAIN)
    good = [k for k, score in enumerate(scores) if score >= enough]
    return min(good, key=lambda k: (abs(powers[k]), -scores[k]))


def pick_share(shares: tuple[float, ...], scores: list[float]) -> int:
    """The place of the most even blend of those that are about as good as the best."""
    enough = max(scores) * (1 - SHARE_GAIN)
    good = [k for k, score in enumerate(scores) if score >= enough]
    return min(good, key=lambda k: (abs(shares[k] - 0.5), -scores[k]))


def near_ridges(
    now: SpectralSettings, given: SpectralSettings, is_first: bool
) -> tuple[float, ...]:
    """That of the settings; at first, those on both sides of it too."""
    assert now.ridge is not None
    if given.ridge is not None or not is_first:
        return (now.ridge,)
    return (now.ridge, now.ridge / RIDGE_STEP, now.ridge * RIDGE_STEP)


def lighter_backgrounds(
    start: SquaresSettings, given: SquaresSettings
) -> Iterator[SquaresSettings]:
    """What is tried beside a heavy background before all else; nothing where one is given."""
    background = start.background or 0.0
    while given.background is None and background >= FIRST_BACKGROUND_STEP * LEAST_FIRST_BACKGROUND:
        background /= FIRST_BACKGROUND_STEP
        yield replace(start, background=background)


def neighbors(
    now: SquaresSettings, given: SquaresSettings
) -> Iterator[tuple[SquaresSettings, SquaresSettings]]:
    """One step down and one up for each setting that is left to choose."""
    for name in ("ridge", "background", "row_power", "column_power"):
        if getattr(given, name) is not None:
            continue
        value, factor = getattr(now, name), SQUARES_STEPS.get(name)
        low, high = (
            (value - SQUARES_POWER_STEP, value + SQUARES_POWER_STEP)
            if factor is None
            else (value / factor, value * factor)
        )
        yield replace(now, **{name: low}), replace(now, **{name: high})


def settings_key(settings: SpectralSettings | SquaresSettings) -> tuple[float, ...]:
    """What tells settings apart: rounded, so that a step there and back is the same place.

    The popularity, which is chosen along with others, does not.
    """
    parts = (x for name, x in asdict(settings).items() if name != "popularity" and x is not None)
    return tuple(float(f"{part:.6g}") for part in parts)
