"""Rows of numbers moved from one tall array to another, by their addresses; see `pieces`."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.vectors import integer

# Said of a piece: where it is read from and the bytes from row to row, where it is written to and
# the bytes from row to row, its columns, the way its numbers go, where its factors are.
FIELDS = 7


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
