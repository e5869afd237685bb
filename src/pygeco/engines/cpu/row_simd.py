"""Inner loops of one dense system at a time, as LLVM instructions inside numba; see `simd`.

Tiles of four rows keep their sums in the sixteen registers of AVX2.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pygeco.engines.cpu.simd import SIDE
from pygeco.engines.cpu.vectors import BYTES, I32, Vectors, integer

PAIR_SUMS = 8  # of a tile of scalar products: four rows by two


def _tile(X, G, sign):
    """The type and the code of `add_tile` and `subtract_tile`."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, X.dtype)
        source, target = v.data(X, args[0]), v.data(G, args[6])
        (width, first, count, k, q), stride = args[1:6], args[7]
        combine = v.fused if sign > 0 else v.reduced
        places = [builder.add(builder.mul(v.offset(k, t), stride), q) for t in range(SIDE)]
        sums = v.variables([v.load(target, place) for place in places])
        with cgutils.for_range(builder, count) as loop:
            row = builder.mul(builder.add(first, loop.index), width)
            right, left = v.load(source, builder.add(row, q)), builder.add(row, k)
            for t, total in enumerate(sums):
                spread = v.spread_at(source, v.offset(left, t))
                builder.store(combine(spread, right, builder.load(total)), total)
        for total, place in zip(sums, places, strict=True):
            v.store(builder.load(total), target, place)
        return context.get_dummy_value()

    i = types.int64
    return types.void(X, i, i, i, i, i, G, i), generate


@intrinsic
def add_tile(typing_context, X, width, first, count, k, q, G, stride):
    """G[k:k+4, q:q+lanes] += X[first:, k:k+4]ᵀ X[first:, q:q+lanes], of `count` rows of X.

    Rows of X have `width` numbers, those of G `stride`.
    """
    return _tile(X, G, 1)


@intrinsic
def subtract_tile(typing_context, X, width, first, count, k, q, G, stride):
    """The same, subtracted."""
    return _tile(X, G, -1)


