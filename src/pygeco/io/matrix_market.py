"""Matrix Market's format (Boisvert, Pozo, Remington, NIST IR 5935, 1996).

SciPy's reader writes beyond its arrays where a file holds more numbers than it says; this one takes
memory for what is there, and then compares.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.io.lending import lend_bytes

MAX_LINE_BYTES = 1 << 16  # of the lines before the numbers
BLOCK_BYTES = 1 << 24  # that are parsed at once
MIN_FAST_BYTES = 1 << 20  # of a block that is worth a kernel
MAX_COUNT = 2**53  # the indices are read as float64
KINDS = ("coordinate", "array")
FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")


class Cells(NamedTuple):
    """The stored cells, rows and columns from 0; both halves of a symmetric matrix.

    Indices are int32 where the shape allows it.
    """

    rows: NDArray[np.integer[Any]]
    cols: NDArray[np.integer[Any]]
    values: Array
    shape: tuple[int, int]


class _Head(NamedTuple):
    kind: str
    field: str
    symmetry: str
    sizes: list[int]


def read_market(file: BinaryIO) -> Cells:
    """The cells of a file of real numbers, or ones for a pattern. O(bytes).

    A ValueError says what is wrong, to be told with the name of the file.
    """
    head = _head(file)
    columns = _read_columns(file, _count_fields(head))
    cells = _read_listed(head, columns) if head.kind == "coordinate" else _read_dense(head, columns)
    if head.symmetry == "general":
        return cells
    off = cells.rows != cells.cols
    sign = -1.0 if head.symmetry == "skew-symmetric" else 1.0
    return Cells(
        np.concatenate([cells.rows, cells.cols[off]]),
        np.concatenate([cells.cols, cells.rows[off]]),
        np.concatenate([cells.values, sign * cells.values[off]]),
        cells.shape,
    )


def _head(file: BinaryIO) -> _Head:
    words = file.readline(MAX_LINE_BYTES).decode("latin-1").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("its first line is not that of a matrix in Matrix Market's format")
    kind, field, symmetry = words[2:]
    if kind not in KINDS or field not in FIELDS or symmetry not in SYMMETRIES:
        raise ValueError(f"a matrix that is {' '.join(words[2:])} is not supported")
    line = b"%"
    while line.startswith(b"%") or (line and not line.strip()):
        line = file.readline(MAX_LINE_BYTES)
    sizes = [int(word) for word in line.split()]
    count = 3 if kind == "coordinate" else 2
    if len(sizes) != count or not all(0 <= size < MAX_COUNT for size in sizes):
        raise ValueError(f"its line of sizes says {line[:40].decode('latin-1').strip()!r}")
    if symmetry != "general" and sizes[0] != sizes[1]:
        raise ValueError("it is symmetric, but not square")
    return _Head(kind, field, symmetry, sizes)


def _count_fields(head: _Head) -> int:
    """The numbers of a line."""
    return 1 if head.kind == "array" else 2 if head.field == "pattern" else 3


def _read_columns(file: BinaryIO, width: int) -> list[NDArray[Any]]:
    """The numbers of the lines that are left, a column each, read a block at a time."""
    from pygeco.engines.cpu.threads import map_ahead

    found: list[list[NDArray[Any]]] = [[] for _ in range(width)]
    for block, short in map_ahead(partial(_parse_short, width=width), _cut_lines(file)):
        parsed = short or _parse_long(block, width) or _parse_any(block, width)
        for column, part in zip(found, parsed, strict=True):
            column.append(part)
    return [_join(column) for column in found]


def _join(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """The parts of a column as one array; a single part is not copied."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _cut_lines(file: BinaryIO) -> Iterator[bytes]:
    """Blocks of whole lines."""
    rest = b""
    while data := file.read(BLOCK_BYTES):
        end = data.rfind(b"\n") + 1
        if end:
            yield rest + data[:end]
            rest = data[end:]
        else:
            rest += data
    if rest:
        yield rest


