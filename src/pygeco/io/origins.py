"""Whole numbers and times that float64 does not tell apart, counted from near them.

An origin is a whole number in the terms of a column: of seconds for dates and times, and then of
whole days. Zero where float64 holds the cells as they are, or where they lie too far apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.io.tables import pyarrow

MAX_EXACT = 1 << 53  # whole numbers up to here are floats
MAX_SPREAD = 1 << 50  # counts about an origin whose seconds still say every nanosecond
DAY = 86_400  # seconds
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def find_origin(column: Any) -> int:
    """Where the cells of an Arrow column are counted from so that none is rounded; mostly 0."""
    t = pyarrow().types
    if not (t.is_integer(column.type) or t.is_temporal(column.type)) or _is_short(column.type):
        return 0
    ends = pyarrow().compute.min_max(as_counts(column)).as_py()
    low, high = ends["min"], ends["max"]
    if low is None or max(-low, high) <= MAX_EXACT or high - low > MAX_SPREAD:
        return 0
    if t.is_temporal(column.type):
        return int(low // (DAY * count_per_second(column.type)) * DAY)
    return int(low - 1)


def subtract_origin(column: Any, origin: int) -> Array:
    """The cells of a column of whole numbers or times beyond an origin; NaN is missing."""
    is_moment = pyarrow().types.is_temporal(column.type)
    if pyarrow().types.is_date32(column.type):
        unit, start = 1.0 / DAY, origin // DAY
    else:
        unit = float(count_per_second(column.type)) if is_moment else 1.0
        start = origin * int(unit)
    counts = as_counts(column)
    missing = np.asarray(counts.is_null())
    cells = np.asarray(counts.fill_null(0).to_numpy())
    far = cells.astype(float) - float(start)
    near = (cells.astype(np.uint64) - np.uint64(start % (1 << 64))).view(np.int64)
    found = np.where(np.abs(far) < 2.0**62, near, far) / unit
    found[missing] = np.nan
    return found


def add_origin(x: Array, start: int, low: int, high: int) -> NDArray[Any]:
    """Counts from `start` on as whole numbers of 64 bits, none below `low` or above `high`."""
    kind: Any = np.int64 if high < 1 << 63 else np.uint64
    if start:
        return np.array([min(max(start + int(one), low), high) for one in np.rint(x)], kind)
    ends = [float(end) for end in (low, high)]
    first, last = (
        end if abs(end) <= abs(limit) else np.nextafter(end, 0.0)
        for end, limit in zip(ends, (low, high), strict=True)
    )
    return np.clip(np.rint(x), first, last).astype(kind)


def as_counts(column: Any) -> Any:
    """Dates and times as the whole numbers that Arrow keeps of them; whole numbers as they are."""
    pa = pyarrow()
    if not pa.types.is_temporal(column.type):
        return column
    return column.cast(pa.int32() if _is_short(column.type) else pa.int64())


def count_per_second(kind: Any) -> int:
    """How many counts of an Arrow type of times are a second; date64 counts milliseconds."""
    return PER_SECOND[getattr(kind, "unit", "ms")]


def _is_short(kind: Any) -> bool:
    return int(kind.bit_width) < 64
