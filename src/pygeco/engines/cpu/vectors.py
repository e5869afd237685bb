"""Vectors of numbers as LLVM instructions inside numba, and what one kernel alone may need of them.

What is summed in which order, and what is fused, is said here and not left to the compiler: code
from the cache on disk is not optimized as the code of a first run is, and must give the same bits.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

BYTES = 64

I32, I64 = ir.IntType(32), ir.IntType(64)


def _fuses() -> bool:
    """Whether the machine that numba compiles for has a multiply-add of one rounding."""
    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    return not triple.startswith(("x86", "i386", "i686")) or "+fma" in features


FUSES = _fuses()


def integer(number: int) -> ir.Constant:
    return ir.Constant(I64, number)


class Vectors:
    """Loads, stores and arithmetic of one vector type at offsets of flat arrays."""

    def __init__(self, context, builder, dtype, lanes=None):
        self.context, self.builder = context, builder
        self.size = dtype.bitwidth // 8
        self.lanes = lanes or BYTES // self.size
        self.scalar = context.get_value_type(dtype)
        self.vector = ir.VectorType(self.scalar, self.lanes)
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)

    def data(self, kind, array):
        return self.context.make_array(kind)(self.context, self.builder, array).data

    def at(self, data, offset):
        return self.builder.bitcast(self.builder.gep(data, [offset]), self.vector.as_pointer())

    def load(self, data, offset):
        return self.builder.load(self.at(data, offset), align=self.size)

    def store(self, value, data, offset):
        self.builder.store(value, self.at(data, offset), align=self.size)

    def offset(self, base, number):
        return self.builder.add(base, integer(number))

    def scaled(self, offset):
        """Of an offset that counts vectors, the one that counts numbers."""
        return self.builder.mul(offset, integer(self.lanes))

    def spread(self, scalar):
        nothing = ir.Constant(self.vector, ir.Undefined)
        one = self.builder.insert_element(nothing, scalar, ir.Constant(I32, 0))
        mask = ir.Constant(ir.VectorType(I32, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, nothing, mask)

    def spread_at(self, data, offset):
        return self.spread(self.builder.load(self.builder.gep(data, [offset])))

    def fused(self, a, b, c):
        """A multiply-add, c + a b, as one instruction where there is one."""
        return multiply_add(self.builder, a, b, c, f"v{self.lanes}f{8 * self.size}")

    def reduced(self, a, b, c):
        """The same with c − a b."""
        return self.fused(self.builder.fneg(a), b, c)

    def halved(self, value):
        """A vector of half as many numbers: the lower half plus the upper one."""
        half = self.lanes // 2
        parts = [
            self.builder.shuffle_vector(
                value, value, ir.Constant(ir.VectorType(I32, half), list(range(at, at + half)))
            )
            for at in (0, half)
        ]
        return self.builder.fadd(*parts)

    def across(self, value):
        """The sum of a vector's four numbers."""
        a, b, c, d = (self.builder.extract_element(value, ir.Constant(I32, t)) for t in range(4))
        return self.builder.fadd(self.builder.fadd(a, b), self.builder.fadd(c, d))

    def sqrt(self, value):
        kind = ir.FunctionType(self.vector, [self.vector])
        name = f"llvm.sqrt.v{self.lanes}f{8 * self.size}"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [value])

    def variables(self, values):
        """Places for these vectors, which LLVM turns into registers."""
        places = [cgutils.alloca_once(self.builder, self.vector) for _ in values]
        for place, value in zip(places, values, strict=True):
            self.builder.store(value, place)
        return places


def multiply_add(builder, a, b, c, name):
    if not FUSES:
        return builder.fadd(c, builder.fmul(a, b))
    kind = ir.FunctionType(a.type, [a.type] * 3)
    return builder.call(
        cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.{name}"), [a, b, c]
    )


def prefetch(builder, data, offset, nearness=3):
    """Ask for the line of memory at an offset, into the first cache, or the second (2).

    An address beyond the end does no harm.
    """
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, I32, I32, I32])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    read, keep, number = (ir.Constant(I32, k) for k in (0, nearness, 1))
    builder.call(function, [builder.bitcast(builder.gep(data, [offset]), byte), read, keep, number])


@intrinsic
def fetch(typing_context, source, offset, count):
    """Ask for source[offset : offset + count], flat or row by row, before it is needed."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, source.dtype)
        data = v.data(source, args[0])
        lines = builder.udiv(v.offset(args[2], v.lanes - 1), integer(v.lanes))
        with cgutils.for_range(builder, lines) as loop:
            prefetch(builder, data, builder.add(args[1], v.scaled(loop.index)))
        return context.get_dummy_value()

    return types.void(source, types.int64, types.int64), generate


@intrinsic
def fused(typing_context, a, b, c):
    """C + a b of three numbers, with one rounding where the machine can."""
    real = c

    def generate(context, builder, signature, args):
        a, b, c = args
        return multiply_add(builder, a, b, c, f"f{real.bitwidth}")

    return real(real, real, real), generate


@intrinsic
def dot(typing_context, P, p, Q, q, count):
    """Σ_{t < count} P[p + t] Q[q + t], in their precision: eight sums, four, then one by one."""
    real = P.dtype

    def generate(context, builder, signature, args):
        wide, v = (Vectors(context, builder, real, lanes) for lanes in (8, 4))
        left, right = v.data(P, args[0]), v.data(Q, args[2])
        p, q, count = args[1], args[3], args[4]
        (eight,) = wide.variables([wide.zero])
        with cgutils.for_range(builder, builder.udiv(count, integer(8))) as loop:
            t = wide.scaled(loop.index)
            one, two = wide.load(left, builder.add(p, t)), wide.load(right, builder.add(q, t))
            builder.store(wide.fused(one, two, builder.load(eight)), eight)
        (four,) = v.variables([wide.halved(builder.load(eight))])
        done = builder.and_(count, integer(-8))
        four_left = builder.icmp_unsigned("!=", builder.and_(count, integer(4)), integer(0))
        with builder.if_then(four_left):
            one, two = v.load(left, builder.add(p, done)), v.load(right, builder.add(q, done))
            builder.store(v.fused(one, two, builder.load(four)), four)
        total = cgutils.alloca_once_value(builder, v.across(builder.load(four)))
        done = builder.and_(count, integer(-4))
        with cgutils.for_range(builder, builder.sub(count, done)) as loop:
            t = builder.add(done, loop.index)
            one = builder.load(builder.gep(left, [builder.add(p, t)]))
            two = builder.load(builder.gep(right, [builder.add(q, t)]))
            name = f"f{real.bitwidth}"
            builder.store(multiply_add(builder, one, two, builder.load(total), name), total)
        return builder.load(total)

    i = types.int64
    return real(P, i, Q, i, i), generate
