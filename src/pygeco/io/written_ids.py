"""Ids of types that NumPy does not have, as texts.

Times with a zone are written in UTC with a Z behind: one moment is one id, whatever the zone that
it is given in, and a time without a zone is another id than each of them.
"""

from __future__ import annotations

import datetime as dt
import re
import uuid
from typing import Any

# A time in a text, with its zone; pandas writes a space for the T.
ZONED = re.compile(r".*\d[T ]\d\d.*(Z|[+-]\d\d(:?\d\d)?)")


def write_ids(column: Any, name: str) -> Any:
    """An Arrow column of ids itself, or as text where NumPy has no such type."""
    import pyarrow as pa

    t, kind = pa.types, column.type
    if t.is_float16(kind):  # which Arrow does not sort
        return column.cast("float32")
    if t.is_timestamp(kind) and kind.tz is not None:
        return _write_moments(column)
    if getattr(kind, "extension_name", "") == "arrow.uuid":
        return _write_uuids(column)
    known = (t.is_integer, t.is_floating, t.is_boolean, t.is_date, t.is_timestamp)
    if any(is_known(kind) for is_known in known):
        return column
    try:
        # Bytes of a fixed width are a number, or a pointer of polars', even if they read as text.
        if not t.is_fixed_size_binary(kind):
            return column.cast("string")
    except pa.ArrowException:
        pass
    raise ValueError(f"column {name!r}: ids of type {kind} are not supported; make them text.")


def write_id(one: Any) -> Any:
    """A text, a UUID or a time with a zone as the text that `write_ids` makes of it; else None."""
    if isinstance(one, str):
        return one
    if isinstance(one, uuid.UUID):
        return str(one)
    if isinstance(one, dt.datetime) and one.tzinfo is not None:
        text = one.astimezone(dt.UTC).replace(tzinfo=None).isoformat()
        return (text.rstrip("0").rstrip(".") if "." in text else text) + "Z"
    return None


def has_zone(one: Any) -> bool:
    """Whether a time, or the text of one, has a zone."""
    if isinstance(one, str):
        return ZONED.fullmatch(one) is not None
    return getattr(one, "tzinfo", None) is not None


def _write_moments(column: Any) -> Any:
    import pyarrow as pa

    pc = pa.compute
    texts = column.cast(pa.timestamp(column.type.unit)).cast(pa.string())
    texts = pc.replace_substring(texts, " ", "T")
    texts = pc.replace_substring_regex(texts, r"\.(\d*?)0*$", r".\1")
    return pc.binary_join_element_wise(pc.replace_substring_regex(texts, r"\.$", ""), "Z", "")


def _write_uuids(column: Any) -> Any:
    import pyarrow as pa

    coded = column.cast(pa.binary(16)).dictionary_encode().unify_dictionaries()
    if not coded.num_chunks:
        return pa.chunked_array([], pa.string())
    raw = coded.chunk(0).dictionary.to_pylist()
    texts = pa.array([str(uuid.UUID(bytes=one)) for one in raw], pa.string())
    return pa.chunked_array([texts.take(chunk.indices) for chunk in coded.chunks])
