"""Bytes and files of Python's that are lent to pyarrow's readers.

Threads of pyarrow's let go of what they have read when they come to it, which may be after the
table is there, and need Python's lock for it. If Python ends in that moment, the process is
aborted. So Python does not end before all that was lent here is back.
"""

from __future__ import annotations

import atexit
import gc
import time
import weakref
from io import RawIOBase
from typing import Any, BinaryIO

from pygeco.io.tables import pyarrow

MAX_WAIT = 0.5  # seconds; what is still held then is held by who has failed, not by a reader
PAUSE = 0.001  # seconds, in which others have the lock
_HELD: dict[int, weakref.ref[Any]] = {}


def lend_bytes(data: Any) -> memoryview:
    """The same bytes for a reader of pyarrow's."""
    return lend_object(memoryview(data))


def lend_file(file: BinaryIO | RawIOBase) -> Any:
    """A file that a reader of pyarrow's can read."""
    return pyarrow().PythonFile(lend_object(_Lent(file)), mode="r")


def wait_for_readers(seconds: float = MAX_WAIT) -> bool:
    """Wait until all is back, so many seconds at most, and say whether it is."""
    until = time.monotonic() + seconds
    if _HELD:
        gc.collect()
    while _HELD:
        if time.monotonic() > until:
            return False
        time.sleep(PAUSE)
    return True


atexit.register(wait_for_readers)


class _Lent:
    """A file whose blocks are lent, too."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def read(self, size: int = -1) -> memoryview:
        return lend_bytes(self.file.read(size))

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def close(self) -> None:
        self.file.close()

    @property
    def closed(self) -> bool:
        return self.file.closed


def lend_object(lent: Any) -> Any:
    """The same object, remembered until nobody has it any more: of a function that is called by a
    reader of pyarrow's, what it is bound to. A view of bytes has no cheap hash.
    """
    key = id(lent)
    _HELD[key] = weakref.ref(lent, lambda _: _HELD.pop(key, None))
    return lent
