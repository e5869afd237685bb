"""The place of each cell within its row, and the last of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def count_to_end(rows: NDArray[Any], order: NDArray[Any] | None = None) -> NDArray[np.int64]:
    """How many cells of its row come after each, by `order`; among equals as they are given."""
    by = np.lexsort((np.arange(len(rows)), rows if order is None else order, rows))
    own = rows[by]
    ends = np.searchsorted(own, own, side="right")
    out = np.empty(len(rows), np.int64)
    out[by] = ends - 1 - np.arange(len(rows))
    return out


def check_times(given: ArrayLike, count: int | None = None, what: str = "cells") -> NDArray[Any]:
    """Times of cells as an array; none may be missing: nobody knows what such a cell comes after.

    With a count, there is one for each of so many of `what`.
    """
    times = np.asarray(given)
    if times.ndim != 1 or (count is not None and len(times) != count):
        said = f"{len(times):,}" if times.ndim == 1 else f"the shape {times.shape}"
        wanted = "one for each cell" if count is None else f"one for each of {count:,} {what}"
        raise ValueError(f"times: has {said}; give {wanted}.")
    if times.dtype.kind == "O":
        missing = np.array([not _equals_itself(one) for one in times], bool)
    else:
        missing = times != times  # as NaN and NaT are
    if missing.any():
        raise ValueError(
            f"times: number {int(np.argmax(missing))} is missing; leave such cells out, or give "
            "them a time."
        )
    return times


def _equals_itself(one: object) -> bool:
    """What NaN, NaT, None and the NA of pandas do not."""
    try:
        return one is not None and bool(one == one)
    except TypeError:
        return False


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
