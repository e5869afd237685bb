"""Columns of tall arrays put side by side on all cores, in another precision or scaled.

One kernel knows the arrays by their addresses alone, so that it is compiled once for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from pygeco.arrays.tall import Array
from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.vectors import integer

MIN_NUMBERS = 1 << 19  # from which on sharing them pays: some 0.3 ms on one core
PART_NUMBERS = 1 << 13  # that a thread takes at once, about
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
# Said of a piece: where it is read from and the bytes from row to row, where it is written to and
# the bytes from row to row, its columns, the way its numbers go, where its factors are.
FIELDS = 7
# Ways: from one precision to another, with factors or without. Copies are of words of four bytes.
WAYS = {
    (SINGLE, SINGLE, False): 0,
    (DOUBLE, DOUBLE, False): 0,
    (SINGLE, DOUBLE, False): 1,
    (DOUBLE, SINGLE, False): 2,
    (SINGLE, SINGLE, True): 3,
    (DOUBLE, DOUBLE, True): 4,
}
ROW_WAYS = {SINGLE: 5, DOUBLE: 6}  # with a factor for each row
WORDS = {SINGLE: 1, DOUBLE: 2}  # of a number


@intrinsic
def move_rows(typing_context, pieces, p, first, last):
    """Rows first … last − 1 of piece p."""
    word, single, double = ir.IntType(32), ir.FloatType(), ir.DoubleType()

    def generate(context, builder, signature, args):
        table = context.make_array(pieces)(context, builder, args[0]).data
        start = builder.mul(args[1], integer(FIELDS))

        def read(k):
            return builder.load(builder.gep(table, [builder.add(start, integer(k))]))

        source, down, target, along, width, way, factors = map(read, range(FIELDS))

        def at(base, kind, k):
            return builder.gep(builder.inttoptr(base, kind.as_pointer()), [k])

        def write_loops(old, new, change, by_row=False):
            with cgutils.for_range(builder, builder.sub(args[3], args[2])) as row:
                i = builder.add(args[2], row.index)
                factor = builder.load(at(factors, new, i)) if by_row else None
                own = builder.add(source, builder.mul(i, down))
                out = builder.add(target, builder.mul(i, along))
                with cgutils.for_range(builder, width) as column:
                    x = builder.load(at(own, old, column.index))
                    place = factor if by_row else column.index
                    builder.store(change(x, new, place), at(out, new, column.index))

        def scale(x, kind, k):
            return builder.fmul(x, builder.load(at(factors, kind, k)))

        def scale_row(x, kind, factor):
            return builder.fmul(x, factor)

        ways = (
            (word, word, lambda x, kind, k: x),
            (single, double, lambda x, kind, k: builder.fpext(x, kind)),
            (double, single, lambda x, kind, k: builder.fptrunc(x, kind)),
            (single, single, scale),
            (double, double, scale),
            (single, single, scale_row, True),
            (double, double, scale_row, True),
        )
        for number, one in enumerate(ways):
            with builder.if_then(builder.icmp_signed("==", way, integer(number))):
                write_loops(*one)
        return context.get_dummy_value()

    i = types.int64
    return types.void(pieces, i, i, i), generate


@spread("parts")
def move_pieces(b, pieces, rows, count, parts):
    """Some rows of all pieces."""
    for p in range(len(pieces)):
        move_rows(pieces, p, b * rows, min((b + 1) * rows, count))


def stack_columns(parts: Sequence[Array], dtype: Any, factors: Array | None = None) -> Array | None:
    """The columns of all parts, each (m, k) or (m,), times the factors of a column each.

    None where NumPy does it as well: for few numbers, other precisions, rows with gaps; and where
    shapes do not fit, which it is to say.
    """
    dtype, count, scaled = np.dtype(dtype), len(parts[0]), factors is not None
    widths = [1 if x.ndim == 1 else x.shape[1] for x in parts]
    ways = [WAYS.get((x.dtype, dtype, scaled)) if _is_plain(x) else None for x in parts]
    if count * sum(widths) < MIN_NUMBERS or None in ways or any(len(x) != count for x in parts):
        return None
    if scaled and np.shape(factors) != (sum(widths),):
        return None
    out = np.empty((count, sum(widths)), dtype)
    scales = np.ascontiguousarray(factors if scaled else out[:0, 0], dtype)
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
