"""Inner loops on whole vector registers, as LLVM instructions inside numba.

Numba cannot keep an array of sums in registers, and tests for overlapping arrays at every short
loop. These functions say what is meant: sums live in vectors of 64 bytes (`lanes` numbers), and
LLVM splits them where the machine's registers are narrower. All take flat arrays and offsets.
The last three work on `lanes` systems at once: number t of a vector belongs to system t.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pygeco.engines.cpu.vectors import BYTES, I32, I64, Vectors, integer, prefetch

TILE = 8  # rows of a Gram tile: as many sums as hide the latency of a multiply-add
AHEAD = 8  # cells between asking for a partner from the second cache and gathering it
SIDE = 4  # rows and columns of a block of the Cholesky factor: 16 sums, in registers


def _tile(X, G, P, indices, halves):
    """The type and the code of a Gram tile whose columns fill one vector, or a half of it.

    With each row of X, one line of a partner is asked for into the second cache: products leave
    the memory idle otherwise, and what is asked for all at once has to wait.
    """

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, X.dtype, BYTES * 8 // X.dtype.bitwidth // halves)
        source, target = v.data(X, args[0]), v.data(G, args[6])
        (width, count, k, q, few), (stride, fresh) = args[1:6], args[7:9]
        partners, numbers = v.data(P, args[9]), v.data(indices, args[10])
        ahead, last, record, line = args[11:15]

        def multiply(rows):
            places = [builder.add(builder.mul(v.offset(k, t), stride), q) for t in range(rows)]
            begin = [builder.select(fresh, v.zero, v.load(target, place)) for place in places]
            sums = v.variables(begin)
            with cgutils.for_range(builder, count) as loop:
                row = builder.mul(loop.index, width)
                right = v.load(source, builder.add(row, q))
                left = builder.add(row, k)
                cell = builder.add(ahead, loop.index)
                cell = builder.select(builder.icmp_signed("<", cell, last), cell, last)
                index = builder.zext(builder.load(builder.gep(numbers, [cell])), I64)
                asked = builder.add(builder.mul(index, record), line)
                prefetch(builder, partners, asked, nearness=2)
                for t, total in enumerate(sums):
                    spread = v.spread_at(source, v.offset(left, t))
                    builder.store(v.fused(spread, right, builder.load(total)), total)
            for total, place in zip(sums, places, strict=True):
                v.store(builder.load(total), target, place)

        with builder.if_else(few) as (then, otherwise):
            with then:
                multiply(TILE // 2)
            with otherwise:
                multiply(TILE)
        return context.get_dummy_value()

    i, yes = types.int64, types.boolean
    return types.void(X, i, i, i, i, yes, G, i, yes, P, indices, i, i, i, i), generate


@intrinsic
def gram_tile(
    typing_context, X, width, count, k, q, few, G, stride, fresh,
    P, indices, ahead, last, record, line,
):  # fmt: skip
    """G[k:k+8, q:q+lanes] += X[:count, k:k+8]ᵀ X[:count, q:q+lanes], or = where it is `fresh`.

    Where they are `few`, four rows of G instead of eight. Rows of X have `width` numbers, those of
    G `stride`. On the way it asks for number `line` of as many partners: those of the cells from
    `ahead` on, up to the `last`, each `record` numbers of P.
    """
    return _tile(X, G, P, indices, 1)


@intrinsic
def gram_half(
    typing_context, X, width, count, k, q, few, G, stride, fresh,
    P, indices, ahead, last, record, line,
):  # fmt: skip
    """The same for half as many columns: what the upper rows of a diagonal block need."""
    return _tile(X, G, P, indices, 2)


@intrinsic
def gather(
    typing_context, P, places, count, gap, vague, factors, roots, X, width, fresh,
    table, sides, sums, spread,
):  # fmt: skip
    """X_t = √w P_t of the partners at places[t] of P, for t < count, and their sums.

    Σ factors √w P goes to table[sides:], Σ w P to table[sums:], and Σ w W to spread, where the
    vectors of W lie `gap` numbers behind those of P and count `vague` times. The sums begin anew
    where they are `fresh`. Two vectors go together. Partners are asked for `AHEAD` cells before
    their turn: `places` goes on by so many.
    """

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, P.dtype)
        source, starts = v.data(P, args[0]), v.data(places, args[1])
        (count, gap), vague = args[2:4], v.spread(args[4])
        left, right, made, target, own = (v.data(P, args[t]) for t in (5, 6, 7, 10, 13))
        (width, fresh), (sides, sums) = args[8:10], args[11:13]
        apart = v.offset(gap, v.lanes)

        def gather_vectors(first, number):
            """So many vectors of each partner, beginning with number `first`."""
            begins = [v.offset(first, k) for k in range(number)]
            parts, outs = [builder.mul(begin, apart) for begin in begins], []
            for to in map(v.scaled, begins):
                outs += [(target, builder.add(side, to)) for side in (sides, sums)] + [(own, to)]
            totals = v.variables([builder.select(fresh, v.zero, v.load(*out)) for out in outs])
            with cgutils.for_range(builder, count) as loop:
                t = loop.index
                place, later = (
                    builder.load(builder.gep(starts, [v.offset(t, ahead)])) for ahead in (0, AHEAD)
                )
                for part in parts:
                    prefetch(builder, source, builder.add(later, part))
                    prefetch(builder, source, builder.add(builder.add(later, part), gap))
                root, factor = v.spread_at(right, t), v.spread_at(left, t)
                weight = builder.fmul(builder.fmul(root, root), vague)
                goes = builder.add(builder.mul(t, width), v.scaled(first))
                for k, part in enumerate(parts):
                    lies = builder.add(place, part)
                    row = builder.fmul(root, v.load(source, lies))
                    v.store(row, made, v.offset(goes, k * v.lanes))
                    other = v.load(source, builder.add(lies, gap))
                    pairs = (factor, row), (root, row), (weight, other)
                    for pair, total in zip(pairs, totals[3 * k :], strict=False):
                        builder.store(v.fused(*pair, builder.load(total)), total)
            for total, out in zip(totals, outs, strict=True):
                v.store(builder.load(total), *out)

        vectors = builder.udiv(width, integer(v.lanes))
        with cgutils.for_range(builder, builder.udiv(vectors, integer(2))) as loop:
            gather_vectors(builder.mul(loop.index, integer(2)), 2)
        with builder.if_then(builder.trunc(vectors, ir.IntType(1))):  # their number is odd
            gather_vectors(v.offset(vectors, -1), 1)
        return context.get_dummy_value()

    i = types.int64
    return types.void(P, places, i, i, P.dtype, P, P, P, i, types.boolean, P, i, i, P), generate


@intrinsic
def scale_row(typing_context, source, source_at, factor, target, target_at, count):
    """target[target_at + t] = factor · source[source_at + t] for t < count, a multiple of lanes."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, target.dtype)
        data, out = v.data(source, args[0]), v.data(target, args[3])
        scale = v.spread(args[2])
        with cgutils.for_range(builder, builder.udiv(args[5], integer(v.lanes))) as loop:
            t = v.scaled(loop.index)
            row = builder.fmul(v.load(data, builder.add(args[1], t)), scale)
            v.store(row, out, builder.add(args[4], t))
        return context.get_dummy_value()

    i = types.int64
    return types.void(source, i, target.dtype, target, i, i), generate


