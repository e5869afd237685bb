"""The family of weighted squares: a click a "yes", every cell a light "no", by exact sweeps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pygeco.algorithm.alternation import alternate, frequency_ridges
from pygeco.arrays.kinds import on
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.clicks.settings import SquaresSettings
from pygeco.clicks.spectral import line_powers
from pygeco.objectives import Clicks, Entries

COLD_SWEEPS = 8  # from random columns; a few more changed nDCG by less than 0.5 %
# From the columns of neighboring settings, or of most of the clicks: the model itself is fitted as
# those were by which its settings were judged; with 8 sweeps its lists were no better, or worse.
WARM_SWEEPS = 3
FRESH_SIZE = 0.02  # of the random columns that are added to fitted ones, against those
LEAST_SIZE = 1e-4  # of columns, root mean square: below that of any start, above what rounds to 0


class SquaresFactors(NamedTuple):
    """Scores of the fitted rows are `left` `right`ᵀ, those of new rows x as `objective` says.

    `columns` are the columns' vectors before they are multiplied by a power of their counts.
    """

    left: Array
    right: Array
    columns: Array


def make_objective(entries: Entries, settings: SquaresSettings) -> Clicks:
    """The objective of these settings over the clicks, whose values are their weights."""
    assert settings.background is not None
    return Clicks.of_entries(
        entries,
        background=settings.background,
        row_power=settings.row_power or 0.0,
        column_power=settings.column_power or 0.0,
    )


def fit_squares(
    entries: Entries,
    settings: SquaresSettings,
    *,
    seed: int,
    start: Array | None = None,
) -> SquaresFactors:
    """Sweeps at the rank of the settings; from the columns `start` (n, k ≤ rank) where given."""
    assert settings.rank is not None
    assert settings.ridge is not None
    objective = make_objective(entries, settings)
    rank = min(settings.rank, *entries.shape)
    ridges = frequency_ridges(objective, settings.ridge)
    columns = None if start is None else _widen(entries, start, rank, seed)
    is_cold = start is None or start.shape[1] < rank
    for _ in range(COLD_SWEEPS if is_cold else WARM_SWEEPS):
        found = alternate(
            objective,
            rank,
            row_ridge=ridges[0],
            column_ridge=ridges[1],
            n_sweeps=1,
            start=None if columns is None else (columns[:0], columns),
            random_state=seed,
        )
        columns = _lift(found.V)
    assert columns is not None
    swept = objective.sweep_side(False, columns, ridges[0])
    return SquaresFactors(
        swept.factor, scale_columns(entries, swept.partner, settings.popularity), swept.partner
    )


def scale_columns(entries: Entries, columns: Array, popularity: float | None) -> Array:
    """The columns' vectors times a power of their counts."""
    _, popular = line_powers(entries, 0.0, popularity or 0.0)
    return on(popular[:, None], columns, columns.dtype) * columns


def _lift(columns: Array) -> Array:
    """The same columns at a size that lists can be read from, times a power of two.

    Where few clicks stand before a heavy background, zero is the minimum: sweeps shrink the columns
    by a factor each, towards the direction in which clicks hold out longest, until all round to 0.
    """
    size = float(np.sqrt(np.mean(columns.astype(float) ** 2)))
    if not 0 < size < LEAST_SIZE:
        return columns
    return columns * columns.dtype.type(2.0 ** np.ceil(np.log2(LEAST_SIZE / size)))


def _widen(entries: Entries, start: Array, rank: int, seed: int) -> Array:
    """Fitted columns, and small random ones beyond them."""
    lacking = rank - start.shape[1]
    if lacking <= 0:
        return start[:, :rank]
    size = FRESH_SIZE * float(np.sqrt(np.mean(start.astype(float) ** 2)))
    fresh = stream(Purpose.ALTERNATION, seed, rank).standard_normal(
        (entries.shape[1], lacking), np.float32
    )
    return np.concatenate([start, on(size * fresh, start, start.dtype)], axis=1)