def _parse_short(block: bytes, width: int) -> list[NDArray[Any]] | None:
    """The columns of a block by a kernel; None where a number has many digits or is odd, or where
    the block is too small to compile for.
    """
    if len(block) < MIN_FAST_BYTES:
        return None
    from pygeco.engines.cpu.parallel import lend
    from pygeco.engines.cpu.text_kernels import parse_lines

    most = len(block) // (2 * width) + 1  # lines: a digit and a space or a line's end, each number
    rows, cols = (np.empty(most if width > 1 else 0, np.int32) for _ in range(2))
    values = np.empty(most if width % 2 else 0)
    text = lend(np.frombuffer(block, np.uint8))
    count = parse_lines(text, width > 1, rows, cols, values)
    if count < 0:
        return None
    return [column[:count] for column in (rows, cols, values) if len(column)]


def _parse_long(block: bytes, width: int) -> list[NDArray[Any]] | None:
    """The columns of a block by pyarrow, on all cores; None where it is not there or refuses.

    It takes one sign between two numbers, and whole numbers for rows and columns.
    """
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ModuleNotFoundError:
        return None
    names = [str(k) for k in range(width)]
    kinds = [*[pa.int64()] * (2 if width > 1 else 0), *[pa.float64()] * (width % 2)]
    sign = "\t" if b"\t" in block[:MAX_LINE_BYTES] else " "
    try:
        table = csv.read_csv(
            pa.BufferReader(lend_bytes(block)),
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(delimiter=sign, quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=dict(zip(names, kinds, strict=True)), null_values=[]
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [column.to_numpy() for column in table.columns]


def _parse_any(block: bytes, width: int) -> list[NDArray[Any]]:
    """The same by NumPy, with any space between and around the numbers."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "loadtxt: input contained no data")
        table: Array = np.loadtxt(io.StringIO(block.decode("latin-1")), comments=None, ndmin=2)
    if table.size and table.shape[1] != width:
        raise ValueError(f"a line has {table.shape[1]} numbers, where there should be {width}")
    return list(table.reshape(-1, width).T)


def _read_listed(head: _Head, columns: list[NDArray[Any]]) -> Cells:
    m, n, count = head.sizes
    if len(columns[0]) != count:
        raise ValueError(_miscounted(count, len(columns[0])))
    sides = []
    for index, size in zip(columns[:2], (m, n), strict=True):
        is_whole = index.dtype.kind == "i" or bool(np.all(index == np.rint(index)))
        if count and not (is_whole and index.min() >= 1 and index.max() <= size):
            raise ValueError(f"a cell lies outside of {m} × {n}")
        own = index.astype(_index_type(head), copy=False)
        sides.append(np.subtract(own, 1, out=own if own.flags.writeable else None))
    values = columns[2].astype(float, copy=False) if len(columns) > 2 else np.ones(count)
    return Cells(sides[0], sides[1], values, (m, n))


def _read_dense(head: _Head, columns: list[NDArray[Any]]) -> Cells:
    """Columns one after the other; of a symmetric matrix from the diagonal or below it down."""
    m, n = head.sizes
    values = columns[0].astype(float, copy=False)
    inside = {"symmetric": m * (m + 1) // 2, "skew-symmetric": m * (m - 1) // 2}
    count = inside.get(head.symmetry, m * n)
    if head.field == "pattern" or len(values) != count:
        raise ValueError(_miscounted(count, len(values)))
    index: Any
    if head.symmetry == "general":
        index = np.divmod(np.arange(count), max(m, 1))
    else:
        index = np.triu_indices(m, k=int(head.symmetry == "skew-symmetric"))
    cols, rows = index
    kind = _index_type(head)
    return Cells(rows.astype(kind), cols.astype(kind), values, (m, n))


def _index_type(head: _Head) -> type[np.integer[Any]]:
    return np.int32 if max(head.sizes[:2]) <= np.iinfo(np.int32).max else np.int64


def _miscounted(told: int, found: int) -> str:
    return f"it says that it has {told:,} entries, but {found:,} lines of numbers fit"
