"""Delimited text through pyarrow's CSV reader, MovieLens' "::" included."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

from pygeco.columns import ReadError
from pygeco.data.sources import HEAD, Source
from pygeco.tables import pyarrow

SEPARATORS = ("::", "\t", ",", ";", "|", " ")
WORDS = {"\t": "tab-separated", ",": "CSV", " ": "space-separated"}
UNIT = b"\x1f"  # stands for "::", which pyarrow does not take; no text contains it
BLOCK = 1 << 22


class Sniffed(NamedTuple):
    """How the lines of a text are divided."""

    separator: str
    header: bool
    names: list[str]

    @property
    def words(self) -> str:
        kind = WORDS.get(self.separator, f'"{self.separator}"-separated')
        return f"{kind}, {'with' if self.header else 'without'} a header"


def sniffed(file: Source) -> Sniffed:
    """Separator and names from the first lines.

    The first line is a header if no field of it is a number: a line of data has a rating.
    """
    text = _decoded(file.head)
    lines = [line for line in text.splitlines()[:8] if line.strip()]
    if len(lines) > 1 and not text.endswith("\n"):
        lines = lines[:-1] or lines  # the head may end inside a line
    if not lines:
        raise ReadError(f"{file.name} is empty; give a file with ratings.")
    counts = {sign: [len(_fields(line, sign)) for line in lines] for sign in SEPARATORS}
    steady = [s for s in SEPARATORS if min(counts[s]) == max(counts[s]) > 1]
    likely = steady or [sign for sign in SEPARATORS if counts[sign][0] > 1]
    if not likely:
        raise ReadError(
            f"{file.name} has one column only, beginning {lines[0][:40]!r}; separate the columns "
            "by commas, tabs, semicolons or '::'."
        )
    first = _fields(lines[0], likely[0])
    header = not any(_is_number(field) for field in first)
    names = first if header else [str(k + 1) for k in range(len(first))]
    return Sniffed(likely[0], header, names)


def read_delimited(file: Source, at: list[int]) -> Any:
    """The columns at these places, their types found by pyarrow."""
    how = sniffed(file)
    pa = pyarrow()
    for text_only, encoding in ((False, "utf8"), (True, "utf8"), (True, "latin-1")):
        try:
            table = _read(file, how, at, text_only, encoding)
        except pa.ArrowInvalid as error:
            told = str(error)
            if "conversion error" in told or "UTF8" in told:
                continue
            raise ReadError(f"{file.name}: {_sentence(told)}") from error
        if any(pa.types.is_binary(column.type) for column in table.columns):
            continue  # what pyarrow makes of text that is not UTF-8
        return _narrowed(table) if text_only else table
    raise ReadError(f"{file.name} is not text in UTF-8 or Latin-1; convert it.")


def _read(file: Source, how: Sniffed, at: list[int], text_only: bool, encoding: str) -> Any:
    from pyarrow import csv as arrow_csv

    doubled = how.separator == "::"
    names = [f"c{k}" for k in range(len(how.names))]
    wanted = [names[k] for k in at]
    quoted = not doubled and b'"' in file.head
    with _single(file) if doubled else file.stream() as stream:
        return arrow_csv.read_csv(
            stream,
            read_options=arrow_csv.ReadOptions(
                column_names=names,
                skip_rows=int(how.header),
                block_size=BLOCK,
                encoding=encoding,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=UNIT.decode() if doubled else how.separator,
                quote_char=False if doubled else '"',
                newlines_in_values=quoted,
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pyarrow().string()) if text_only else None,
            ),
        )


@contextmanager
def _single(file: Source) -> Iterator[Any]:
    with file.file() as raw, pyarrow().PythonFile(_Single(raw), mode="r") as stream:
        yield stream


def _narrowed(table: Any) -> Any:
    """Text columns as integers or numbers where every value is one."""
    pa = pyarrow()
    for k, column in enumerate(table.columns):
        for kind in (pa.int64(), pa.float64()):
            try:
                table = table.set_column(k, table.column_names[k], column.cast(kind))
            except pa.ArrowInvalid:
                continue
            break
    return table


class _Single(io.RawIOBase):
    """A file with one sign for each "::"."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.rest = file, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            return self.rest + self.file.read().replace(b"::", UNIT)
        if not self.rest:
            raw = self.file.read(size)
            if (len(raw) - len(raw.rstrip(b":"))) % 2:  # the other half may come next
                raw += self.file.read(1)
            self.rest = raw.replace(b"::", UNIT)
        given, self.rest = self.rest[:size], self.rest[size:]
        return given


def _fields(line: str, separator: str) -> list[str]:
    if separator == "::":
        return line.split("::")
    return [field.strip() for field in next(csv.reader([line], delimiter=separator), [])]


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _decoded(head: bytes) -> str:
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # A character may be cut at the end of the head, though not at the end of the file.
        cut = len(head) == HEAD and error.start > HEAD - 4
        return head[: error.start].decode("utf-8-sig") if cut else head.decode("latin-1")


def _sentence(told: str) -> str:
    """Pyarrow's message in this package's words."""
    found = re.search(r"Expected (\d+) columns, got (\d+): (.*)", told, re.DOTALL)
    if found is None:
        return told.strip().splitlines()[0].rstrip(".") + "."
    want, got, line = found.groups()
    shown = line.strip().splitlines()[0][:60] if line.strip() else ""
    return f"the line {shown!r} has {got} field(s) where others have {want}; correct it."
