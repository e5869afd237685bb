"""Whether values are ratings on a bounded scale of a few levels, such as one to five stars."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco.arrays.coded import Coded
from pygeco.arrays.kinds import host, runs

MAX_LEVELS = 21  # stars, halves and tenths of them, 0 … 20; more is taken for a plain number
SAMPLE_SIZE = 20_000  # cells from which the step between levels is guessed, before all are checked
# A scale ends where many values are: counts, whose largest one is rare, have no end.
MIN_END_CELLS, MIN_END_SHARE = 5, 1e-3
MAX_GRID_ERROR = 1e-4  # of a step, which float32 may lose


def has_bounded_scale(values: Any, weights: Any) -> bool:
    """Whether all values of weight above zero are on one grid of few levels, with both ends in use.

    A few passes over the values, of any engine.
    """
    if len(weights):
        values = values[weights > 0]
    if not len(values):
        return False
    low, high = float(values.min()), float(values.max())
    levels = np.unique(host(values[:SAMPLE_SIZE]).astype(float))
    if not 2 <= len(levels) <= MAX_LEVELS or not np.isfinite(high - low):
        return False
    least = max(MIN_END_CELLS, MIN_END_SHARE * len(values))
    if min(_count_value(values, end) for end in (low, high)) < least:
        return False
    step = float(np.diff(levels).min())
    return any(_on_grid(values, low, high, part) for part in (step, step / 2))


def _on_grid(values: Any, low: float, high: float, step: float) -> bool:
    if (high - low) / step > MAX_LEVELS - 1 + MAX_GRID_ERROR:
        return False
    values = values.table if isinstance(values, Coded) else values  # all of it is in use
    for part in runs(values):
        places = (values[part] - low) / step
        if not bool((np.abs(places - np.rint(places)) <= MAX_GRID_ERROR).all()):
            return False
    return True


def _count_value(values: Any, wanted: float) -> int:
    if isinstance(values, Coded):
        return int(values.counts[values.table == wanted].sum())
    return sum(int((values[part] == wanted).sum()) for part in runs(values))
