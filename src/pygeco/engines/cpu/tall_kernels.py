"""BLAS called by its address for blocks of rows; see `tall`."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.vectors import I32, I64, Vectors, integer

ZERO_AT = 8  # bytes from the first factor to the second


def _call_blas(builder, address, places):
    """Call a subroutine at an address, each of whose arguments is a place in memory."""
    values = [x if x.type == I64 else builder.ptrtoint(x, I64) for x in places]
    function = ir.FunctionType(ir.VoidType(), [I64] * len(values)).as_pointer()
    builder.call(builder.inttoptr(address, function), values)


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
        _call_blas(builder, args[0], given)
        return context.get_dummy_value()

    i = types.int64
    return types.void(i, letters, factors, sizes, places, steps, i, i, i), generate


def _add_lines(turn, product_rows):
    """The code of `add_product` and `add_transposed`: outᵀ += Bᵀ op(A), as Fortran sees it."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, signature.args[1].dtype)
        address, count, width = args[0], args[7], args[8]
        X, Y, out = (
            builder.gep(v.data(signature.args[k], args[k]), [args[k + 1]]) for k in (1, 3, 5)
        )
        letters, ones = (
            cgutils.alloca_once_value(builder, ir.Constant(kind, value))
            for kind, value in (
                (ir.ArrayType(ir.IntType(8), 2), bytearray(b"N" + turn)),
                (v.scalar, 1.0),
            )
        )
        turns = [builder.gep(letters, [integer(0), integer(k)]) for k in range(2)]
        rows, columns = (
            cgutils.alloca_once_value(builder, builder.trunc(x, I32)) for x in (count, width)
        )
        sizes = (columns, rows, columns) if product_rows else (columns, columns, rows)
        given = *turns, *sizes, ones, Y, columns, X, columns, ones, out, columns
        _call_blas(builder, address, given)
        return context.get_dummy_value()

    return generate


@intrinsic
def add_product(typing_context, address, X, x, B, b, out, o, count, width):
    """out[o:] += X[x:] B[b:] by xGEMM at an address, of `count` rows of X and out.

    All rows have `width` numbers, and B is square.
    """
    i = types.int64
    return types.void(i, X, i, B, i, out, i, i, i), _add_lines(b"N", True)


@intrinsic
def add_transposed(typing_context, address, X, x, Y, y, out, o, count, width):
    """out[o:] += X[x:]ᵀ Y[y:], of `count` rows of X and Y, all with `width` numbers."""
    i = types.int64
    return types.void(i, X, i, Y, i, out, i, i, i), _add_lines(b"T", False)


@spread("blocks")
def multiply_blocks(b, address, letters, factors, sizes, places, steps, cut, rows, count, blocks):
    """One product for each block of so many rows of all; `cut` says which size of it they are."""
    own = min(rows, count - b * rows)
    call_gemm(address, letters, factors, sizes, places, steps, b, cut, own)
