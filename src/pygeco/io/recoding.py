"""Bytes that are changed on their way to pyarrow's readers.

pyarrow has a way to recode text, which its threads may let go of when Python has ended already:
the process is aborted then. What is here is lent to them, see `lending`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from pygeco.io.lending import lend_file
from pygeco.io.sources import Source

UNIT = b"\x1f"  # stands for "::", which pyarrow does not take; no text contains it

Change = Callable[[bytes], bytes]


def join_colons(block: bytes) -> bytes:
    """One sign for each "::"."""
    return block.replace(b"::", UNIT)


class SpaceSqueezer:
    """One space for several in a row, and none at the ends of a line; blocks come in order."""

    def __init__(self) -> None:
        self.is_start, self.held = True, b""  # of a line; a space that waits for what follows

    def __call__(self, block: bytes) -> bytes:
        text = b"\n" * self.is_start + self.held + block
        while b"  " in text:
            text = text.replace(b"  ", b" ")
        for end in (b"\r", b"\n"):
            text = text.replace(b" " + end, end).replace(end + b" ", end)
        self.held = text[-1:] if text.endswith(b" ") else b""
        text = text[int(self.is_start) : len(text) - len(self.held)]
        self.is_start = text[-1:] in (b"\r", b"\n") if text else self.is_start
        return text


@contextmanager
def open_changed(file: Source, changes: Sequence[Change]) -> Iterator[Any]:
    """A file as pyarrow reads it, after these changes."""
    if not changes:
        with file.stream() as stream:
            yield stream
        return
    with file.file() as raw, lend_file(Changed(raw, changes)) as stream:
        yield stream


class Changed(io.RawIOBase):
    """A file whose blocks go through the changes; a pair of colons is in one block."""

    def __init__(self, file: BinaryIO, changes: Sequence[Change]) -> None:
        self.file, self.changes, self.rest = file, changes, b""

    def read(self, size: int | None = -1, /) -> bytes:
        """As many bytes as are asked for, but at the end: pyarrow's readers parse what they get at
        once, and a few bytes left over from a block may hold no line.
        """
        if size is None or size < 0:
            return self.rest + self._change(self.file.read())
        while len(self.rest) < size and (raw := self.file.read(size)):
            if (len(raw) - len(raw.rstrip(b":"))) % 2:  # the other half may come next
                raw += self.file.read(1)
            self.rest += self._change(raw)
        given, self.rest = self.rest[:size], self.rest[size:]
        return given

    def _change(self, block: bytes) -> bytes:
        for change in self.changes:
            block = change(block)
        return block
