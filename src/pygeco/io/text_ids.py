"""Ids and numbers that were written as text: what the text says, and no more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pygeco.io.plain_texts import unpack_codes
from pygeco.io.tables import is_text, pyarrow
from pygeco.io.written_ids import write_ids

# What stands for a missing id among numbers; among texts "NA" is an id like any other.
MISSING_IDS = ("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "None", r"\N")
MISSING_RATINGS = (*MISSING_IDS, "NAN", "?", "-")
GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")  # by thousands
BELOW_THOUSAND = re.compile(r"[-+]?\d{1,3}")
JUDGED_TEXTS = 10_000  # of a column, for its commas
DECIMAL_COMMA = r"^\s*[-+]?\d+(,\d+)?\s*$"


def narrow_ids(column: Any) -> Any:
    """A column of text as whole numbers, numbers, dates, times or booleans, if each value of it
    is written back as it was read; else as text.

    So `01` and `1` stay two ids, as do `1.10` and `1.1`. Spaces around a value are not part of it.
    A column that is no text stays.
    """
    pa = pyarrow()
    if not is_text(column):
        return column
    encoded = column.dictionary_encode().unify_dictionaries()  # a few texts say it for all
    if not encoded.num_chunks:
        return column
    texts = _without_gaps(encoded.chunk(0).dictionary)
    kinds = (pa.int64(), pa.uint64(), pa.bool_(), pa.date32(), pa.timestamp("s"))
    kind = next((kind for kind in kinds if _round_trips(texts, kind)), None)
    if kind is None and not _are_floats(texts):
        return trim_texts(column)
    values = texts.cast(kind or pa.float64())
    return pa.chunked_array([values.take(chunk.indices) for chunk in encoded.chunks])


def trim_texts(column: Any) -> Any:
    """Text without the white space around it, which is no part of a field."""
    trimmed = pyarrow().compute.utf8_trim_whitespace(column)
    return column if trimmed.equals(column) else trimmed


def _without_gaps(column: Any) -> Any:
    """Trimmed, and null where nothing or a word for it stands."""
    pa = pyarrow()
    trimmed = pa.compute.utf8_trim_whitespace(column)
    missing = pa.compute.is_in(trimmed, pa.array(MISSING_IDS))
    return pa.compute.if_else(missing, pa.scalar(None, pa.string()), trimmed)


def _round_trips(texts: Any, kind: Any) -> bool:
    pa = pyarrow()
    if texts.null_count == len(texts):
        return False
    try:
        return bool(texts.cast(kind).cast(pa.string()).equals(texts))
    except pa.ArrowException:
        return False


def _are_floats(texts: Any) -> bool:
    """Whether Python writes each number as it stands there, a decimal point in it."""
    for text in texts.drop_null().to_pylist():
        try:
            if text != repr(float(text)) or text[-1] not in "0123456789":  # nan, inf
                return False
        except ValueError:
            return False
    return texts.null_count < len(texts)


def id_texts(column: Any, name: str) -> Any:
    """Ids of any kind as the text that `narrow_ids` would take for them."""
    pa = pyarrow()
    column = write_ids(unpack_codes(column), name)
    if pa.types.is_floating(column.type):  # Arrow writes 1.0 as 1
        return pa.chunked_array([pa.array(map(_float_text, column.to_pylist()), pa.string())])
    return column.cast(pa.string())


def _float_text(number: float | None) -> str | None:
    return None if number is None else repr(number)


def drop_missing_words(column: Any) -> Any:
    """A column of ratings without space around what it says, and null where that is a word for a
    missing one; no text is as it was.
    """
    pa = pyarrow()
    if not is_text(column):
        return column
    trimmed = pa.compute.utf8_trim_whitespace(column)
    missing = pa.compute.is_in(trimmed, pa.array(MISSING_RATINGS, trimmed.type))
    return pa.compute.if_else(missing, pa.scalar(None, trimmed.type), trimmed)


def has_thousands(numbers: Sequence[str]) -> bool:
    """Whether commas in numbers part thousands, and are no decimal ones.

    Each then has three digits behind it. So have decimals of a fixed width, but those have commas
    in every number; and decimals by chance, but those do not end in a zero.
    """
    grouped = [text for text in numbers if "," in text]
    plain = [text for text in numbers if "," not in text]
    return (
        bool(plain)
        and any(text.endswith("0") for text in grouped)
        and all(map(GROUPED.fullmatch, grouped))
        and all(map(BELOW_THOUSAND.fullmatch, plain))
    )


def tell_commas(column: Any) -> str:
    """A word about decimal commas in text, where all of them might part thousands as well."""
    if not is_text(column):
        return ""
    written = drop_missing_words(column).drop_null().slice(0, JUDGED_TEXTS).to_pylist()
    grouped = [text for text in written if GROUPED.fullmatch(text)]
    are_odd = all(map(BELOW_THOUSAND.fullmatch, set(written).difference(grouped)))
    if not grouped or not are_odd or has_thousands(written):
        return ""
    return f"decimal commas: {grouped[0]!r} is {grouped[0].replace(',', '.')}"


def replace_commas(column: Any) -> Any:
    """Text with decimal commas as numbers; anything else as it is."""
    pa = pyarrow()
    if not pa.types.is_string(column.type):
        return column
    written = drop_missing_words(column).drop_null()
    if has_thousands(written.slice(0, JUDGED_TEXTS).to_pylist()):
        return column
    if not pa.compute.all(pa.compute.match_substring_regex(written, DECIMAL_COMMA)).as_py():
        return column
    return pa.compute.replace_substring(column, ",", ".")
