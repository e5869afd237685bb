"""Delimited text through pyarrow's CSV reader, MovieLens' "::" included."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from itertools import takewhile
from typing import Any, NamedTuple

from pygeco.errors import ReadError
from pygeco.io.encodings import (
    decode_head,
    find_encoding,
    is_unicode,
    make_recoder,
    tell_encoding,
)
from pygeco.io.quotes import LastLine, has_escapes, join_quoted
from pygeco.io.recoding import UNIT, Change, SpaceSqueezer, join_colons, open_changed
from pygeco.io.separators import ALIGNED, find_separator, split_fields
from pygeco.io.sources import HEAD_BYTES, Source
from pygeco.io.tables import pyarrow
from pygeco.io.text_ids import replace_commas, tell_commas
from pygeco.io.whole_numbers import (
    MISSING,
    find_whole_columns,
    watch_numbers,
)

WORDS = {"\t": "tab-separated", ",": "CSV", " ": "space-separated", ALIGNED: "aligned by spaces"}
BLOCK_BYTES = 1 << 22  # that a reader parses at once
REMARKS = ("#", "%", "sep=")  # how lines above a table begin; the last is for Excel
UNKNOWN = "\ufffd"  # which pyarrow says for a byte that is not UTF-8
SNIFFED_LINES = 8  # of the head, which tell the separator
LINE_END = re.compile(r"\r\n|\r|\n")
LEADING_BLANKS = re.compile(r"([ \t]*(\r\n|\r|\n))*")


class Sniffed(NamedTuple):
    """How the lines of a text are divided, and the fields of the first ones, a header included;
    `blanks` is the number of blank lines before them, `breaks` that of line ends inside the first.
    """

    separator: str
    header: bool
    names: list[str]
    lines: list[list[str]]
    blanks: int = 0
    breaks: int = 0

    @property
    def words(self) -> str:
        kind = WORDS.get(self.separator, f'"{self.separator}"-separated')
        return f"{kind}, {'with' if self.header else 'without'} a header"

    def without_header(self) -> Sniffed:
        """The same with the first line as data."""
        return self._replace(header=False, names=_numbered(self.lines[0]))


def sniff_text(file: Source) -> Sniffed:
    """Separator and names from the first lines.

    The first line is a header if no field of it is a number: a line of data has a rating.
    """
    lines = read_head_lines(file)
    if not lines:
        raise ReadError(f"{file.name} is empty; give a file with ratings.")
    separator = find_separator(lines)
    if separator is None:
        raise ReadError(
            f"{file.name} has one column only, beginning {lines[0][:40]!r}; separate the columns "
            "by commas, tabs, semicolons or '::'."
        )
    fields = [split_fields(line, separator) for line in lines]
    first = fields[0]
    header = not any(is_number(field) for field in first)
    blanks = len(LINE_END.findall(_take_blanks(decode_head(file.head))))
    names = first if header else _numbered(first)
    return Sniffed(separator, header, names, fields, blanks, len(LINE_END.findall(lines[0])))


def _numbered(first: list[str]) -> list[str]:
    return [str(k + 1) for k in range(len(first))]


def read_head_lines(file: Source) -> list[str]:
    """The first lines that are not blank, whole ones as far as there are any."""
    text = decode_head(file.head)
    refuse_prose(file.name, _split_lines(text))
    text = text.removeprefix(_take_blanks(text))
    lines = [line for line in _split_lines(text) if line.strip()]
    if len(lines) > 1 and not text.endswith("\n"):
        lines = lines[:-1] or lines  # the head may end inside a line
    refuse_comments(file.name, lines)
    return lines


def _split_lines(text: str) -> list[str]:
    """The first lines; what else Python takes for the end of one is a sign like others."""
    lines = LINE_END.split(text, SNIFFED_LINES)
    return join_quoted(
        lines[:SNIFFED_LINES] if len(lines) > SNIFFED_LINES or lines[-1] else lines[:-1]
    )


def _take_blanks(text: str) -> str:
    """The blank lines at the beginning, with their ends."""
    return text[: LEADING_BLANKS.match(text).end()]  # type: ignore[union-attr]


def refuse_comments(name: str, lines: list[str]) -> None:
    """One sentence about a file that begins with remarks; a header may begin with # too."""
    sign = next((sign for sign in REMARKS if lines and lines[0].startswith(sign)), None)
    if sign is None:
        return
    count = len(list(takewhile(lambda line: line.startswith(sign), lines)))
    separator = find_separator(lines[count:] or lines)  # all may be remarks, or ids that begin so
    if separator and len({len(split_fields(x, separator)) for x in lines[: count + 1]}) > 1:
        raise ReadError(
            f"{name} begins with a comment, {lines[0][:40]!r}; remove the lines that begin "
            f"with {sign!r}."
        )


def refuse_prose(name: str, lines: list[str]) -> None:
    """One sentence about a file with text above its table, which a blank line parts from it."""
    blanks = [k for k, line in enumerate(lines) if not line.strip()]
    if not blanks or not (table := lines[blanks[-1] + 1 :]):
        return
    separator = find_separator(table)
    if separator is None or not (above := [line for line in lines[: blanks[-1]] if line.strip()]):
        return
    widths = {len(split_fields(line, separator)) for line in table}
    if len(widths) == 1 and len(split_fields(above[0], separator)) not in widths:
        raise ReadError(
            f"{name} has text above its table, beginning {above[0][:40]!r}; remove the first "
            f"{blanks[-1] + 1} lines."
        )


