"""Cholesky's factor of one system, four rows at a time, as LLVM instructions inside numba.

A system is kept by rows as its upper triangle, in whose place comes R, M = RᵀR; see `row_simd`.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pygeco.engines.cpu.simd import SIDE
from pygeco.engines.cpu.vectors import Vectors, integer


@intrinsic
def finish_panel(typing_context, M, stride, k, end, inverse, z):
    """Rows k … k + 3 of R from their Schur complement in place, columns k … end − 1.

    1 / R_kk goes to `inverse`. A pivot that is not positive is taken as tiny. z, from k on what is
    left of the right side, has R⁻ᵀ of it in four more places then.
    """

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, M.dtype)
        data, (stride, k, end) = v.data(M, args[0]), args[1:4]
        inverse, z = v.data(M, args[4]), v.data(M, args[5])
        rows = [builder.mul(v.offset(k, t), stride) for t in range(SIDE)]
        roots, R = _corner(v, data, rows, k)
        sides: list[ir.Value] = []
        for t, root in enumerate(roots):
            builder.store(root, builder.gep(inverse, [v.offset(k, t)]))
            x = builder.load(builder.gep(z, [v.offset(k, t)]))
            for p in range(t):
                x = builder.fsub(x, builder.fmul(R[p, t], sides[p]))
            sides.append(builder.fmul(x, root))
        scales, wide = [v.spread(root) for root in roots], [v.spread(x) for x in sides]
        factors = {place: v.spread(number) for place, number in R.items()}
        count = builder.udiv(v.offset(builder.sub(end, k), v.lanes - 1), integer(v.lanes))
        with cgutils.for_range(builder, count) as loop:
            at = builder.add(k, v.scaled(loop.index))
            right = v.load(z, at)
            done: list[ir.Value] = []
            for t, row in enumerate(rows):
                x = v.load(data, builder.add(row, at))
                for p, known in enumerate(done):
                    x = v.reduced(factors[p, t], known, x)
                done.append(builder.fmul(x, scales[t]))
                right = v.reduced(wide[t], done[t], right)
            for row, x in zip(rows, done, strict=True):
                v.store(x, data, builder.add(row, at))
            v.store(right, z, at)
        for t, x in enumerate(sides):
            builder.store(x, builder.gep(z, [v.offset(k, t)]))
        return context.get_dummy_value()

    i = types.int64
    return types.void(M, i, i, i, M, M), generate


@intrinsic
def solve_panel(typing_context, M, stride, k, end, inverse, x):
    """x[k:k+4] = R⁻¹ of it, where x from k + 4 to end − 1 is solved already, with zeros beyond."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, M.dtype)
        data, (stride, k, end) = v.data(M, args[0]), args[1:4]
        inverse, x = v.data(M, args[4]), v.data(M, args[5])
        rows = [builder.mul(v.offset(k, t), stride) for t in range(SIDE)]
        sums, after = v.variables([v.zero] * SIDE), v.offset(k, SIDE)
        count = builder.udiv(v.offset(builder.sub(end, after), v.lanes - 1), integer(v.lanes))
        with cgutils.for_range(builder, count) as loop:
            at = builder.add(after, v.scaled(loop.index))
            known = v.load(x, at)
            for row, total in zip(rows, sums, strict=True):
                moved = v.fused(v.load(data, builder.add(row, at)), known, builder.load(total))
                builder.store(moved, total)
        found: dict[int, ir.Value] = {}
        for t in range(SIDE - 1, -1, -1):
            y = builder.load(builder.gep(x, [v.offset(k, t)]))
            y = builder.fsub(y, _add_up(context, v, builder.load(sums[t])))
            for q in range(t + 1, SIDE):
                R = builder.load(builder.gep(data, [v.offset(builder.add(rows[t], k), q)]))
                y = builder.fsub(y, builder.fmul(R, found[q]))
            found[t] = builder.fmul(y, builder.load(builder.gep(inverse, [v.offset(k, t)])))
        for t, y in found.items():
            builder.store(y, builder.gep(x, [v.offset(k, t)]))
        return context.get_dummy_value()

    i = types.int64
    return types.void(M, i, i, i, M, M), generate


def _add_up(context, v, value):
    """The sum of a vector's numbers, by halves."""
    while v.lanes > 4:
        value = v.halved(value)
        v = Vectors(
            context, v.builder, types.float32 if v.size == 4 else types.float64, v.lanes // 2
        )
    return v.across(value)


@intrinsic
def clear_lanes(typing_context, M, at):
    """One vector of zeros at an offset."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, M.dtype)
        v.store(v.zero, v.data(M, args[0]), args[1])
        return context.get_dummy_value()

    return types.void(M, types.int64), generate


def _corner(v, data, rows, k):
    """1 / R_tt and R_pt, p < t < 4, of the diagonal block, as numbers."""
    builder = v.builder
    root_of = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(v.scalar, [v.scalar]), f"llvm.sqrt.f{8 * v.size}"
    )
    tiny, one = ir.Constant(v.scalar, 1e-30), ir.Constant(v.scalar, 1.0)
    roots: list[ir.Value] = []
    R: dict[tuple[int, int], ir.Value] = {}
    for t in range(SIDE):
        for q in range(t, SIDE):
            x = builder.load(builder.gep(data, [v.offset(builder.add(rows[t], k), q)]))
            for p in range(t):
                x = builder.fsub(x, builder.fmul(R[p, t], R[p, q]))
            if q == t:
                x = builder.select(builder.fcmp_ordered(">", x, tiny), x, tiny)
                roots.append(builder.fdiv(one, builder.call(root_of, [x])))
            else:
                R[t, q] = builder.fmul(x, roots[t])
    return roots, R