def _transposed(v, rows):
    """As many vectors as there are lanes, transposed: log₂ steps of exchanges between pairs."""
    step = 1
    while step < v.lanes:
        low = [t if not t & step else v.lanes + t - step for t in range(v.lanes)]
        high = [t + step if not t & step else v.lanes + t for t in range(v.lanes)]
        masks = [ir.Constant(ir.VectorType(I32, v.lanes), mask) for mask in (low, high)]
        new = list(rows)
        for t in range(v.lanes):
            if not t & step:
                for mask, at in zip(masks, (t, t + step), strict=True):
                    new[at] = v.builder.shuffle_vector(rows[t], rows[t + step], mask)
        rows, step = new, 2 * step
    return rows


@intrinsic
def place(typing_context, G, size, source, M, target, tau, ridge, prior):
    """M[target + q, t] = τ G[t size + source + q] + ridge[t] prior[source + q] for q, t < lanes.

    System t's numbers, one after the other, go to lane t of as many vectors.
    """

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, G.dtype)
        data, out = v.data(G, args[0]), v.data(M, args[3])
        weights, given = v.load(v.data(G, args[6]), integer(0)), v.data(G, args[7])
        source, target, tau = args[2], v.scaled(args[4]), v.spread(args[5])
        rows = []
        for t in range(v.lanes):
            rows.append(v.load(data, builder.add(builder.mul(args[1], integer(t)), source)))
        for q, row in enumerate(_transposed(v, rows)):
            own = builder.fmul(weights, v.spread_at(given, v.offset(source, q)))
            v.store(v.fused(tau, row, own), out, v.offset(target, q * v.lanes))
        return context.get_dummy_value()

    i = types.int64
    return types.void(G, i, i, M, i, G.dtype, G, G), generate