def read_delimited(
    file: Source, at: list[int], roles: list[str], how: Sniffed, texts: Collection[str] = ()
) -> tuple[Any, str]:
    """The columns at these places: ratings as numbers where they are, all else as text; and words
    about the encoding, if it is another than UTF-8, and about commas that may mean two things.

    Ids that are whole numbers, and are written as such, are read as numbers; those of `texts` not.
    """
    pa = pyarrow()
    encoding = None if is_unicode(file.head) else find_encoding(file)
    table = _read_whole(file, at, roles, how, texts, encoding)
    if table is not None:
        return table, tell_encoding(encoding)
    escaped = _has_escapes(file, how)
    for text_only, is_odd in ((False, False), (True, False), (True, True)):
        encoding = find_encoding(file) if is_odd and encoding is None else encoding
        kinds = {
            k: pa.string()
            for k, role in zip(at, roles, strict=True)
            if text_only or role != "rating"
        }
        try:
            table = _read(file, how, at, kinds, encoding, escaped)
        except pa.ArrowInvalid as error:
            told = str(error)
            if any(sign in told for sign in ("conversion error", "UTF8", UNKNOWN)):
                continue
            raise ReadError(f"{file.name}: {_sentence(told, how)}") from error
        if any(pa.types.is_binary(column.type) for column in table.columns):
            continue  # what pyarrow makes of text that is not UTF-8
        said = [tell_encoding(encoding)]
        if "rating" in roles and how.separator != ",":
            k = roles.index("rating")
            said.append(tell_commas(table.column(k)))
            table = table.set_column(k, table.column_names[k], replace_commas(table.column(k)))
        return table, ", ".join(filter(None, said))
    raise ReadError(f"{file.name} is not text in UTF-8 or Windows-1252; convert it.")


def _read_whole(
    file: Source,
    at: list[int],
    roles: list[str],
    how: Sniffed,
    texts: Collection[str],
    encoding: bool | None,
) -> Any:
    """The columns where all ids are whole numbers; None where they must be read as text."""
    pa = pyarrow()
    places = dict(zip(roles, at, strict=True))
    words = [places[role] for role in ("title", *texts) if role in places]
    ids = [k for k in at if k not in words and k != places.get("rating")]
    if find_whole_columns(how.lines[1:] if how.header else how.lines, ids) != ids or not ids:
        return None
    kinds = dict.fromkeys(words, pa.string()) | dict.fromkeys(ids, pa.int64())
    try:
        table = _read(file, how, at, kinds, encoding, _has_escapes(file, how), MISSING)
    except (pa.ArrowInvalid, ReadError):
        return None
    types = [table.column(k).type for k, role in enumerate(roles) if role == "rating"]
    is_known = all(pa.types.is_floating(kind) or pa.types.is_integer(kind) for kind in types)
    return table if is_known else None


def _has_escapes(file: Source, how: Sniffed) -> bool:
    is_whole = len(file.head) < HEAD_BYTES
    return len(how.separator) == 1 and has_escapes(
        decode_head(file.head), how.separator, is_whole=is_whole
    )


def _read(
    file: Source,
    how: Sniffed,
    at: list[int],
    kinds: Mapping[int, Any],
    encoding: bool | None,
    escaped: bool,
    missing: Sequence[str] | None = None,
) -> Any:
    from pyarrow import csv as arrow_csv

    doubled, aligned = how.separator == "::", how.separator == ALIGNED
    names = [f"c{k}" for k in range(len(how.names))]
    wanted = [names[k] for k in at]
    last = LastLine()
    with ExitStack() as stack:
        changes: list[Change] = [join_colons] * doubled
        changes += [] if encoding is None else [make_recoder(encoding)]
        changes += [SpaceSqueezer()] * aligned
        stream = stack.enter_context(open_changed(file, changes))
        stream = stack.enter_context(last.follow(stream))
        if missing is not None:
            stream = stack.enter_context(watch_numbers(stream, has_times=not doubled))
        table = arrow_csv.read_csv(
            stream,
            read_options=arrow_csv.ReadOptions(
                column_names=names,
                skip_rows=how.blanks + how.header * (1 + how.breaks),
                block_size=BLOCK_BYTES,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=UNIT.decode() if doubled else how.separator[0],
                quote_char=False if doubled else '"',
                escape_char="\\" if escaped else False,
                newlines_in_values=not doubled,  # the first may come behind the head
                invalid_row_handler=last.judge,
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=wanted,
                column_types={names[k]: kind for k, kind in kinds.items()},
                null_values=missing,
            ),
        )
    last.check(file.name, table.num_rows)
    return table


def is_number(field: str) -> bool:
    """Whether a field is a number, with a decimal point or a decimal comma."""
    try:
        float(field.replace(",", ".", 1))
    except ValueError:
        return False
    return True


def _sentence(told: str, how: Sniffed) -> str:
    """Pyarrow's message in this package's words."""
    if "straddling" in told:
        return (
            f"a line is longer than {BLOCK_BYTES:,} bytes, as behind a quote that nothing closes; "
            "correct it."
        )
    found = re.search(r"Expected (\d+) columns, got (\d+): (.*)", told, re.DOTALL)
    if found is None:
        return told.strip().splitlines()[0].rstrip(".") + "."
    want, got, line = found.groups()
    shown = line.strip().splitlines()[0][:60] if line.strip() else ""
    comma = how.separator == "," and int(got) > int(want)
    hint = " (decimal commas need ; or tabs between the columns)" if comma else ""
    return f"the line {shown!r} has {got} field(s) where others have {want}{hint}; correct it."
