"""Columns of tall arrays put side by side on all cores, in another precision or scaled.

One kernel knows the arrays by their addresses alone, so that it is compiled once for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.tall import Array
from pygeco.engines.cpu.piece_kernels import FIELDS, move_pieces

MIN_NUMBERS = 1 << 18  # from which on sharing them pays: some 0.2 ms on one core
PART_NUMBERS = 1 << 13  # that a thread takes at once, about
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
# Ways: from one precision to another, with factors or without. Copies are of words of four bytes.
WAYS = {
    (SINGLE, SINGLE, False): 0,
    (DOUBLE, DOUBLE, False): 0,
    (SINGLE, DOUBLE, False): 1,
    (DOUBLE, SINGLE, False): 2,
    (SINGLE, SINGLE, True): 3,
    (DOUBLE, DOUBLE, True): 4,
}
NO_WAY = -1
ROW_WAYS = {SINGLE: 5, DOUBLE: 6}  # with a factor for each row
WORDS = {SINGLE: 1, DOUBLE: 2}  # of a number


def stack_columns(parts: Sequence[Array], dtype: Any, factors: Array | None = None) -> Array | None:
    """The columns of all parts, each (m, k) or (m,), times the factors of a column each.

    None where NumPy does it as well: for few numbers, other precisions, rows with gaps; and where
    shapes do not fit, which it is to say.
    """
    dtype, count = np.dtype(dtype), len(parts[0])
    widths = [1 if x.ndim == 1 else x.shape[1] for x in parts]
    scaled, shape = factors is not None, (count, sum(widths))
    if shape[0] * shape[1] < MIN_NUMBERS:
        return None
    ways = [WAYS.get((x.dtype, dtype, scaled), NO_WAY) if _is_plain(x) else NO_WAY for x in parts]
    if NO_WAY in ways or any(len(x) != count for x in parts):
        return None
    if factors is not None and factors.shape != shape[1:]:
        return None
    out = np.empty(shape, dtype)
    scales = np.zeros(0) if factors is None else np.ascontiguousarray(factors, dtype)
    pieces, at = np.empty((len(parts), FIELDS), np.int64), 0
    for piece, part, width, way in zip(pieces, parts, widths, ways, strict=True):
        skipped = at * dtype.itemsize
        piece[:] = (
            find_place(part),
            part.strides[0],
            find_place(out) + skipped,
            out.strides[0],
            width if way else width * WORDS[dtype],
            way,
            find_place(scales) + skipped,
        )
        at += width
    _move(pieces, out)
    return out


def multiply_rows(X: Array, factors: Array) -> Array | None:
    """Each row times its factor; None where NumPy does it as well, or is to say what is wrong."""
    if X.size < MIN_NUMBERS or X.dtype != factors.dtype or X.dtype not in ROW_WAYS:
        return None
    if X.ndim != 2 or factors.shape != X.shape[:1] or not _is_plain(X):
        return None
    out, own = np.empty(X.shape, X.dtype), np.ascontiguousarray(factors)
    places = find_place(X), X.strides[0], find_place(out), out.strides[0]
    piece = *places, X.shape[1], ROW_WAYS[X.dtype], find_place(own)
    _move(np.array([piece], np.int64), out)
    return out


def _move(pieces: NDArray[np.int64], out: Array) -> None:
    """Run the kernel for as many rows a part as make about `PART_NUMBERS`."""
    rows = max(1, PART_NUMBERS // out.shape[1])
    move_pieces(pieces, rows, len(out), -(-len(out) // rows))


def find_place(X: Array) -> int:
    """Where an array begins in memory."""
    return int(X.__array_interface__["data"][0])


def _is_plain(X: Array) -> bool:
    """Whether the numbers of a row lie one after the other."""
    in_order = X.ndim == 1 or (X.ndim == 2 and (X.shape[1] == 1 or X.strides[1] == X.itemsize))
    return in_order and X.flags.aligned
