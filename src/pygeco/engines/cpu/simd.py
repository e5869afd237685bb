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

from pygeco.engines.cpu.vectors import BYTES, I32, Vectors, integer

TILE = 8  # rows of a Gram tile: as many sums as hide the latency of a multiply-add
SIDE = 4  # rows and columns of a block of the Cholesky factor: 16 sums, in registers


def _tile(X, G, halves):
    """The type and the code of a Gram tile whose columns fill one vector, or a half of it."""

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, X.dtype, BYTES * 8 // X.dtype.bitwidth // halves)
        source, target = v.data(X, args[0]), v.data(G, args[5])
        (width, count, k, q), (stride, fresh) = args[1:5], args[6:8]
        places = []
        for t in range(TILE):
            places.append(builder.add(builder.mul(v.offset(k, t), stride), q))
        sums = v.variables(
            [builder.select(fresh, v.zero, v.load(target, place)) for place in places]
        )
        with cgutils.for_range(builder, count) as loop:
            row = builder.mul(loop.index, width)
            right = v.load(source, builder.add(row, q))
            left = builder.add(row, k)
            for t, total in enumerate(sums):
                spread = v.spread_at(source, v.offset(left, t))
                builder.store(v.fused(spread, right, builder.load(total)), total)
        for total, place in zip(sums, places, strict=True):
            v.store(builder.load(total), target, place)
        return context.get_dummy_value()

    i = types.int64
    return types.void(X, i, i, i, i, G, i, types.boolean), generate


@intrinsic
def gram_tile(typing_context, X, width, count, k, q, G, stride, fresh):
    """G[k:k+8, q:q+lanes] += X[:count, k:k+8]ᵀ X[:count, q:q+lanes], or = where it is `fresh`.

    Rows of X have `width` numbers, those of G `stride`.
    """
    return _tile(X, G, 1)


@intrinsic
def gram_half(typing_context, X, width, count, k, q, G, stride, fresh):
    """The same for half as many columns: what the upper rows of a diagonal block need."""
    return _tile(X, G, 2)


@intrinsic
def gather_line(
    typing_context, P, places, count, at, gap, vague, factors, roots, X, width, q, fresh,
    table, sides, sums, spread,
):  # fmt: skip
    """One vector of each partner P_t, at places[t] + at of P, for t < count, and their sums.

    √w P_t goes to X[t, q:], Σ factors √w P to table[sides + q:], Σ w P to table[sums + q:], and
    Σ w W to spread[q:], where W lies `gap` numbers behind P and counts `vague` times. The sums
    begin anew where they are `fresh`. Partners go in pairs, which hides the latency: where the
    count is odd, `places` must hold one more, with a root of zero.
    """

    def generate(context, builder, signature, args):
        v = Vectors(context, builder, P.dtype)
        source, starts = v.data(P, args[0]), v.data(places, args[1])
        (count, at, gap), vague = args[2:5], v.spread(args[5])
        left, right, made, target, own = (v.data(P, args[t]) for t in (6, 7, 8, 12, 15))
        width, q, fresh = args[9:12]
        outs = [(target, builder.add(args[13], q)), (target, builder.add(args[14], q)), (own, q)]
        begin = [builder.select(fresh, v.zero, v.load(*out)) for out in outs]
        totals = v.variables(begin + [v.zero] * len(outs))
        with cgutils.for_range(builder, builder.udiv(v.offset(count, 1), integer(2))) as loop:
            for half in (0, 1):
                t = v.offset(builder.mul(loop.index, integer(2)), half)
                place = builder.add(builder.load(builder.gep(starts, [t])), at)
                root = v.spread_at(right, t)
                row = builder.fmul(root, v.load(source, place))
                v.store(row, made, builder.add(builder.mul(t, width), q))
                other = v.load(source, builder.add(place, gap))
                weight = builder.fmul(builder.fmul(root, root), vague)
                pairs = (v.spread_at(left, t), row), (root, row), (weight, other)
                for pair, total in zip(pairs, totals[half * len(outs) :], strict=False):
                    builder.store(v.fused(*pair, builder.load(total)), total)
        for k, out in enumerate(outs):
            one, two = (builder.load(total) for total in totals[k :: len(outs)])
            v.store(builder.fadd(one, two), *out)
        return context.get_dummy_value()

    i = types.int64
    return types.void(
        P, places, i, i, i, P.dtype, P, P, P, i, i, types.boolean, P, i, i, P
    ), generate


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
