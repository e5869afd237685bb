"""Columns of whole numbers in text, read as numbers at once where the text says no more than they.

`01` and `1` are two ids, and `0x10` is none. So the bytes are watched on their way to the parser:
where a number has a sign or a zero before it, or is hexadecimal, the file is read as text instead.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pygeco.errors import ReadError
from pygeco.io.lending import lend_file

WHOLE = re.compile(r"-?\d{1,18}")  # that int64 holds
# What stands for a missing number both here and among ids of text; other words end the attempt.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan")
SCANNED_AT_ONCE = 1 << 18  # bytes, which stay in the cache
_POINT, _ZERO, _NINE, _MINUS, _PLUS, _COLON, _T, _X = b".09-+:TX"
_SMALL = 0x20  # the bit of a small letter


def find_whole_columns(lines: Sequence[Sequence[str]], at: Sequence[int]) -> list[int]:
    """Those of the columns that hold whole numbers in all of these lines."""
    return [
        k for k in at if lines and all(k < len(line) and WHOLE.fullmatch(line[k]) for line in lines)
    ]


class Watched(io.RawIOBase):
    """A file whose numbers are looked at while it is read; ReadError where one is odd."""

    def __init__(self, file: BinaryIO, *, has_times: bool) -> None:
        self.file, self.has_times, self.last = file, has_times, b"\n\n"

    def read(self, size: int | None = -1, /) -> bytes:
        data = self.file.read(-1 if size is None else size)
        seen = self.last + data + (b"" if data else b"\n")
        for first in range(0, len(seen) - 2, SCANNED_AT_ONCE):
            part = np.frombuffer(seen[first : first + SCANNED_AT_ONCE + 3], np.uint8)
            if has_padded_number(part, has_times=self.has_times):
                raise ReadError("A number is written in a way that it is not written back.")
        self.last = seen[-3:]
        return data


def has_padded_number(text: NDArray[np.uint8], *, has_times: bool) -> bool:
    """Whether a number begins with a zero that others or an x follow, with −0 or with a plus.

    A zero after a point, and one of a date or, with `has_times`, of a time of day, are none.
    """
    two, one, here, after = text[:-3], text[1:-2], text[2:-1], text[3:]
    zero = here == _ZERO
    if (zero & (one == _MINUS) & ~_are_digits(two)).any():
        return True
    if ((here == _PLUS) & _are_digits(after)).any():
        return True
    inside = _are_digits(one) | (one == _POINT) | (one == _MINUS)
    if has_times:
        inside |= (one == _COLON) | (one == _T)
    follows = _are_digits(after) | ((after & ~np.uint8(_SMALL)) == _X)
    return bool((zero & follows & ~inside).any())


def _are_digits(text: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return (text - np.uint8(_ZERO)) <= np.uint8(_NINE - _ZERO)


@contextmanager
def watch_numbers(stream: Any, *, has_times: bool) -> Iterator[Any]:
    """A stream of pyarrow's that is watched."""
    with lend_file(Watched(stream, has_times=has_times)) as watched:
        yield watched
