"""The residuals of a group of cells of one row, as LLVM instructions inside numba.

Factors are read in their own precision, and their products are summed in float64.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pygeco.engines.cpu.dots import LANES
from pygeco.engines.cpu.vectors import I32, I64, Vectors, integer

_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_LONGS, _WHOLES, _BITS = (ir.VectorType(kind, LANES) for kind in (I64, I32, ir.IntType(1)))


def _mark_first(builder, count):
    """True for as many numbers of a vector."""
    one = builder.insert_element(ir.Constant(_LONGS, ir.Undefined), count, ir.Constant(I32, 0))
    spread = builder.shuffle_vector(one, one, ir.Constant(_WHOLES, [0] * LANES))
    return builder.icmp_signed("<", ir.Constant(_LONGS, list(range(LANES))), spread)


def _load(v, data, at, mask):
    """The numbers at a place as float64, all of them or, with zeros between, those of a mask."""
    if mask is None:
        numbers = v.load(data, at)
    else:
        kind = ir.FunctionType(v.vector, [v.vector.as_pointer(), I32, _BITS, v.vector])
        name = f"llvm.masked.load.v{LANES}f{8 * v.size}.p0"
        function = cgutils.get_or_insert_function(v.builder.module, kind, name)
        given = v.at(data, at), ir.Constant(I32, v.size), mask, v.zero
        numbers = v.builder.call(function, given)
    return numbers if v.size == 8 else v.builder.fpext(numbers, _DOUBLES)


def _add_across(builder, vectors):
    """The sum of each vector, as one vector of them: neighbors are added, three times."""
    even, odd = (ir.Constant(_WHOLES, list(range(first, 2 * LANES, 2))) for first in (0, 1))
    while len(vectors) > 1:
        vectors = [
            builder.fadd(builder.shuffle_vector(a, b, even), builder.shuffle_vector(a, b, odd))
            for a, b in zip(vectors[::2], vectors[1::2], strict=True)
        ]
    return vectors[0]


def _predict(v, wide, own, p, others, starts, s):
    """⟨own[p : p + s], others[start : start + s]⟩ for each start."""
    builder = v.builder
    totals = wide.variables([wide.zero] * LANES)

    def add_numbers(at, mask=None):
        left = _load(v, own, builder.add(p, at), mask)
        for start, total in zip(starts, totals, strict=True):
            right = _load(v, others, builder.add(start, at), mask)
            builder.store(wide.fused(left, right, builder.load(total)), total)

    with cgutils.for_range(builder, builder.udiv(s, integer(LANES))) as loop:
        add_numbers(v.scaled(loop.index))
    rest = builder.and_(s, integer(LANES - 1))
    with builder.if_then(builder.icmp_signed("!=", rest, integer(0))):
        add_numbers(builder.sub(s, rest), _mark_first(builder, rest))
    return _add_across(builder, [builder.load(total) for total in totals])


def _gather(builder, arrays, cells):
    """The number of each cell as float64; of two arrays, the first has codes of the second's."""
    made = ir.Constant(_DOUBLES, ir.Undefined)
    for lane, at in enumerate(cells):
        *codes, numbers = arrays
        for array in codes:
            at = builder.zext(builder.load(builder.gep(array, [at])), I64)
        number = builder.load(builder.gep(numbers, [at]))
        if number.type != _DOUBLES.element:
            number = builder.fpext(number, _DOUBLES.element)
        made = builder.insert_element(made, number, ir.Constant(I32, lane))
    return made


@intrinsic
def residual_group(typing_context, P, p, Q, s, indices, values, weights, e, last, found):
    """w (z − y) of cells e … e + `LANES` − 1, as far as the `last`, to `found`; zeros beyond it.

    z is ⟨P[p : p + s], Q_j⟩ in float64. Behind them, w (z − y)² and w (z − y) z are added to sums
    of their places. P and Q are flat, or row by row with s numbers each.
    """
    is_coded = isinstance(values, types.BaseTuple)

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, P.dtype, LANES)
        wide = Vectors(context, builder, types.float64, LANES)
        given = (P, args[0]), (Q, args[2]), (indices, args[4]), (weights, args[6]), (found, args[9])
        own, others, numbers, heavy, out = (v.data(*pair) for pair in given)
        targets = [(values, args[5])]
        if is_coded:
            targets = [(kind, builder.extract_value(args[5], k)) for k, kind in enumerate(values)]
        s, e, last = args[3], args[7], args[8]
        cells, starts = [], []
        for lane in range(LANES):
            cell = v.offset(e, lane)
            cell = builder.select(builder.icmp_signed("<", cell, last), cell, last)
            j = builder.zext(builder.load(builder.gep(numbers, [cell])), I64)
            cells.append(cell)
            starts.append(builder.mul(j, s))
        z = _predict(v, wide, own, args[1], others, starts, s)
        r = builder.fsub(z, _gather(builder, [v.data(*pair) for pair in targets], cells))
        is_there = _mark_first(builder, v.offset(builder.sub(last, e), 1))
        r = builder.select(is_there, r, wide.zero)
        (weighted,) = wide.variables([r])
        length = context.make_array(weights)(context, builder, args[6]).nitems
        with builder.if_then(builder.icmp_signed("!=", length, integer(0))):
            builder.store(builder.fmul(r, _gather(builder, [heavy], cells)), weighted)
        wr = builder.load(weighted)
        wide.store(wr, out, integer(0))
        for at, other in ((LANES, r), (2 * LANES, z)):
            wide.store(wide.fused(wr, other, wide.load(out, integer(at))), out, integer(at))
        return context.get_dummy_value()

    i = types.int64
    return types.void(P, i, Q, i, indices, values, weights, i, i, found), generate
