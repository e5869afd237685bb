"""How well the missing cells of a table are filled: the error at known cells that are masked."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.estimators._low_rank_filling import measure_columns

MASKED_SHARE = 0.1  # of the known cells that are masked


class MaskedError(NamedTuple):
    """Root mean squares in column deviations: of what was filled, and of the column means."""

    cells: int
    error: float
    means: float


def measure_masked_error(fill: Callable[[Array], Array], X: Array, seed: int) -> MaskedError | None:
    """Mask a tenth of the known cells, fill, compare; None where too few cells are known.

    Columns whose known cells are all equal do not count, and every column keeps a known cell.
    """
    known = ~np.isnan(X)
    _, scale, varies = measure_columns(X, known)
    hidden = known & varies & (stream(Purpose.IMPUTER_ERROR, seed).random(X.shape) < MASKED_SHARE)
    hidden &= (known & ~hidden).any(axis=0)
    if not hidden.any():
        return None
    seen = np.where(hidden, np.nan, X)
    means = measure_columns(seen, known & ~hidden)[0]

    def error(found: Array) -> float:
        return float(np.sqrt(np.mean(((found / scale - X / scale)[hidden]) ** 2)))

    return MaskedError(int(hidden.sum()), error(fill(seen)), error(np.broadcast_to(means, X.shape)))
