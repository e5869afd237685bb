"""The columns with the largest products of each row, on all cores (numba and BLAS)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import parts
from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu.largest_kernels import hide_lines, pick_largest, sum_lines
from pygeco.engines.cpu.threads import each
from pygeco.engines.values import Largest

CELLS_AT_ONCE = 1 << 21  # products in the memory of a thread: 8 MB
MIN_ROWS = 64  # of a block: fewer are not worth a thread
MAX_BLOCKS = 64  # to share out among threads
LINES = 64  # of a kernel's part


def find_largest_products(asked: Largest) -> tuple[NDArray[np.int64], Array]:
    """See `LocalEngine.largest_products`. O(m n r)."""
    m, n = len(asked.left), len(asked.right)
    columns, found = np.empty((m, asked.k), np.int64), np.empty((m, asked.k), np.float32)
    left, right = (np.ascontiguousarray(x, np.float32) for x in (asked.left, asked.right))
    hidden = [_own_kinds(*cells) for cells in asked.hidden]
    rows = np.ascontiguousarray(asked.rows, np.int64)
    blocks = _cut(m, CELLS_AT_ONCE // max(n, 1))

    def job(t: int) -> None:
        part = blocks[t]
        table = left[part] @ right.T
        lines = _cut_lines(len(table))
        for cells in hidden:
            hide_lines(lines, table, rows[part], *cells)
        if asked.allowed is not None:
            table[:, ~asked.allowed] = -np.inf
        pick_largest(lines, table, columns[part], found[part])

    each(job, len(blocks))
    return columns, found


def sum_lines_of_cells(
    table: Array,
    rows: NDArray[np.int64],
    pointers: NDArray[np.int64],
    indices: NDArray[np.int32],
) -> Array:
    """See `LocalEngine.sum_lines`."""
    out = np.zeros((len(rows), table.shape[1]), table.dtype)
    rows, table = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(table)
    sum_lines(_cut_lines(len(rows)), table, rows, *_own_kinds(pointers, indices), out)
    return out


def _cut(count: int, most: int) -> list[slice]:
    """Blocks of rows, equal and not too small: fixed, for BLAS rounds a block by its size."""
    size = min(max(1, most), max(MIN_ROWS, -(-count // MAX_BLOCKS)))
    return list(parts(count, -(-count // -(-count // size)))) if count else []


def _cut_lines(count: int) -> NDArray[np.int64]:
    """Where the parts of a kernel begin, and the last one ends."""
    return np.append(np.arange(0, count, LINES), count)


def _own_kinds(
    pointers: NDArray[np.int64], indices: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """In the kinds for which the kernels are compiled."""
    return np.ascontiguousarray(pointers, np.int64), np.ascontiguousarray(indices, np.int32)
