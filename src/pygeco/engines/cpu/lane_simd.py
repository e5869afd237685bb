"""Steps of `lanes` systems at once, as LLVM instructions inside numba; see `simd`.

What is written so costs numba a tenth of the time that the same loops over numbers do.
"""

from __future__ import annotations

from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from pygeco.engines.cpu.vectors import Vectors


@intrinsic
def fill(typing_context, X, at, count, number):
    """X[at + t] = number for t < count."""

    def generate(context, builder, signature, args):
        data = Vectors(context, builder, X.dtype).data(X, args[0])
        with cgutils.for_range(builder, args[2]) as loop:
            builder.store(args[3], builder.gep(data, [builder.add(args[1], loop.index)]))
        return context.get_dummy_value()

    return types.void(X, types.int64, types.int64, X.dtype), generate


@intrinsic
def begin_at(typing_context, X, at):
    """The flat array from a place on, for functions that ask for no length."""

    def generate(context, builder, signature, args):
        array = context.make_array(X)(context, builder, args[0])
        array.data = builder.gep(array.data, [args[1]])
        return impl_ret_borrowed(context, builder, X, array._getvalue())

    return X(X, types.int64), generate


@intrinsic
def solve_back(typing_context, M, row, inverse, stride, count):
    """The row of `count` vectors at `row` becomes L⁻ᵀ times it. Offsets count vectors.

    L's rows lie at 0, stride, … of M, with 1 / L_kk in `inverse`.
    """

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, M.dtype)
        data, inverse = v.data(M, args[0]), v.data(M, args[2])
        row, stride, count = args[1], args[3], args[4]
        with cgutils.for_range(builder, count) as outer:
            k = builder.sub(v.offset(count, -1), outer.index)
            here = v.scaled(builder.add(row, k))
            own = builder.fmul(v.load(data, here), v.load(inverse, v.scaled(k)))
            v.store(own, data, here)
            with cgutils.for_range(builder, k) as loop:
                place = v.scaled(builder.add(row, loop.index))
                factor = v.scaled(builder.add(builder.mul(k, stride), loop.index))
                v.store(v.reduced(v.load(data, factor), own, v.load(data, place)), data, place)
        return context.get_dummy_value()

    i = types.int64
    return types.void(M, i, M, i, i), generate


@intrinsic
def add_squares(typing_context, Z, at, count, out, place):
    """out[place] += Σ_{t < count} Z[at + t]², each a vector; offsets count vectors."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, Z.dtype)
        source, target, place = v.data(Z, args[0]), v.data(Z, args[3]), v.scaled(args[4])
        (total,) = v.variables([v.load(target, place)])
        with cgutils.for_range(builder, args[2]) as loop:
            z = v.load(source, v.scaled(builder.add(args[1], loop.index)))
            builder.store(v.fused(z, z, builder.load(total)), total)
        v.store(builder.load(total), target, place)
        return context.get_dummy_value()

    i = types.int64
    return types.void(Z, i, i, Z, i), generate
