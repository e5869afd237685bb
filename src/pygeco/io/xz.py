"""xz files of several streams, with zeros between and behind them, as the format has it.

Python's own reader takes zeros, and all that follows them, for the end: half of a file was lost.
"""

from __future__ import annotations

import io
import lzma
from typing import Any, BinaryIO

PACKED_BYTES = 1 << 16  # read at once
MAGIC = b"\xfd7zXZ\x00"


class XzFile(io.RawIOBase):
    """The unpacked bytes of all streams of a file."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.packed = file, b""
        self.unpacker: lzma.LZMADecompressor | None = None  # None between streams

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while len(buffer) and (unpacker := self._find_stream()) is not None:
            if unpacker.needs_input and not self.packed:
                self.packed = self.file.read(PACKED_BYTES)
                if not self.packed:
                    raise EOFError("its end is missing")
            data = unpacker.decompress(self.packed, len(buffer))
            self.packed = b""
            if unpacker.eof:
                self.unpacker, self.packed = None, unpacker.unused_data
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0

    def _find_stream(self) -> lzma.LZMADecompressor | None:
        """The stream that is not at its end, or the next one; None behind the last."""
        while self.unpacker is None:
            self.packed = self.packed.lstrip(b"\x00")
            if len(self.packed) < len(MAGIC):
                more = self.file.read(PACKED_BYTES)
                self.packed += more
                if more:
                    continue
                if not self.packed:
                    return None
            if not self.packed.startswith(MAGIC):
                raise lzma.LZMAError("something else follows its packed part")
            self.unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        return self.unpacker
