"""One JSON array of objects as JSON lines, block by block.

Commas between objects become ends of lines, and ends of lines inside of objects become spaces.
"""

from __future__ import annotations

import io
import re
from typing import Any, BinaryIO

import numpy as np

from pygeco.io.sources import BLOCK_BYTES, HEAD_BYTES, Source

ARRAY = re.compile(rb"\s*\[\s*[{\]]")
QUOTE, COMMA, SPACE, LINE_END = b'", \n'
STEPS = np.zeros(256, np.int8)  # of the depth, at each byte
STEPS[list(b"[{")], STEPS[list(b"]}")] = 1, -1
BLANK = np.zeros(256, bool)
BLANK[list(b" \t\r\n")] = True


def unwrap_array(file: Source) -> Source:
    """A file of one array as a file of lines; any other as it is."""
    if not ARRAY.match(file.head):
        return file
    make = LineMaker()
    # As long as it was, for that says whether more follows.
    return file._replace(head=make(file.head) + make.held, wrap=_open_lines)


def _open_lines(file: BinaryIO) -> BinaryIO:
    return io.BufferedReader(_Lines(file), HEAD_BYTES)


class LineMaker:
    """Blocks of an array as blocks of lines; blocks come in order."""

    def __init__(self) -> None:
        self.depth, self.is_quoted, self.has_begun = 0, False, False
        self.held = b""  # backslashes, which say what the next sign is

    def __call__(self, block: bytes) -> bytes:
        block = self.held + block
        own = block.rstrip(b"\\")
        self.held = block[len(own) :]
        if not own:
            return b""
        # No escaped quotes: what they are replaced by is as long.
        bare = own.replace(b"\\\\", b"__").replace(b'\\"', b"__")
        signs = np.frombuffer(bare, np.uint8)
        parity = np.cumsum(signs == QUOTE, dtype=np.uint8)  # which goes round at 256
        outside = ((parity + self.is_quoted) & 1) == 0
        steps = STEPS[signs] * outside
        depth = self.depth + np.cumsum(steps, dtype=np.int64)
        begins, ends = (depth == 1) & (steps == 1), (depth == 0) & (steps == -1)
        beyond = outside & (depth <= 0) & ~BLANK[signs] & ~ends
        if np.count_nonzero(begins) + self.has_begun > 1 or beyond.any():
            raise ValueError("something else follows its array")
        lines = np.frombuffer(own, np.uint8).copy()
        lines[(outside & BLANK[signs]) | begins] = SPACE
        lines[(outside & (signs == COMMA) & (depth == 1)) | ends] = LINE_END
        self.has_begun |= bool(begins.any())
        self.is_quoted, self.depth = not outside[-1], int(depth[-1])
        return lines.tobytes()

    def finish(self) -> None:
        """Refuse an array that does not end."""
        if self.depth or self.is_quoted or self.held:
            raise ValueError("its array has no end")


class _Lines(io.RawIOBase):
    """The lines of a file of one array."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.make, self.rest = file, LineMaker(), memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self.rest:
            block = self.file.read(BLOCK_BYTES)
            self.rest = memoryview(self.make(block))
            if not block:
                self.make.finish()
                return 0
        data, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)
