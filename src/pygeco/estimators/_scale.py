"""Whether values are ratings on a bounded scale of a few levels, such as one to five stars."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco.arrays.kinds import host

MOST_LEVELS = 21  # stars, halves and tenths of them, 0 … 20; more is taken for a plain number
LOOKED_AT = 20_000  # cells from which the step between levels is guessed, before all are checked
# A scale ends where many values are: counts, whose largest one is rare, have no end.
MIN_END_CELLS, MIN_END_SHARE = 5, 1e-3
OFF_GRID = 1e-4  # of a step, which float32 may lose


def has_bounded_scale(values: Any, weights: Any) -> bool:
    """Whether all values of weight above zero are on one grid of few levels, with both ends in use.

    A few passes over the values, of any engine.
    """
    if len(weights):
        values = values[weights > 0]
    if not len(values):
        return False
    low, high = float(values.min()), float(values.max())
    levels = np.unique(host(values[:LOOKED_AT]).astype(float))
    if not 2 <= len(levels) <= MOST_LEVELS or not np.isfinite(high - low):
        return False
    least = max(MIN_END_CELLS, MIN_END_SHARE * len(values))
    if min(int((values == end).sum()) for end in (low, high)) < least:
        return False
    step = float(np.diff(levels).min())
    return any(_on_grid(values, low, high, part) for part in (step, step / 2))


def _on_grid(values: Any, low: float, high: float, step: float) -> bool:
    if (high - low) / step > MOST_LEVELS - 1 + OFF_GRID:
        return False
    places = (values - low) / step
    return bool((np.abs(places - np.rint(places)) <= OFF_GRID).all())
