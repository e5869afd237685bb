"""Columns of attributes from NumPy arrays and from sequences of Python's values."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import fill_masked
from pygeco.io.attribute_columns import (
    DAY,
    TRUTHS,
    Column,
    Numbers,
    Texts,
    merge_texts,
    number_text,
    words_of_lists,
)

LISTS = (list, tuple, set, frozenset, np.ndarray)
PLAIN = {str, int, bool, list, type(None)}  # types without another gap than None
GAPS = ("NAType", "NaTType")  # what pandas puts where nothing is


def as_array(values: Any, name: str) -> NDArray[Any]:
    """One value a row; lists of Python's stay what they are, of any kinds."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise ValueError(f"column {name!r}: expected one value a row, not {values!r:.40}.")
    if hasattr(values, "__array__"):
        found = np.asarray(fill_masked(values))
        if found.ndim != 1:
            raise ValueError(f"column {name!r}: has {found.ndim} dimensions, not one.")
        return found
    found = np.empty(len(values), object)
    for k, value in enumerate(values):
        found[k] = value
    return found


def read_array(values: NDArray[Any], name: str, *, as_text: bool = False) -> Column:
    """A column of an array; with `as_text`, values of several kinds are what Python writes."""
    kind = values.dtype.kind
    if kind == "b":
        return Texts(values.astype(np.int64), tuple(TRUTHS))
    if kind in "iuf":
        return Numbers(values.astype(np.float64))
    if kind in "mM":
        return Numbers(_count_seconds(values))
    if kind in "UT":
        return merge_texts(values.tolist())
    if kind == "O":
        return _read_objects(values.tolist(), name, as_text)
    raise ValueError(f"column {name!r}: values of type {values.dtype} cannot be attributes.")


def _count_seconds(values: NDArray[Any]) -> NDArray[np.float64]:
    step = values / np.timedelta64(1, "s") if values.dtype.kind == "m" else None
    if step is None:
        step = (values - np.datetime64(0, "s")) / np.timedelta64(1, "s")
    return np.asarray(step, np.float64)  # NaT is NaN there


def _is_gap(value: Any) -> bool:
    if value is None or type(value).__name__ in GAPS:
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _read_objects(values: list[Any], name: str, as_text: bool) -> Column:
    types = set(map(type, values))
    if types <= {str, type(None)} and str in types:
        return merge_texts(values)
    if not types <= PLAIN:  # the others may be gaps, too
        values = [None if _is_gap(value) else value for value in values]
    known = [value for value in values if value is not None]
    kinds = {_kind(kind) for kind in set(map(type, known))}
    if not kinds:
        return Numbers(np.full(len(values), np.nan))
    if len(kinds) > 1 and not as_text:
        first = known[0]
        other = next(value for value in known if _kind(type(value)) != _kind(type(first)))
        raise ValueError(
            f"column {name!r}: holds values of several kinds, such as {first!r} and {other!r}; "
            "make them one kind, or name the column in categories=."
        )
    (kind,) = kinds if len(kinds) == 1 else ("mixed",)
    if kind == "list":
        return words_of_lists(values, name)
    if kind == "number":
        return Numbers(np.array([np.nan if x is None else float(x) for x in values]))
    if kind == "time":
        return Numbers(np.array([np.nan if x is None else _seconds(x) for x in values]))
    if kind == "other":
        raise ValueError(
            f"column {name!r}: values of type {type(known[0]).__name__} cannot be attributes; "
            "convert them, or leave the column out."
        )
    return merge_texts([None if x is None else _text(x) for x in values])


def _kind(found: type) -> str:
    kinds: tuple[tuple[Any, str], ...] = (
        (str, "text"),
        ((bool, np.bool_), "boolean"),
        ((int, float, decimal.Decimal, np.integer, np.floating), "number"),
        ((dt.date, dt.timedelta, np.datetime64, np.timedelta64), "time"),
        (LISTS, "list"),
    )
    return next((kind for types, kind in kinds if issubclass(found, types)), "other")


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return number_text(float(value))
    return str(value)


def _seconds(value: Any) -> float:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(_count_seconds(np.array([value]))[0])
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, dt.datetime):
        zoned = value if value.tzinfo is not None else value.replace(tzinfo=dt.UTC)
        return zoned.timestamp()
    return (value.toordinal() - dt.date(1970, 1, 1).toordinal()) * DAY
