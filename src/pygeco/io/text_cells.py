"""Cells of tables in text: what types they are of, and cells of these types as text again."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

from pygeco.io.headers import MISSING
from pygeco.io.tables import is_text, pyarrow
from pygeco.io.text_ids import JUDGED_TEXTS, has_thousands

PADDED = r"^-?0[\dxX]"  # a whole number that is a code, such as one of a place, or hexadecimal
WHOLE = r"^[-+]?\d+$"
# A moment: the sign before the time, the time, and the zone.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?P<sign>[T ])(?P<time>[\d:.]+)(?P<zone>Z|[-+]\d\d(:?\d\d)?)?")
DATE_WIDTH = len("2024-05-01")
ROWS_AT_ONCE = 1 << 16  # that are written


def type_texts(texts: Any, *, comma: bool = False) -> Any:
    """A column of texts as numbers, truths, dates or times where each known one is such.

    Whole numbers that have zeros before them or that int64 does not hold stay texts: they are
    codes. With `comma` numbers have decimal commas. Texts stay as they are; empty ones are missing.
    """
    pa = pyarrow()
    pc = pa.compute
    trimmed = pc.utf8_trim_whitespace(texts)
    gone = pc.is_in(trimmed, value_set=pa.array(MISSING))
    known = pc.if_else(gone, pa.scalar(None, pa.string()), trimmed)
    if known.null_count == len(known):
        return pa.chunked_array([pa.nulls(len(known))])
    for parse in (_parse_whole, _parse_commas if comma else _parse_floats, *_PARSERS):
        with suppress(pa.ArrowInvalid):
            return parse(known)
    empty = pc.equal(texts, "")
    return (
        pc.if_else(empty, pa.scalar(None, pa.string()), texts) if pc.any(empty).as_py() else texts
    )


def _parse_whole(known: Any) -> Any:
    pa = pyarrow()
    found = known.cast(pa.int64())
    if pa.compute.any(pa.compute.match_substring_regex(known, PADDED)).as_py():
        raise pa.ArrowInvalid("a code")
    return found


def _parse_floats(known: Any) -> Any:
    pa = pyarrow()
    pc = pa.compute
    found = known.cast(pa.float64())
    if pc.all(pc.match_substring_regex(known, WHOLE)).as_py():
        raise pa.ArrowInvalid("a code")
    return pc.if_else(pc.is_nan(found), pa.scalar(None, pa.float64()), found)


def _parse_commas(known: Any) -> Any:
    pa = pyarrow()
    if pa.compute.any(pa.compute.match_substring(known, ".")).as_py():
        raise pa.ArrowInvalid("a point stands for thousands")
    if has_thousands(known.drop_null().slice(0, JUDGED_TEXTS).to_pylist()):
        raise pa.ArrowInvalid("a comma stands for thousands")
    return _parse_floats(pa.compute.replace_substring(known, ",", "."))


def _parse_times(known: Any) -> Any:
    """Times of a day, which Arrow reads behind a date only."""
    pa = pyarrow()
    moments = pa.compute.binary_join_element_wise("1970-01-01", known, " ")
    return moments.cast(pa.timestamp("s")).cast(pa.time32("s"))


def _parse_as(kind: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda known: known.cast(kind(pyarrow()))


_PARSERS = (
    _parse_as(lambda pa: pa.bool_()),
    _parse_as(lambda pa: pa.date32()),
    _parse_times,
    _parse_as(lambda pa: pa.timestamp("s")),
    _parse_as(lambda pa: pa.timestamp("s", "UTC")),
    _parse_as(lambda pa: pa.timestamp("ns")),
    _parse_as(lambda pa: pa.timestamp("ns", "UTC")),
)


def put_cells(given: Any, before: Any, filled: Any) -> Any:
    """The table `given` with those cells of `filled` that were missing in the same table `before`.

    What is put into texts becomes a text.
    """
    pa = pyarrow()
    pc = pa.compute
    fields, columns = list(filled.schema), filled.columns
    for k, cells in enumerate(columns):
        own = given.column(k)
        missing = pc.is_null(before.column(k), nan_is_null=True)
        put = pc.and_(missing, pc.is_valid(cells))
        if not pc.any(put).as_py():
            fields[k], columns[k] = given.field(k), own
        elif is_text(own):
            known = own.filter(pc.invert(missing))
            texts = pc.if_else(put, write_cells(cells, known), own)
            fields[k], columns[k] = given.field(k), texts
    return pa.table(columns, schema=pa.schema(fields, filled.schema.metadata))


def write_cells(cells: Any, texts: Any) -> Any:
    """Cells of any type as text; truths, dates and times as these known texts are written."""
    pa = pyarrow()
    t = pa.types
    if t.is_boolean(cells.type):
        words = {word.strip().lower(): word.strip() for word in texts.unique().to_pylist()}
        some = next(iter(words.values()), "")  # one that is not there is written like this
        case = str.upper if some.isupper() else str.title if some.istitle() else str.lower
        yes, no = (words.get(word, case(word)) for word in ("true", "false"))
        return pa.compute.if_else(cells, yes, no)
    example = texts[0].as_py().strip() if len(texts) else ""
    if t.is_time(cells.type):
        return pa.compute.utf8_slice_codeunits(cells.cast(pa.string()), 0, len(example) or None)
    if t.is_timestamp(cells.type) and (shown := MOMENT.fullmatch(example)):
        return _write_moments(cells, shown)
    return cells.cast(pa.string())


def _write_moments(cells: Any, shown: re.Match[str]) -> Any:
    pa = pyarrow()
    zone = shown["zone"] or ""
    unit = cells.type.unit
    plain = cells.cast(pa.timestamp(unit))  # in UTC, where there are zones
    if zone not in ("", "Z"):
        minutes = int(zone[1:3]) * 60 + int(zone[3:].lstrip(":") or 0)
        shift = pa.scalar(int(f"{zone[0]}{minutes}") * 60, pa.duration("s")).cast(pa.duration(unit))
        plain = pa.compute.add(plain, shift)
    wide = DATE_WIDTH + 1 + len(shown["time"])
    told = pa.compute.utf8_slice_codeunits(plain.cast(pa.string()), 0, wide)
    told = pa.compute.replace_substring(told, " ", shown["sign"])
    return pa.compute.binary_join_element_wise(told, zone, "")


def write_text(file: BinaryIO, table: Any, separator: str, *, named: bool) -> None:
    """A table as text, quoted only where a cell has a separator, a quote or the end of a line."""
    pa = pyarrow()
    if named:
        header = [_quote(pa.array([name]), separator)[0].as_py() for name in table.column_names]
        file.write(separator.encode().join(header) + b"\n")
    for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
        names, columns = batch.schema.names, batch.columns
        cells = [_write_plain(*both, separator) for both in zip(names, columns, strict=True)]
        lines = pa.compute.binary_join_element_wise(
            *cells,
            pa.scalar(separator.encode(), pa.large_binary()),
            null_handling="replace",
            null_replacement=b"",
        )
        file.write(b"".join(line + b"\n" for line in lines.to_pylist()))


def _write_plain(name: str, column: Any, separator: str) -> Any:
    pa = pyarrow()
    types, kind = pa.types, column.type
    try:
        if not (types.is_binary(kind) or types.is_large_binary(kind) or is_text(column)):
            column = column.cast(pa.string())
    except pa.ArrowNotImplementedError as error:
        raise ValueError(
            f"column {name!r} is of type {kind}, which text cannot hold; write a Parquet file."
        ) from error
    return _quote(column, separator)


def _quote(column: Any, separator: str) -> Any:
    """Bytes of texts, in quotes where they need them."""
    pa = pyarrow()
    pc = pa.compute
    column = column.cast(pa.large_binary())
    special = pc.match_substring_regex(column, f'["\r\n{separator}]')
    if not pc.any(special).as_py():
        return column
    quote, none = (pa.scalar(sign, pa.large_binary()) for sign in (b'"', b""))
    doubled = pc.replace_substring(column, b'"', b'""')
    return pc.if_else(special, pc.binary_join_element_wise(quote, doubled, quote, none), column)
