"""Quotes in delimited text: lines that go on behind their end, and quotes that nothing closes.

pyarrow takes all that follows such a quote for one field, and says nothing.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from pygeco.errors import ReadError
from pygeco.io.lending import lend_file, lend_object

MARK = "\x1e"  # a line that no text has
_OPEN = re.compile(r'(?:^|[,;\t|])"(?:[^"]|"")*$')


def join_quoted(lines: list[str]) -> list[str]:
    """Lines of which none ends inside a quoted field; the last may, where its rest is not there."""
    joined: list[str] = []
    for line in lines:
        if joined and _OPEN.search(joined[-1]):
            joined[-1] += f"\n{line}"
        else:
            joined.append(line)
    return joined


def has_escapes(text: str, separator: str, *, is_whole: bool) -> bool:
    r"""Whether \" in a text is a quote inside of a field, as MySQL writes it, or the end of a field
    whose last sign is \, as in other files: fields of uneven numbers and fewer lines speak against.
    """
    if '\\"' not in text:
        return False
    end = None if is_whole else -1  # of what is cut off, the last line may end anywhere
    plain, escaped = (_count_fields(text, separator, sign)[:end] for sign in (None, "\\"))
    return len(set(escaped)) <= len(set(plain)) and (
        len(set(plain)) > 1 or len(escaped) >= len(plain)
    )


def _count_fields(text: str, separator: str, escape: str | None) -> list[int]:
    """The number of fields of each line that has any."""
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter=separator, escapechar=escape)
    return [len(row) for row in rows if row]


def read_rows(name: str, text: str, separator: str) -> list[list[str]]:
    """The fields of each line of a text, a header included."""
    lines = io.StringIO(f"{text}\n{MARK}\n", newline="")
    rows = list(csv.reader(lines, delimiter=separator))
    if rows.pop() != [MARK]:
        raise ReadError(_tell_open_quote(name, len([row for row in rows if row])))
    return rows


def _tell_open_quote(name: str, rows: int) -> str:
    return f"{name}: row {rows:,} opens a quote that nothing closes; close it, or take it out."


class LastLine:
    """A line behind the last one, which a reader does not come to where a quote is still open."""

    def __init__(self) -> None:
        self.is_read = False
        lend_object(self)  # `judge` is called by threads of pyarrow's, which keep it for a while

    @contextmanager
    def follow(self, stream: Any) -> Iterator[Any]:
        """A stream of pyarrow's with that line at its end."""
        with lend_file(_Followed(stream)) as followed:
            yield followed

    def judge(self, row: Any) -> str:
        """What pyarrow is to do with a line of another number of fields: blank ones are none."""
        self.is_read = self.is_read or row.text == MARK
        return "error" if row.text.strip(f" \t{MARK}") else "skip"

    def check(self, name: str, rows: int) -> None:
        """Refuse a table whose last row goes on to the end of the text."""
        if not self.is_read:
            raise ReadError(_tell_open_quote(name, rows))


class _Followed(io.RawIOBase):
    """A file with one more line."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.rest = file, f"\n{MARK}\n".encode()

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """As many bytes as are asked for, but at the end."""
        if size is None or size < 0:
            return self.file.read() + self.rest
        found = b""
        while len(found) < size and (more := self.file.read(size - len(found))):
            found += more
        rest, self.rest = self.rest[: size - len(found)], self.rest[size - len(found) :]
        return found + rest