@intrinsic
def multiply_pairs(typing_context, X, width, count, a, b, G, stride):
    """G[b + j, a + i] = ⟨X[a + i], X[b + j]⟩ for i < 4 and j < 2, over `count` numbers.

    The count is a multiple of half a vector.
    """

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, X.dtype, BYTES * 4 // X.dtype.bitwidth)
        source, target = v.data(X, args[0]), v.data(G, args[5])
        width, count, a, b, stride = args[1], args[2], args[3], args[4], args[6]
        left = [builder.mul(v.offset(a, i), width) for i in range(4)]
        right = [builder.mul(v.offset(b, j), width) for j in range(2)]
        sums = v.variables([v.zero] * PAIR_SUMS)
        with cgutils.for_range(builder, builder.udiv(count, integer(v.lanes))) as loop:
            t = v.scaled(loop.index)
            rights = [v.load(source, builder.add(row, t)) for row in right]
            for i, row in enumerate(left):
                own = v.load(source, builder.add(row, t))
                for j, other in enumerate(rights):
                    place = sums[4 * j + i]
                    builder.store(v.fused(own, other, builder.load(place)), place)
        four = ir.VectorType(v.scalar, 4)
        found = [builder.load(place) for place in sums]
        for first in range(0, PAIR_SUMS, v.lanes):
            total = _add_across(v, found[first : first + v.lanes])
            for part in range(0, v.lanes, 4):
                mask = ir.Constant(ir.VectorType(I32, 4), list(range(part, part + 4)))
                j = integer((first + part) // 4)
                place = builder.add(builder.mul(builder.add(b, j), stride), a)
                pointer = builder.bitcast(builder.gep(target, [place]), four.as_pointer())
                half = builder.shuffle_vector(total, total, mask)
                builder.store(half, pointer, align=v.size)
        return context.get_dummy_value()

    i = types.int64
    return types.void(X, i, i, i, i, G, i), generate


def _add_across(v, rows):
    """The sums of as many vectors as there are lanes, as one vector: halves are added by pairs."""
    step = 1
    while len(rows) > 1:
        low = [t if not t & step else v.lanes + t - step for t in range(v.lanes)]
        high = [t + step if not t & step else v.lanes + t for t in range(v.lanes)]
        masks = [ir.Constant(ir.VectorType(I32, v.lanes), mask) for mask in (low, high)]
        pairs = [rows[t : t + 2] for t in range(0, len(rows), 2)]
        rows = [
            v.builder.fadd(*(v.builder.shuffle_vector(*pair, mask) for mask in masks))
            for pair in pairs
        ]
        step *= 2
    return rows[0]


@intrinsic
def take_inverse_roots(typing_context, e, factor, addend, out, count):
    """out[t] = 1 / √(factor · e[t] + addend) for t < count, a multiple of the lanes; e ≥ 0."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, e.dtype)
        source, target = v.data(e, args[0]), v.data(out, args[3])
        factor, addend = v.spread(args[1]), v.spread(args[2])
        one = ir.Constant(v.vector, [1.0] * v.lanes)
        with cgutils.for_range(builder, builder.udiv(args[4], integer(v.lanes))) as loop:
            t = v.scaled(loop.index)
            root = v.sqrt(v.fused(factor, v.load(source, t), addend))
            v.store(builder.fdiv(one, root), target, t)
        return context.get_dummy_value()

    return types.void(e, e.dtype, e.dtype, out, types.int64), generate


@intrinsic
def scale_row_by(typing_context, source, source_at, factor, scales, target, target_at, count):
    """target[…] = factor · scales · source[…], number by number; the count is of whole vectors."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, target.dtype)
        data, by, out = v.data(source, args[0]), v.data(scales, args[3]), v.data(target, args[4])
        factor = v.spread(args[2])
        with cgutils.for_range(builder, builder.udiv(args[6], integer(v.lanes))) as loop:
            t = v.scaled(loop.index)
            row = builder.fmul(v.load(data, builder.add(args[1], t)), v.load(by, t))
            v.store(builder.fmul(row, factor), out, builder.add(args[5], t))
        return context.get_dummy_value()

    i = types.int64
    return types.void(source, i, target.dtype, scales, target, i, i), generate


@intrinsic
def add_multiples(typing_context, out, X, width, first, factors, count):
    """out[t] += Σ_i factors[first + i] X[first + i, t] for i < 4 and t < count.

    The count is a multiple of the lanes; rows of X have `width` numbers.
    """

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, out.dtype)
        target, source, by = (v.data(out, args[t]) for t in (0, 1, 4))
        rows = [v.offset(args[3], i) for i in range(SIDE)]
        scales = [v.spread_at(by, row) for row in rows]
        starts = [builder.mul(row, args[2]) for row in rows]
        with cgutils.for_range(builder, builder.udiv(args[5], integer(v.lanes))) as loop:
            t = v.scaled(loop.index)
            total = v.load(target, t)
            for scale, start in zip(scales, starts, strict=True):
                total = v.fused(scale, v.load(source, builder.add(start, t)), total)
            v.store(total, target, t)
        return context.get_dummy_value()

    i = types.int64
    return types.void(out, X, i, i, out, i), generate


@intrinsic
def apply_rows(typing_context, X, width, first, p, out, count):
    """out += Σ_i ⟨X_i, p⟩ X_i for the four rows of X from `first` on, over `count` numbers.

    The count is a multiple of the lanes; rows of X have `width` numbers.
    """

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, X.dtype)
        source, vector, target = (v.data(X, args[t]) for t in (0, 3, 4))
        starts = [builder.mul(v.offset(args[2], i), args[1]) for i in range(SIDE)]
        sums = v.variables([v.zero] * SIDE)
        steps = builder.udiv(args[5], integer(v.lanes))
        with cgutils.for_range(builder, steps) as loop:
            t = v.scaled(loop.index)
            own = v.load(vector, t)
            for start, total in zip(starts, sums, strict=True):
                row = v.load(source, builder.add(start, t))
                builder.store(v.fused(row, own, builder.load(total)), total)
        found, part = [builder.load(total) for total in sums], v
        while part.lanes > SIDE:
            found = [part.halved(x) for x in found]
            part = Vectors(context, builder, X.dtype, part.lanes // 2)
        totals = _add_across(part, found)
        scales = [
            v.spread(builder.extract_element(totals, ir.Constant(I32, i))) for i in range(SIDE)
        ]
        with cgutils.for_range(builder, steps) as loop:
            t = v.scaled(loop.index)
            total = v.load(target, t)
            for scale, start in zip(scales, starts, strict=True):
                total = v.fused(scale, v.load(source, builder.add(start, t)), total)
            v.store(total, target, t)
        return context.get_dummy_value()

    i = types.int64
    return types.void(X, i, i, p, out, i), generate
