"""Where bytes come from: a path, standard input or an open file, compressed or not."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pygeco.arrays.container import MAGIC
from pygeco.errors import ReadError
from pygeco.io import xz
from pygeco.io.lending import lend_bytes, lend_file
from pygeco.io.tables import pyarrow
from pygeco.io.zips import open_member, split_member

HEAD_BYTES = 1 << 16  # that tell what a file is
BLOCK_BYTES = 1 << 20  # read at once
FIRST_BYTES = 1 << 10  # that tell compression and archives
ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
WORKBOOK = b"\xd0\xcf\x11\xe0"  # of Excel before 2007
SHEETS = (b"[Content_Types].xml", b"xl/", b"opendocument.spreadsheet")  # in newer ones
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # that some programs put in front of text in UTF-8
WIDE_MARKS = {  # how text in such an encoding begins; the longer ones first
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
WIDE_BYTES = 64  # that tell it where there is no such mark
MAGICS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    xz.MAGIC: "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    ZIP: "zip",
    EMPTY_ZIP: "zip",
}
PACKED = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".zip")  # how names of such files end
# Not pyarrow's, which has no xz, and refuses zeros behind gzip, which tapes leave there.
OPENERS: dict[str | None, Callable[[Any], Any]] = {"gzip": gzip.open, "xz": xz.XzFile}
# What these raise over a damaged file.
UNPACKING = (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, zipfile.BadZipFile)
# Told the share of the bytes that have been read, now and then.
Progress = Callable[[float], object]


# A file may take this much memory, or this many times its own size if that is more.
MIN_ROOM_BYTES = 1 << 30
MAX_GROWTH = 100
TEXT_GROWTH = 4  # of a short line of text that becomes a row of three numbers


def check_growth(name: str, size: int, unpacked: int, times: int = MAX_GROWTH) -> None:
    """Refuse `unpacked` bytes from a file of `size`: a bomb, or a header that lies."""
    if unpacked > max(MIN_ROOM_BYTES, times * size):
        raise ReadError(
            f"{name} has {size:,} bytes and would take {unpacked:,} in memory, more than "
            f"{times} times as many; if that is right, unpack or convert it first."
        )


class Source(NamedTuple):
    """Bytes that can be read again from the start, and the first of them.

    A byte order mark is no part of them: so many bytes are `skipped`.
    """

    name: str
    head: bytes
    compression: str | None
    path: str | None
    content: bytes
    progress: Progress | None
    skipped: int = 0
    # Makes the change of each block on its way to a Python file.
    change: Callable[[], Callable[[bytes], bytes]] | None = None
    member: str | None = None  # of a zip archive, where the path names one
    wrap: Callable[[BinaryIO], BinaryIO] | None = None  # around a Python file, before the change

    @contextmanager
    def stream(self) -> Iterator[Any]:
        """The bytes, decompressed, as pyarrow reads them."""
        pa = pyarrow()
        with ExitStack() as stack:
            raw = stack.enter_context(self._raw())
            if self.compression == "zip":
                name = self.name if self.path is None else os.path.basename(self.path)
                raw = stack.enter_context(open_member(raw, name, self.member, self.path))
            elif self.compression in OPENERS:
                raw = stack.enter_context(OPENERS[self.compression](raw))
            whole = stack.enter_context(lend_file(raw))
            if self.compression not in (None, "zip", *OPENERS):
                whole = stack.enter_context(pa.CompressedInputStream(whole, self.compression))
            if self.compression is not None:
                limited = io.BufferedReader(_Limited(whole, self), HEAD_BYTES)
                whole = stack.enter_context(lend_file(limited))
            if self.skipped:
                whole.read(self.skipped)
            yield whole

    @contextmanager
    def file(self) -> Iterator[BinaryIO]:
        """The bytes, decompressed, as a Python file."""
        from pygeco.io.recoding import Changed

        with self.stream() as stream, io.BufferedReader(_Arrow(stream), HEAD_BYTES) as file:
            lines: Any = file if self.wrap is None else self.wrap(file)
            changed: Any = lines if self.change is None else Changed(lines, [self.change()])
            yield changed

    def whole(self) -> Any:
        """All bytes, decompressed, in pyarrow's memory."""
        pa = pyarrow()
        with self.stream() as stream:
            if self.compression is None:
                return pa.BufferReader(lend_bytes(stream.read()))
            return pa.BufferReader(
                lend_bytes(b"".join(iter(lambda: stream.read(BLOCK_BYTES), b"")))
            )

    @property
    def size(self) -> int:
        """Bytes as they lie there."""
        return len(self.content) if self.path is None else os.path.getsize(self.path)

    def _raw(self) -> Any:
        if self.path is None:
            return io.BytesIO(self.content)
        file = open(self.path, "rb")  # noqa: SIM115, closed with the stream
        return file if self.progress is None else _Counting(file, self.progress)


