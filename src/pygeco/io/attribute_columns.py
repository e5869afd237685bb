"""A column of attributes as numbers, as texts with their codes, or as lists of words.

Each of the three can be read as another where a user asks for it: codes of occupations as texts,
texts of digits as numbers, "Action|Comedy" as two words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.io.origins import as_counts, count_per_second
from pygeco.io.plain_texts import unpack_codes
from pygeco.io.tables import pyarrow

DAY = 86_400.0  # seconds
TRUTHS = {"False": 0, "True": 1}


class Numbers(NamedTuple):
    """Numbers, or seconds since 1970; NaN is missing."""

    values: NDArray[np.float64]


class Texts(NamedTuple):
    """Row t says levels[codes[t]], or nothing where its code is −1; levels are in their order."""

    codes: NDArray[np.int64]
    levels: tuple[str, ...]


class Words(NamedTuple):
    """Row t has the levels codes[starts[t] : starts[t + 1]], each once, or is missing."""

    starts: NDArray[np.int64]
    codes: NDArray[np.int64]
    levels: tuple[str, ...]
    missing: NDArray[np.bool_]


Column = Numbers | Texts | Words


def sort_levels(codes: NDArray[Any], levels: list[str]) -> Texts:
    """Texts with their levels in order; blank ones are missing."""
    order = sorted((k for k, text in enumerate(levels) if text.strip()), key=levels.__getitem__)
    place = np.full(len(levels) + 1, -1, np.int64)  # the last is where −1 looks
    place[order] = np.arange(len(order))
    return Texts(place[codes], tuple(levels[k] for k in order))


def merge_texts(texts: list[str | None]) -> Texts:
    """One text a row, None where it is missing."""
    place: dict[str, int] = {}
    codes = [-1 if text is None else place.setdefault(text, len(place)) for text in texts]
    return sort_levels(np.array(codes, np.int64), list(place))


def number_text(number: float) -> str:
    """A whole number without a point: tables with gaps hold whole numbers as floats."""
    return str(int(number)) if number.is_integer() else repr(number)


def as_numbers(column: Column, name: str) -> Numbers:
    """Numbers as they are, or those that the texts say; False is 0 and True 1."""
    if isinstance(column, Numbers):
        return column
    if isinstance(column, Words):
        raise ValueError(f"column {name!r}: holds lists, not numbers; name it in lists=.")
    values = np.full(len(column.levels) + 1, np.nan)
    for k, text in enumerate(column.levels):
        try:
            values[k] = float(TRUTHS.get(text, text))
        except ValueError:
            row = int(np.argmax(column.codes == k)) + 1
            raise ValueError(
                f"column {name!r}: expected numbers, but row {row} says {text!r}; correct that "
                "row, or name the column in categories=."
            ) from None
    return Numbers(values[column.codes])


def as_texts(column: Column, name: str) -> Texts:
    """Texts as they are; of numbers each distinct one, in the order of the numbers."""
    if isinstance(column, Texts):
        return column
    if isinstance(column, Words):
        raise ValueError(f"column {name!r}: holds lists, not categories; name it in lists=.")
    known = ~np.isnan(column.values)
    distinct, codes = np.unique(column.values[known], return_inverse=True)
    out = np.full(len(known), -1, np.int64)
    out[known] = codes
    return Texts(out, tuple(number_text(float(number)) for number in distinct))


def as_words(column: Column, name: str, separator: str | None) -> Words:
    """Lists as they are; of texts the words between separators, or each as one word with None."""
    if isinstance(column, Words):
        return column
    texts = as_texts(column, name)
    parts = [_split(text, separator) for text in texts.levels]
    if separator is None:
        levels = texts.levels
    else:
        levels = tuple(sorted({word for part in parts for word in part}))
    place = {word: k for k, word in enumerate(levels)}
    counts = np.array([*map(len, parts), 0], np.int64)  # the last is that of a missing text
    flat = np.array([place[word] for part in parts for word in part], np.int64)
    missing = counts[texts.codes] == 0
    return Words(*take_lists(counts, flat, texts.codes), levels, missing)


def _split(text: str, separator: str | None) -> list[str]:
    if separator is None:
        return [text]
    words = (word.strip() for word in text.split(separator))
    return list(dict.fromkeys(word for word in words if word))


def take_lists(
    counts: NDArray[np.int64], flat: NDArray[np.int64], at: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Starts and items of the lists `at`, of lists that stand in `flat` one after the other."""
    ends = np.cumsum(counts)
    sizes = counts[at]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    inside = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    return starts, flat[np.repeat((ends - counts)[at], sizes) + inside]


def words_of_lists(rows: list[Any], name: str) -> Words:
    """One list of words a row, None where it is missing; whole numbers count as words."""
    missing = np.array([row is None for row in rows], bool)
    lists = [[] if row is None else [_word(item, name) for item in row] for row in rows]
    lists = [list(dict.fromkeys(word for word in row if word)) for row in lists]
    levels = tuple(sorted({word for row in lists for word in row}))
    place = {word: k for k, word in enumerate(levels)}
    starts = np.concatenate([[0], np.cumsum([len(row) for row in lists], dtype=np.int64)])
    codes = np.array([place[word] for row in lists for word in row], np.int64)
    return Words(starts.astype(np.int64), codes, levels, missing)


def _word(item: Any, name: str) -> str:
    if item is None:
        return ""
    if isinstance(item, str):
        return item.strip()
    if isinstance(item, (int, np.integer)):
        return str(int(item))
    raise ValueError(
        f"column {name!r}: its lists hold {type(item).__name__}, not words; give such numbers as "
        "columns of their own, or as a matrix."
    )


def read_arrow(column: Any, name: str) -> Column:
    """A column of an Arrow table."""
    pa = pyarrow()
    t = pa.types
    column = unpack_codes(column)
    kind = column.type
    if t.is_null(kind):
        return Numbers(np.full(len(column), np.nan))
    if t.is_boolean(kind):
        codes = column.cast(pa.int8()).fill_null(-1).to_numpy()
        return Texts(codes.astype(np.int64), tuple(TRUTHS))
    if t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind):
        return Numbers(_floats(column))
    if t.is_temporal(kind) and not t.is_interval(kind):
        counts = _floats(as_counts(column))
        # Divided, whole seconds stay whole.
        return Numbers(counts * DAY if t.is_date32(kind) else counts / count_per_second(kind))
    if t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
        return _arrow_texts(column.cast(pa.string()))
    if t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind):
        return words_of_lists(column.to_pylist(), name)
    raise ValueError(
        f"column {name!r}: values of type {kind} cannot be attributes; convert them, or leave the "
        "column out."
    )


def _floats(column: Any) -> NDArray[np.float64]:
    found = column.cast(pyarrow().float64(), safe=False)
    return np.asarray(found.to_numpy(), np.float64)  # null is NaN there


def _arrow_texts(column: Any) -> Texts:
    encoded = column.dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return Texts(np.zeros(0, np.int64), ())
    codes = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    levels = encoded.chunk(0).dictionary.to_pylist()
    return sort_levels(np.concatenate(codes).astype(np.int64), levels)
