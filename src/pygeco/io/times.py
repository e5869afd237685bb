"""Times as numbers: seconds since 1970, or what the numbers of a column count.

Numbers may be seconds, milliseconds, microseconds or nanoseconds since 1970, which their size
tells apart; smaller ones, such as days from a start, stay as they are. Times without a zone are
taken for UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.io.plain_texts import unpack_codes
from pygeco.io.tables import pyarrow
from pygeco.io.text_ids import MISSING_IDS

# From 1973 on milliseconds are above the first, seconds are below it for 3,000 years.
SIZES = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
MICROSECOND = "datetime64[us]"
# Of ratings and clicks: 1990 to 2100. Numbers in this range are no ratings.
EARLIEST, LATEST = 631_152_000.0, 4_102_444_800.0


def read_times(given: Any, name: str = "times") -> NDArray[np.float64]:
    """Times of any kind as numbers, NaN where there is none: an Arrow column, an array, a list."""
    if type(given).__module__.split(".")[0] == "pyarrow":
        return _read_arrow(given, name)
    found = np.asarray(given)
    if found.dtype.kind in "iuf":
        return _scale(found.astype(float))
    if found.dtype.kind == "M":
        return _count_seconds(found)
    if found.dtype.kind not in "OUT":
        raise ValueError(describe_non_time(name, found.dtype))
    seconds = np.empty(found.size)
    for t, one in enumerate(found.reshape(-1).tolist()):
        try:
            seconds[t] = _read_one(one)
        except (TypeError, ValueError):
            raise ValueError(describe_non_time(name, one)) from None
    return _scale(seconds.reshape(found.shape))


def are_moments(texts: Sequence[str]) -> bool:
    """Whether all of them that are not missing, one at least, are times of this age."""
    known = [text for text in texts if text.strip() and text.strip() not in MISSING_IDS]
    try:
        found = read_times(np.array(known, dtype=object)) if known else np.zeros(0)
    except ValueError:
        return False
    return bool(len(found) and ((found >= EARLIEST) & (found < LATEST)).all())


def describe_non_time(name: str, shown: object) -> str:
    """A sentence about what is no time."""
    return (
        f"{name}: expected times (seconds since 1970, dates, or text such as 2024-05-01 12:30), "
        f"not {shown!r}."
    )


def _read_arrow(column: Any, name: str) -> NDArray[np.float64]:
    pa = pyarrow()
    column = unpack_codes(column)
    kind = column.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        whole = column.cast(pa.timestamp("us", tz=getattr(kind, "tz", None)), safe=False)
        return _count_seconds(_numpy(whole.cast(pa.int64())).astype(MICROSECOND), whole)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _scale(_numpy(column.cast(pa.float64(), safe=False).fill_null(np.nan)))
    return read_times(np.array(column.to_pylist(), dtype=object), name)


def _numpy(column: Any) -> NDArray[Any]:
    if column.null_count:
        column = column.fill_null(0)
    return np.asarray(column.to_numpy())


def _count_seconds(times: NDArray[Any], column: Any = None) -> NDArray[np.float64]:
    found = times.astype(MICROSECOND).astype(np.int64) / 1e6
    missing = np.isnat(times)
    if column is not None and column.null_count:
        missing = missing | np.asarray(column.is_null().to_numpy())
    return np.where(missing, np.nan, found)


def _read_one(one: object) -> float:
    if one is None:
        return np.nan
    if isinstance(one, str):
        text = one.strip()
        if text in MISSING_IDS:
            return np.nan
        try:
            return float(text)
        except ValueError:
            one = datetime.fromisoformat(text.removesuffix("UTC").rstrip())
    if hasattr(one, "timestamp"):
        known: Any = one if getattr(one, "tzinfo", None) else one.replace(tzinfo=UTC)  # type: ignore[attr-defined]
        return float(known.timestamp())
    if isinstance(one, (int, float, np.integer, np.floating)):
        return float(one)
    return float(np.datetime64(one, "us").astype(np.int64)) / 1e6  # type: ignore[call-overload]


def _scale(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    known = np.abs(numbers[np.isfinite(numbers)])
    middle = float(np.median(known)) if len(known) else 0.0
    for size, unit in SIZES:
        if middle >= size:
            return numbers / unit
    return numbers
