"""The place of each cell within its row, and the last of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def count_to_end(rows: NDArray[Any], order: NDArray[Any] | None = None) -> NDArray[np.int64]:
    """How many cells of its row come after each, by `order`; among equals as they are given."""
    by = np.lexsort((np.arange(len(rows)), rows if order is None else order, rows))
    own = rows[by]
    ends = np.searchsorted(own, own, side="right")
    out = np.empty(len(rows), np.int64)
    out[by] = ends - 1 - np.arange(len(rows))
    return out


def hold_out_last(
    rows: NDArray[Any], test_size: float | int, order: NDArray[Any] | None = None
) -> NDArray[np.bool_]:
    """The last cells of each row: a number of them, or a share, at least one.

    A row keeps one cell at least; one with a single cell has none held out.
    """
    rows = np.asarray(rows)
    counts = np.unique(rows, return_inverse=True, return_counts=True)
    own = counts[2][counts[1]]
    share = isinstance(test_size, (float, np.floating))
    wanted = np.maximum(1, np.rint(test_size * own)) if share else np.full(len(own), test_size)
    return np.asarray(count_to_end(rows, order) < np.minimum(wanted, own - 1))