def open_source(
    source: str | os.PathLike[str] | BinaryIO | Source, progress: Progress | None = None
) -> Source:
    """A path, "-" for standard input, or a binary file; the last two are read at once.

    So is a pipe, such as the shell's <(…), for it can be read but once. One that is open already
    is given back. A path may lead into a zip archive.
    """
    if isinstance(source, Source):
        return source._replace(progress=progress)
    path: str | None
    member: str | None = None
    if isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-":
        path = os.fspath(source)
        name, content = os.path.basename(path), b""
        if not os.path.exists(path) and (inside := split_member(path)) is not None:
            path, member = inside
        with open(path, "rb") as file:
            if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
                path, content = None, file.read()
            first = content[:FIRST_BYTES] or file.read(FIRST_BYTES)
    else:
        stdin = isinstance(source, (str, os.PathLike))
        if stdin and sys.stdin is None:
            raise ReadError("standard input is closed; give the name of a file.")
        file = sys.stdin.buffer if stdin else source  # type: ignore[assignment]
        name, path, content = "standard input" if stdin else "the file", None, file.read()
        first = content[:FIRST_BYTES]
    refuse_workbook(name, first)
    kind = next((kind for magic, kind in MAGICS.items() if first.startswith(magic)), None)
    found = Source(name, b"", kind, path, content, None, member=member)
    if _head(found).startswith(BYTE_ORDER_MARK):
        found = found._replace(skipped=len(BYTE_ORDER_MARK))
    head = _head(found)
    refuse_archive(name, head)
    refuse_wide_text(name, head)
    return found._replace(head=head, progress=progress)


def take_ending(path: Path) -> str:
    """How a name ends, in small letters, without the ending of a compression."""
    return (path.with_suffix("") if path.suffix.lower() in PACKED else path).suffix.lower()


def refuse_workbook(name: str, head: bytes) -> None:
    """One sentence about workbooks, of which newer ones are zip archives."""
    if head.startswith(WORKBOOK) or (head.startswith(ZIP) and any(map(head.count, SHEETS))):
        raise ReadError(f"{name} is a workbook; save its sheet as CSV and give that.")


def refuse_archive(name: str, head: bytes) -> None:
    """One sentence about several files in one, and about models."""
    refuse_workbook(name, head)
    if head.startswith(MAGIC):
        raise ReadError(f"{name} is a model; give a file of data here.")
    for kind, sign, at in (("zip", ZIP, 0), ("tar", b"ustar", 257)):
        if head.startswith(sign, at):
            raise ReadError(f"{name} is a {kind} archive; unpack it and give the file inside.")


def refuse_wide_text(name: str, head: bytes) -> None:
    """One sentence about text whose letters have two or four bytes each, by how it begins."""
    encoding = next((kind for mark, kind in WIDE_MARKS.items() if head.startswith(mark)), None)
    start = head[:WIDE_BYTES]
    for order, letters, gaps in (("LE", start[::2], start[1::2]), ("BE", start[1::2], start[::2])):
        if len(gaps) > 1 and not any(gaps) and b"\x00" not in letters:
            encoding = encoding or f"UTF-16-{order}"
    if encoding is not None:
        raise ReadError(f"{name} is text in {encoding}; save it in UTF-8.")


def _head(source: Source) -> bytes:
    try:
        with source.file() as file:
            return file.read(HEAD_BYTES)
    except ReadError:
        raise
    except UNPACKING as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ReadError(
            f"{source.name} looks compressed ({source.compression}) but cannot be unpacked."
        ) from error


class _Arrow(io.RawIOBase):
    """A pyarrow stream as a raw Python file."""

    def __init__(self, stream: Any) -> None:
        self.stream_in = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream_in.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Limited(_Arrow):
    """A decompressed stream that ends in an error where it grows beyond reason."""

    def __init__(self, stream: Any, source: Source) -> None:
        super().__init__(stream)
        self.source, self.packed, self.given = source, source.size, 0

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        self.given += count
        # A short line of text becomes a row of three numbers, several times as long.
        check_growth(
            self.source.name, self.packed, TEXT_GROWTH * self.given, TEXT_GROWTH * MAX_GROWTH
        )
        return count


class _Counting(io.BufferedReader):
    """A file that tells how much of it has been read."""

    def __init__(self, file: BinaryIO, progress: Progress) -> None:
        super().__init__(file)  # type: ignore[arg-type]
        self.total = max(1, os.fstat(file.fileno()).st_size)
        self.progress = progress

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.progress(min(1.0, self.tell() / self.total))
        return data
