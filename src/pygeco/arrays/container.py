"""One file with a JSON header and raw arrays, checked by checksums, mapped into memory.

    magic     8 bytes: 89 'GECO' 0D 0A 1A, which a copy in text mode spoils visibly
    version   u32, the format's; all numbers are little-endian
    CRC-32    u32, of all that follows up to the end of the header
    sizes     u64 of the header, u64 of the file
    header    UTF-8 JSON: {"tree": …, "arrays": [{"dtype", "shape", "order", "at", "crc"}, …]}
    arrays    each at a multiple of 64 bytes, `at` counted from the first such place

Nothing in the file is ever run. Every size is checked against the file before memory is taken.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.whole_file import whole_file
from pygeco.errors import ModelFileError

MAGIC = b"\x89GECO\r\n\x1a"
VERSION = 1
PREFIX = struct.Struct("<8sIIQQ")
CHECKED = 16  # the checksum covers the prefix from here on
ALIGN = 64
DTYPES = re.compile(r"\|[biu]1|<[iu][248]|<f[248]|<M8\[(?:Y|M|W|D|h|m|s|ms|us|ns)\]")


class Contents(NamedTuple):
    """The header's tree and the arrays that it refers to by number."""

    tree: Any
    arrays: list[NDArray[Any]]


class Blocks(NamedTuple):
    """An array of which only a run of rows is at hand at a time: `runs()` gives them in order.

    They are asked for twice, for the checksum and for the file.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    runs: Callable[[], Iterator[NDArray[Any]]]


class Texts(NamedTuple):
    """Strings in blocks: where each ends, in bytes, and their UTF-8 one after the other."""

    ends: Blocks
    joined: Blocks


class _Bytes(NamedTuple):
    """An array's bytes in runs, and its entry in the header but for the place."""

    runs: Callable[[], Iterator[NDArray[Any]]]
    size: int
    entry: dict[str, Any]


def write(path: str | os.PathLike[str], tree: Any, arrays: list[NDArray[Any] | Blocks]) -> None:
    """The tree (plain JSON) and the arrays in one file, written whole or not at all."""
    raw, at = [_described(array) for array in arrays], 0
    for data in raw:
        data.entry["at"] = at
        at = _aligned(at + data.size)
    described = [data.entry for data in raw]
    header = json.dumps({"tree": tree, "arrays": described}, allow_nan=False).encode()
    start = _aligned(PREFIX.size + len(header))
    size = start + (raw[-1].entry["at"] + raw[-1].size if raw else 0)
    sizes = struct.pack("<QQ", len(header), size)
    with whole_file(path) as file:
        file.write(MAGIC + struct.pack("<II", VERSION, zlib.crc32(sizes + header)) + sizes + header)
        position = PREFIX.size + len(header)
        for data in raw:
            place = start + data.entry["at"]
            file.write(bytes(place - position))
            for run in data.runs():
                file.write(run.data)
            position = place + data.size
        file.write(bytes(size - position))


def read(path: str | os.PathLike[str], *, mapped: bool = False) -> Contents:
    """What `write` wrote.

    Arrays are copies, each compared with its checksum; or, `mapped`, views of the file, read from
    the disk when used and not compared. Writing into a view changes this process only.
    """
    name = os.fspath(path)
    header, memory = _opened(path)
    try:
        start = _aligned(PREFIX.size + header.size)
        arrays = [_array(name, memory, start, entry, mapped) for entry in header.arrays]
        return Contents(header.tree, arrays)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise _spoiled(name, "its list of arrays makes no sense") from error


def read_tree(path: str | os.PathLike[str]) -> Any:
    """The header alone: no array is read."""
    return _opened(path)[0].tree


class _Header(NamedTuple):
    tree: Any
    arrays: list[Any]
    size: int


def _opened(path: str | os.PathLike[str]) -> tuple[_Header, memoryview]:
    name = os.fspath(path)
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        prefix = file.read(PREFIX.size)
        if len(prefix) < PREFIX.size or not prefix.startswith(MAGIC):
            whole = MAGIC[: len(prefix)] != prefix[: len(MAGIC)] or not prefix
            what = "is not a pygeco file" if whole else "is cut short"
            raise ModelFileError(f"{name} {what}; give one that `geco fit` or `save` wrote.")
        _, version, crc, length, told = PREFIX.unpack(prefix)
        if version > VERSION:
            raise ModelFileError(
                f"{name} has format {version}, which a newer pygeco wrote; this one reads formats "
                f"up to {VERSION}, so update pygeco."
            )
        if length > size - PREFIX.size:
            raise _spoiled(name, "it is cut short or its header is damaged")
        header = file.read(length)
        if version < 1 or zlib.crc32(prefix[CHECKED:] + header) != crc:
            raise _spoiled(name, "its header does not match its checksum")
        if told != size:
            raise _spoiled(name, f"it has {size:,} bytes of {told:,}")
        memory = memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY))
    try:
        content = json.loads(header)
        return _Header(content["tree"], list(content["arrays"]), length), memory
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _spoiled(name, "its header is not what pygeco writes") from error


def _array(name: str, memory: memoryview, start: int, entry: Any, mapped: bool) -> NDArray[Any]:
    text, order, at = entry["dtype"], entry["order"], entry["at"]
    shape = tuple(entry["shape"])
    if not DTYPES.fullmatch(text) or order not in ("C", "F") or len(shape) > 8:
        raise _spoiled(name, f"it holds an array of unknown kind {text!r}")
    if not all(type(number) is int and number >= 0 for number in (at, *shape)) or at % ALIGN:
        raise _spoiled(name, "an array has an impossible place or shape")
    dtype = np.dtype(text)
    size = math.prod(shape) * dtype.itemsize
    if start + at + size > len(memory):
        raise _spoiled(name, f"an array claims {size:,} bytes that the file does not have")
    part = memory[start + at : start + at + size]
    view = np.frombuffer(part, dtype=dtype) if size else np.zeros(0, dtype)
    if not mapped:
        if zlib.crc32(part) != entry["crc"]:
            raise _spoiled(name, "an array does not match its checksum")
        view = view.copy()
    return view.reshape(shape, order=order)


def _described(array: NDArray[Any] | Blocks) -> _Bytes:
    """The array's bytes in memory order, row after row where it comes in blocks."""
    if isinstance(array, Blocks):
        order, given = "C", array.runs
    else:
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        whole = array.T if order == "F" else array
        given = lambda: iter([whole])  # noqa: E731
    dtype = array.dtype.newbyteorder("<")
    if not DTYPES.fullmatch(dtype.str):
        raise TypeError(f"arrays of kind {array.dtype} cannot be kept in a file.")

    def runs() -> Iterator[NDArray[Any]]:
        for run in given():
            yield np.ascontiguousarray(run, dtype).reshape(-1).view(np.uint8)

    crc = 0
    for run in runs():
        crc = zlib.crc32(run.data, crc)
    shape = [int(size) for size in array.shape]
    entry = {"dtype": dtype.str, "shape": shape, "order": order, "crc": crc}
    return _Bytes(runs, math.prod(shape) * dtype.itemsize, entry)


def _aligned(size: int) -> int:
    return -(-size // ALIGN) * ALIGN


def _spoiled(name: str, what: str) -> ModelFileError:
    return ModelFileError(f"{name} is damaged: {what}; take another copy or save it again.")
