"""BLAS called by its address for blocks of rows; see `tall`."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.vectors import I32, I64, integer

ZERO_AT = 8  # bytes from the first factor to the second


@intrinsic
def call_gemm(typing_context, address, letters, factors, sizes, places, steps, b, cut, rows):
    """Call xGEMM at an address for block b; each of its 13 arguments is a place in memory."""

    def generate(context, builder, signature, args):
        flags, scalars, numbers, starts, moves = (
            context.make_array(kind)(context, builder, arg).data
            for kind, arg in zip(signature.args[1:6], args[1:6], strict=True)
        )
        own = cgutils.alloca_once_value(builder, builder.trunc(args[8], I32))

        def find_start(k):
            """Where matrix k of the block begins."""
            place, step = (builder.load(builder.gep(x, [integer(k)])) for x in (starts, moves))
            return builder.add(place, builder.mul(args[6], step))

        def find_size(k):
            """Size k; the rows of the block where it is theirs."""
            is_cut = builder.icmp_signed("==", args[7], integer(k))
            return builder.select(is_cut, own, builder.gep(numbers, [integer(k)]))

        A, B, C = map(find_start, range(3))
        m, n, k, lda, ldb, ldc = map(find_size, range(6))
        alpha, beta = (builder.gep(scalars, [integer(k)]) for k in (0, ZERO_AT))
        turns = (builder.gep(flags, [integer(k)]) for k in range(2))
        given = *turns, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc
        function = ir.FunctionType(ir.VoidType(), [I64] * len(given)).as_pointer()
        values = [x if x in (A, B, C) else builder.ptrtoint(x, I64) for x in given]
        builder.call(builder.inttoptr(args[0], function), values)
        return context.get_dummy_value()

    i = types.int64
    return types.void(i, letters, factors, sizes, places, steps, i, i, i), generate


@spread("blocks")
def multiply_blocks(b, address, letters, factors, sizes, places, steps, cut, rows, count, blocks):
    """One product for each block of so many rows of all; `cut` says which size of it they are."""
    own = min(rows, count - b * rows)
    call_gemm(address, letters, factors, sizes, places, steps, b, cut, own)