def _block(v, A, a, stride, rows, M, m, first, count):
    """A[a + i stride + count + j] − Σ_{first ≤ t < count} A[a + i stride + t] M[m + j stride + t].

    For i < rows and j < SIDE, as a table of vectors. Offsets count vectors.
    """
    builder = v.builder
    above = [builder.add(a, builder.mul(stride, integer(i))) for i in range(rows)]
    left = [builder.add(m, builder.mul(stride, integer(j))) for j in range(SIDE)]
    start = [
        v.load(A, v.scaled(v.offset(builder.add(row, count), j)))
        for row in above
        for j in range(SIDE)
    ]
    sums = v.variables(start)
    with cgutils.for_range(builder, builder.sub(count, first)) as loop:
        t = builder.add(loop.index, first)
        factors = [v.load(M, v.scaled(builder.add(row, t))) for row in left]
        for i, row in enumerate(above):
            own = v.load(A, v.scaled(builder.add(row, t)))
            for total, factor in zip(sums[i * SIDE :], factors, strict=False):
                builder.store(v.reduced(own, factor, builder.load(total)), total)
    found = [builder.load(total) for total in sums]
    return above, left, [found[i * SIDE : (i + 1) * SIDE] for i in range(rows)]


def _solve(A, M, rows):
    """The type and the code of `solve_four` and `solve_one`."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, M.dtype)
        source, factor, inverse = v.data(A, args[0]), v.data(M, args[2]), v.data(M, args[4])
        a, stride, first, count = args[1], args[3], args[5], args[6]
        m = builder.mul(count, stride)
        above, left, C = _block(v, source, a, stride, rows, factor, m, first, count)
        for j in range(SIDE):
            scale = v.load(inverse, v.scaled(v.offset(count, j)))
            corner = [
                v.load(factor, v.scaled(v.offset(builder.add(left[j], count), t))) for t in range(j)
            ]
            for i in range(rows):
                for t in range(j):
                    C[i][j] = v.reduced(C[i][t], corner[t], C[i][j])
                C[i][j] = builder.fmul(C[i][j], scale)
                v.store(C[i][j], source, v.scaled(v.offset(builder.add(above[i], count), j)))
        return context.get_dummy_value()

    i = types.int64
    return types.void(A, i, M, i, M, i, i), generate


@intrinsic
def solve_four(typing_context, A, a, M, stride, inverse, first, count):
    """Columns count … count + 3 of four rows X of A, in their place: X Lᵀ = B there.

    The rows lie at a, a + stride, …; L's at 0, stride, … of M, with 1 / L_kk in `inverse`.
    Columns before `first` of X are zero, those before `count` are known. Offsets count vectors.
    """
    return _solve(A, M, SIDE)


@intrinsic
def solve_one(typing_context, A, a, M, stride, inverse, first, count):
    """The same for one row."""
    return _solve(A, M, 1)


@intrinsic
def factor_corner(typing_context, M, stride, inverse, count):
    """The Cholesky factor of the diagonal block at `count`, and 1 / L_kk into `inverse`."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, M.dtype)
        data, stride, inverse, count = v.data(M, args[0]), args[1], v.data(M, args[2]), args[3]
        at = builder.mul(count, stride)
        above, _, C = _block(v, data, at, stride, SIDE, data, at, integer(0), count)
        tiny = ir.Constant(v.vector, [1e-30] * v.lanes)
        one = ir.Constant(v.vector, [1.0] * v.lanes)
        for j in range(SIDE):
            for i in range(j, SIDE):
                for t in range(j):
                    C[i][j] = v.reduced(C[i][t], C[j][t], C[i][j])
            positive = builder.select(builder.fcmp_ordered(">", C[j][j], tiny), C[j][j], tiny)
            scale = builder.fdiv(one, v.sqrt(positive))
            v.store(scale, inverse, v.scaled(v.offset(count, j)))
            for i in range(j + 1, SIDE):
                C[i][j] = builder.fmul(C[i][j], scale)
                v.store(C[i][j], data, v.scaled(v.offset(builder.add(above[i], count), j)))
        return context.get_dummy_value()

    i = types.int64
    return types.void(M, i, M, i), generate
