"""Matrix Market's format (Boisvert, Pozo, Remington, NIST IR 5935, 1996).

SciPy's reader writes beyond its arrays where a file holds more numbers than it says; this one takes
memory for what is there, and then compares.
"""

from __future__ import annotations

import io
import warnings
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array

MAX_LINE_BYTES = 1 << 16  # of the lines before the numbers
MAX_COUNT = 2**53  # the indices are read as float64
KINDS = ("coordinate", "array")
FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")


class Cells(NamedTuple):
    """The stored cells, rows and columns from 0; both halves of a symmetric matrix."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
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
    table = _numbers(file)
    cells = _read_listed(head, table) if head.kind == "coordinate" else _read_dense(head, table)
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


def _numbers(file: BinaryIO) -> Array:
    """The numbers of the lines that are left, (lines, fields)."""
    text = io.TextIOWrapper(file, encoding="latin-1")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "loadtxt: input contained no data")
        table: Array = np.loadtxt(text, comments=None, ndmin=2)
    text.detach()
    return table


def _read_listed(head: _Head, table: Array) -> Cells:
    m, n, count = head.sizes
    width = 2 if head.field == "pattern" else 3
    if len(table) != count or (count and table.shape[1] != width):
        raise ValueError(_miscounted(count, len(table)))
    table = table.reshape(count, width)
    places = table[:, :2]
    if not np.all((places >= 1) & (places <= [m, n]) & (places == np.rint(places))):
        raise ValueError(f"a cell lies outside of {m} × {n}")
    rows, cols = (places.astype(np.int64) - 1).T
    values = np.ones(count) if width == 2 else table[:, 2].copy()
    return Cells(rows, cols, values, (m, n))


def _read_dense(head: _Head, table: Array) -> Cells:
    """Columns one after the other; of a symmetric matrix from the diagonal or below it down."""
    m, n = head.sizes
    inside = {"symmetric": m * (m + 1) // 2, "skew-symmetric": m * (m - 1) // 2}
    count = inside.get(head.symmetry, m * n)
    if head.field == "pattern" or table.size != count or (count and table.shape[1] != 1):
        raise ValueError(_miscounted(count, table.size))
    index: Any
    if head.symmetry == "general":
        index = np.divmod(np.arange(count), max(m, 1))
    else:
        index = np.triu_indices(m, k=int(head.symmetry == "skew-symmetric"))
    cols, rows = index
    return Cells(rows.astype(np.int64), cols.astype(np.int64), table.reshape(-1), (m, n))


def _miscounted(told: int, found: int) -> str:
    return f"it says that it has {told:,} entries, but {found:,} lines of numbers fit"
