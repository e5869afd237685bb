"""Five inner loops on whole vector registers, as LLVM instructions inside numba.

Numba cannot keep an array of sums in registers, and tests for overlapping arrays at every short
loop. These functions say what is meant: sums live in vectors of 64 bytes (`lanes` numbers), and
LLVM splits them where the machine's registers are narrower. All take flat arrays and offsets.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BYTES = 64
TILE = 8  # rows of a Gram tile: as many sums as hide the latency of a multiply-add

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_CONTRACT = ("contract",)


class _Vectors:
    """Loads and stores of one vector type at offsets of flat arrays."""

    def __init__(self, context, builder, dtype):
        self.context, self.builder = context, builder
        self.size = dtype.bitwidth // 8
        self.lanes = BYTES // self.size
        self.vector = ir.VectorType(context.get_value_type(dtype), self.lanes)

    def data(self, kind, array):
        return self.context.make_array(kind)(self.context, self.builder, array).data

    def at(self, data, offset):
        return self.builder.bitcast(self.builder.gep(data, [offset]), self.vector.as_pointer())

    def load(self, data, offset):
        return self.builder.load(self.at(data, offset), align=self.size)

    def store(self, value, data, offset):
        self.builder.store(value, self.at(data, offset), align=self.size)

    def spread(self, scalar):
        nothing = ir.Constant(self.vector, ir.Undefined)
        one = self.builder.insert_element(nothing, scalar, ir.Constant(_I32, 0))
        mask = ir.Constant(ir.VectorType(_I32, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, nothing, mask)

    def fused(self, a, b, c):
        """A multiply-add, c + a b, as one instruction where there is one."""
        product = self.builder.fmul(a, b, flags=_CONTRACT)
        return self.builder.fadd(c, product, flags=_CONTRACT)


@intrinsic
def gram_tile(typing_context, X, width, count, k, q, G):
    """G[k:k+8, q:q+lanes] += X[:count, k:k+8]ᵀ X[:count, q:q+lanes]; rows have `width` numbers."""

    def generate(context, builder, signature, args):
        v = _Vectors(context, builder, X.dtype)
        source, target = v.data(X, args[0]), v.data(G, args[5])
        width, count, k, q = args[1:5]
        places = []
        for t in range(TILE):
            row = builder.mul(builder.add(k, ir.Constant(_I64, t)), width)
            places.append(builder.add(row, q))
        sums = [cgutils.alloca_once(builder, v.vector) for _ in places]
        for total, place in zip(sums, places, strict=True):
            builder.store(v.load(target, place), total)
        with cgutils.for_range(builder, count) as loop:
            row = builder.mul(loop.index, width)
            right = v.load(source, builder.add(row, q))
            left = builder.add(row, k)
            for t, total in enumerate(sums):
                at = builder.gep(source, [builder.add(left, ir.Constant(_I64, t))])
                spread = v.spread(builder.load(at))
                builder.store(v.fused(spread, right, builder.load(total)), total)
        for total, place in zip(sums, places, strict=True):
            v.store(builder.load(total), target, place)
        return context.get_dummy_value()

    i = types.int64
    return types.void(X, i, i, i, i, G), generate


@intrinsic
def project(typing_context, X, width, count, q, factors, out):
    """out[q:q+lanes] += Σ_{t < count} factors[t] X[t, q:q+lanes]."""

    def generate(context, builder, signature, args):
        v = _Vectors(context, builder, X.dtype)
        source, factors, target = v.data(X, args[0]), v.data(X, args[4]), v.data(X, args[5])
        width, count, q = args[1:4]
        total = cgutils.alloca_once(builder, v.vector)
        builder.store(v.load(target, q), total)
        with cgutils.for_range(builder, count) as loop:
            row = v.load(source, builder.add(builder.mul(loop.index, width), q))
            scale = v.spread(builder.load(builder.gep(factors, [loop.index])))
            builder.store(v.fused(scale, row, builder.load(total)), total)
        v.store(builder.load(total), target, q)
        return context.get_dummy_value()

    i = types.int64
    return types.void(X, i, i, i, X, X), generate


@intrinsic
def scale_row(typing_context, source, source_at, factor, target, target_at, count):
    """target[target_at + t] = factor · source[source_at + t] for t < count, a multiple of lanes."""

    def generate(context, builder, signature, args):
        v = _Vectors(context, builder, target.dtype)
        data, out = v.data(source, args[0]), v.data(target, args[3])
        scale = v.spread(args[2])
        with cgutils.for_range(builder, builder.udiv(args[5], ir.Constant(_I64, v.lanes))) as loop:
            t = builder.mul(loop.index, ir.Constant(_I64, v.lanes))
            row = builder.fmul(v.load(data, builder.add(args[1], t)), scale)
            v.store(row, out, builder.add(args[4], t))
        return context.get_dummy_value()

    i = types.int64
    return types.void(source, i, target.dtype, target, i, i), generate


@intrinsic
def subtract_dot(typing_context, M, at, a, b, count):
    """M[at] −= Σ_{t < count} M[a + t] M[b + t], each a vector; offsets count vectors."""

    def generate(context, builder, signature, args):
        v = _Vectors(context, builder, M.dtype)
        data, lanes = v.data(M, args[0]), ir.Constant(_I64, v.lanes)
        at, a, b = (builder.mul(x, lanes) for x in args[1:4])
        total = cgutils.alloca_once(builder, v.vector)
        builder.store(v.load(data, at), total)
        with cgutils.for_range(builder, args[4]) as loop:
            t = builder.mul(loop.index, lanes)
            x, y = v.load(data, builder.add(a, t)), v.load(data, builder.add(b, t))
            product = builder.fmul(x, y, flags=_CONTRACT)
            builder.store(builder.fsub(builder.load(total), product, flags=_CONTRACT), total)
        v.store(builder.load(total), data, at)
        return context.get_dummy_value()

    i = types.int64
    return types.void(M, i, i, i, i), generate


@intrinsic
def subtract_multiple(typing_context, M, at, source, factor, count):
    """M[at + t] −= M[source + t] M[factor] for t < count, each a vector; offsets count vectors."""

    def generate(context, builder, signature, args):
        v = _Vectors(context, builder, M.dtype)
        data, lanes = v.data(M, args[0]), ir.Constant(_I64, v.lanes)
        at, source, factor = (builder.mul(x, lanes) for x in args[1:4])
        scale = v.load(data, factor)
        with cgutils.for_range(builder, args[4]) as loop:
            t = builder.mul(loop.index, lanes)
            here = builder.add(at, t)
            product = builder.fmul(v.load(data, builder.add(source, t)), scale, flags=_CONTRACT)
            v.store(builder.fsub(v.load(data, here), product, flags=_CONTRACT), data, here)
        return context.get_dummy_value()

    i = types.int64
    return types.void(M, i, i, i, i), generate
