"""Some rows and columns of a dense matrix, from which scales are estimated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import on
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.engines import Table

# Rows and columns, at least and at most, of the part.
SAMPLE_LINES = 128, 512


class Sample(NamedTuple):
    """Rows, columns, which of their cells are observed, and the values there.

    `varies` says which of the columns have more than one value; all where none has. A location
    meets the others exactly, so that they say nothing of the noise.
    """

    rows: NDArray[np.intp]
    cols: NDArray[np.intp]
    seen: NDArray[np.bool_]
    values: Array
    varies: NDArray[np.bool_]


def draw_sample(table: Table, like: Array) -> Sample:
    """Rows and columns at random, the same for every table of this shape; `like` tells a device."""
    rng, shape = stream(Purpose.SAMPLE), table.values.shape
    size = int(np.clip(np.sqrt(shape[0] * shape[1]) / 4, *SAMPLE_LINES))
    while True:
        chosen = (np.sort(rng.permutation(count)[:size]) for count in shape)
        i, j = (on(index, like) for index in chosen)
        at = np.ix_(i, j)
        y = table.values[at].astype(table.dtype)
        seen = ~np.isnan(y)
        for w in table.weights:
            seen &= w[at] > 0
        if int(np.count_nonzero(seen)) >= SAMPLE_LINES[0] or size >= max(shape):
            return Sample(i, j, seen, y, find_varying(y, seen))
        size *= 2


def find_varying(y: Array, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which columns have more than one value where they are seen; all where none has."""
    high = np.where(seen, y, -np.inf).max(axis=0)
    varies = high > np.where(seen, y, np.inf).min(axis=0)
    return varies if bool(np.any(varies)) else np.ones_like(varies)
