"""Products of tall arrays on the cores of one machine: BLAS on blocks of rows, one core each.

The blocks depend on the arrays alone, so that bits do not depend on the number of threads. BLAS is
called by its address from the threads of the kernels, which are awake while a fit runs: waking
threads of Python's takes as long as a product.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.kinds import contiguous
from pygeco.arrays.tall import Array
from pygeco.engines.cpu.pieces import find_place, multiply_rows, stack_columns
from pygeco.engines.cpu.tall_kernels import multiply_blocks

MIN_WORK = 1 << 22  # multiplications from which sharing them pays: 0.1 ms on one core or more
READING = 16  # multiplications that reading a number is worth
BLOCK_ROWS = 256  # of a block, at least
SUMMED_ROWS = 512  # the same where each block has sums of its own
ROWS_PER_SUM = 2  # of such a block, for each column of its sums
MAX_BLOCKS = 64  # more would be more callers than some builds of OpenBLAS have room for
NAMES = {np.dtype(np.float32): "sgemm", np.dtype(np.float64): "dgemm"}
# Of the product, one; and, 8 bytes later, of what was there before, zero.
FACTORS = {
    np.dtype(np.float32): np.array([1, 0, 0, 0], np.float32).view(np.uint8),
    np.dtype(np.float64): np.array([1, 0], np.float64).view(np.uint8),
}


class CpuTallWork:
    """See `TallWork`. Shapes that do not fit are for NumPy to name: BLAS reads by addresses."""

    def times(self, X: Array, B: Array) -> Array | None:
        columns = B.shape[-1]
        if B.ndim != 2 or not _pays(X, columns) or X.shape[-1] != len(B) or not columns:
            return None
        if X.dtype == np.float32 and B.dtype == np.float64:  # as NumPy would
            X = contiguous(X, B.dtype)
        own = _lay_out(X)
        if own is None or X.dtype != B.dtype:
            return None
        out = np.empty((len(X), columns), X.dtype)
        small, rows = np.ascontiguousarray(B), cut_rows(len(X))
        # Fortran sees the transposes: outᵀ = Bᵀ Xᵀ.
        _multiply(
            b"NT" if own.by_column else b"NN",
            (columns, rows, X.shape[1], columns, own.leading, columns),
            (find_place(small), own.place, find_place(out)),
            (0, rows * own.step, rows * out.strides[0]),
            (1, rows, len(X)),
            X.dtype,
        )
        return out

    def inner(self, X: Array, Y: Array) -> Array | None:
        """Sums of blocks are added in float64, in order."""
        left, right = _lay_out(X), _lay_out(Y)
        s, k = X.shape[-1], Y.shape[-1]
        if left is None or right is None or X.dtype != Y.dtype or not _pays(X, k):
            return None
        if len(X) != len(Y):
            return None
        rows = cut_rows(len(X), max(SUMMED_ROWS, ROWS_PER_SUM * max(s, k)))
        sums = np.empty((-(-len(X) // rows), s, k), X.dtype)
        # Fortran sees the transposes: sumsᵀ = Yᵀ X.
        _multiply(
            (b"T" if right.by_column else b"N") + (b"N" if left.by_column else b"T"),
            (k, s, rows, right.leading, left.leading, k),
            (right.place, left.place, find_place(sums)),
            (rows * right.step, rows * left.step, sums.strides[0]),
            (2, rows, len(X)),
            X.dtype,
        )
        total = sums.sum(axis=0, dtype=float)
        return ((total + total.T) / 2 if X is Y else total).astype(X.dtype)

    def times_rows(self, X: Array, factors: Array) -> Array | None:
        return multiply_rows(X, factors)

    def stack(self, parts: Sequence[Array], dtype: Any, factors: Array | None) -> Array | None:
        return stack_columns(parts, dtype, factors)


WORK = CpuTallWork()


def _pays(X: Array, columns: int) -> bool:
    """Whether a product with so many columns is worth being shared."""
    return X.size * (columns + READING) >= MIN_WORK


class _Layout(NamedTuple):
    """Where a matrix begins, bytes from row to row, and how Fortran reads it."""

    place: int
    step: int
    leading: int
    by_column: bool


def _lay_out(X: Array) -> _Layout | None:
    """None where BLAS cannot read it: neither rows nor columns lie in one piece."""
    if X.dtype not in NAMES or X.ndim != 2 or not X.size or not X.flags.aligned:
        return None
    (down, across), size = X.strides, X.itemsize
    for one, other, length, by_column in (
        (across, down, X.shape[1], False),
        (down, across, X.shape[0], True),
    ):
        leading, rest = divmod(other, size)
        if one == size and not rest and leading >= length:
            return _Layout(find_place(X), down, leading, by_column)
    return None


def cut_rows(count: int, least: int = 0) -> int:
    """The rows of a block: fixed, whatever the threads."""
    return max(BLOCK_ROWS, -(-count // MAX_BLOCKS), least)


def _multiply(
    flags: bytes,
    sizes: tuple[int, ...],
    places: tuple[int, ...],
    steps: tuple[int, ...],
    cut: tuple[int, int, int],
    dtype: np.dtype[Any],
) -> None:
    """The sizes and leading dimensions of a block, where its matrices begin and the next one's do,
    and which of the sizes is that of its rows, of all of them.
    """
    address = find_gemm(dtype)
    _, rows, count = cut
    with one_blas_thread():
        multiply_blocks(
            address,
            np.frombuffer(flags, np.uint8),
            FACTORS[dtype],
            np.array(sizes, np.int32),
            np.array(places, np.int64),
            np.array(steps, np.int64),
            *cut,
            -(-count // rows),
        )


@cache
def find_gemm(dtype: np.dtype[Any]) -> int:
    """Where SciPy keeps BLAS's product for others to call."""
    from scipy.linalg import cython_blas  # takes as long as a small fit

    capsule = cython_blas.__pyx_capi__[NAMES[dtype]]
    describe, find = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    describe.restype, describe.argtypes = ctypes.c_char_p, [ctypes.py_object]
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(find(capsule, describe(capsule)))
