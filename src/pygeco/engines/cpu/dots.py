"""The product of a sparse row with a vector or with several, as LLVM instructions inside numba.

The numbers of the vector are gathered by single loads into one register, and the row's own numbers
are fetched ahead by hand: the gathers make the machine's own prefetching lose its stream. Without
that a product runs a fifth slower.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pygeco.engines.cpu.vectors import I32, I64, Vectors, integer, multiply_add, prefetch

LANES = 8
AHEAD = 1024  # numbers

_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_WHOLES = ir.VectorType(I32, LANES)
_BITS = ir.VectorType(ir.IntType(1), LANES)

RUN = 64  # cells that are summed before their sum is added to the others
ROWS_AHEAD = 12  # rows that are fetched before they are needed


class _Row:
    """Code for groups of `LANES` cells: Σ data x over them, added to a vector of float64 sums."""

    def __init__(self, context, builder, signature, args):
        self.builder = builder
        self.indices, self.data, self.x = (
            context.make_array(kind)(context, builder, arg).data
            for kind, arg in zip(signature.args[:3], args[:3], strict=True)
        )
        self.scalar, self.number = (
            context.get_value_type(kind.dtype) for kind in signature.args[1:3]
        )
        self.size = signature.args[1].dtype.bitwidth // 8
        self.sums = cgutils.alloca_once_value(builder, ir.Constant(_DOUBLES, [0.0] * LANES))

    def at(self, data, e, kind):
        return self.builder.bitcast(self.builder.gep(data, [e]), kind)

    def fetch(self, e):
        """What comes later of both arrays."""
        later = self.builder.add(e, integer(AHEAD))
        for data in (self.indices, self.data):
            prefetch(self.builder, data, later)

    def add(self, numbers, index_of):
        """Sums += numbers · x[index_of(0 … LANES − 1)]."""
        gathered = ir.Constant(ir.VectorType(self.number, LANES), ir.Undefined)
        for lane in range(LANES):
            j = self.builder.zext(index_of(lane), I64)
            number = self.builder.load(self.builder.gep(self.x, [j]))
            gathered = self.builder.insert_element(gathered, number, ir.Constant(I32, lane))
        if gathered.type != _DOUBLES:
            gathered = self.builder.fpext(gathered, _DOUBLES)
        if self.size < 8:
            numbers = self.builder.fpext(numbers, _DOUBLES)
        total = self.builder.load(self.sums)
        total = multiply_add(self.builder, numbers, gathered, total, f"v{LANES}f64")
        self.builder.store(total, self.sums)

    def group(self, e):
        """The next `LANES` cells."""
        vector = ir.VectorType(self.scalar, LANES).as_pointer()
        numbers = self.builder.load(self.at(self.data, e, vector), align=self.size)

        def index_of(lane):
            place = self.builder.add(e, integer(lane))
            return self.builder.load(self.builder.gep(self.indices, [place]))

        self.add(numbers, index_of)

    def rest(self, e, count):
        """Fewer cells than that: zeros stand for the others, without a branch."""
        first = self.builder.insert_element(
            ir.Constant(_WHOLES, ir.Undefined), self.builder.trunc(count, I32), ir.Constant(I32, 0)
        )
        spread = self.builder.shuffle_vector(first, first, ir.Constant(_WHOLES, [0] * LANES))
        mask = self.builder.icmp_unsigned("<", ir.Constant(_WHOLES, list(range(LANES))), spread)
        numbers = self._masked(ir.VectorType(self.scalar, LANES), self.data, e, mask)
        indices = self._masked(_WHOLES, self.indices, e, mask)
        self.add(
            numbers, lambda lane: self.builder.extract_element(indices, ir.Constant(I32, lane))
        )

    def _masked(self, vector, data, e, mask):
        whole = vector is _WHOLES
        name = f"v{LANES}" + ("i32" if whole else f"f{8 * self.size}")
        kind = ir.FunctionType(vector, [vector.as_pointer(), I32, _BITS, vector])
        load = cgutils.get_or_insert_function(
            self.builder.module, kind, f"llvm.masked.load.{name}.p0{name}"
        )
        zeros = ir.Constant(vector, [0 if whole else 0.0] * LANES)
        alignment = ir.Constant(I32, 4 if whole else self.size)
        place = self.at(data, e, vector.as_pointer())
        return self.builder.call(load, [place, alignment, mask, zeros])

    def total(self):
        """The sums, added in pairs."""
        sums = self.builder.load(self.sums)
        parts = [self.builder.extract_element(sums, ir.Constant(I32, k)) for k in range(LANES)]
        while len(parts) > 1:
            parts = [self.builder.fadd(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]


@intrinsic
def sparse_dot(typing_context, indices, data, x, start, stop):
    """Σ data[e] x[indices[e]] for start ≤ e < stop, in float64; x has n ≥ 1 numbers."""

    def generate(context, builder, signature, args):
        row = _Row(context, builder, signature, args)
        start, stop = args[3], args[4]
        whole = builder.and_(builder.sub(stop, start), integer(-LANES))
        steps = cgutils.for_range_slice(builder, integer(0), whole, integer(LANES), inc=True)
        with steps as (offset, _):
            e = builder.add(start, offset)
            row.fetch(e)
            row.group(e)
        e = builder.add(start, whole)
        row.rest(e, builder.sub(stop, e))
        return row.total()

    return types.float64(indices, data, x, types.int64, types.int64), generate


def _make_sparse_dots(vectors):
    """A function that sums so many vectors of columns side by side."""

    @intrinsic
    def sparse_dots(typing_context, X, width, q, indices, data, start, stop, out):
        def generate(context, builder, signature, args):
            v = Vectors(context, builder, X.dtype)
            wide = Vectors(context, builder, types.float64, v.lanes)
            source, places = v.data(X, args[0]), v.data(indices, args[3])
            numbers, target = v.data(data, args[4]), v.data(out, args[7])
            width, q, start, stop = args[1], args[2], args[5], args[6]
            at = [builder.add(q, integer(k * v.lanes)) for k in range(vectors)]
            sums = v.variables([v.zero] * vectors)

            def place_of(e):
                j = builder.zext(builder.load(builder.gep(places, [e])), I64)
                return builder.mul(j, width)

            for column in at:
                wide.store(wide.zero, target, column)
            runs = cgutils.for_range_slice(builder, start, stop, integer(RUN), inc=True)
            with runs as (first, _):
                for place in sums:
                    builder.store(v.zero, place)
                left = builder.sub(stop, first)
                whole = builder.icmp_signed("<", left, integer(RUN))
                with cgutils.for_range(builder, builder.select(whole, left, integer(RUN))) as loop:
                    e = builder.add(first, loop.index)
                    later = builder.add(e, integer(ROWS_AHEAD))
                    later = builder.select(builder.icmp_signed("<", later, stop), later, e)
                    next_row, own_row = place_of(later), place_of(e)
                    for column in at:
                        prefetch(builder, source, builder.add(next_row, column))
                    number = v.spread_at(numbers, e)
                    for place, column in zip(sums, at, strict=True):
                        row = v.load(source, builder.add(own_row, column))
                        builder.store(v.fused(number, row, builder.load(place)), place)
                for place, column in zip(sums, at, strict=True):
                    total = builder.load(place)
                    if v.size < 8:
                        total = builder.fpext(total, wide.vector)
                    wide.store(builder.fadd(wide.load(target, column), total), target, column)
            return context.get_dummy_value()

        i = types.int64
        return types.void(X, i, i, indices, data, i, i, out), generate

    return sparse_dots


# sparse_dots(X, width, q, indices, data, start, stop, out): for so many vectors of columns from q
# on, out[q:…] = Σ data[e] X[indices[e], q:…] for start ≤ e < stop. The rows of X are flat, each
# `width` numbers, a multiple of the lanes; `out` is float64. Sums go from the first cell to the
# last, in the precision of X over `RUN` cells, then in float64.
sparse_dots_1, sparse_dots_2, sparse_dots_3, sparse_dots_4 = map(_make_sparse_dots, (1, 2, 3, 4))


@intrinsic
def scatter_group(typing_context, total, indices, data, e, weight):
    """total[indices[e + t]] += data[e + t] weight for t < `LANES`; the indices are distinct.

    All sums are read before one is written, in pairs: they do not wait for each other.
    """

    def generate(context, builder, signature, args):
        v, own = (Vectors(context, builder, kind, LANES) for kind in (types.float64, data.dtype))
        sums, numbers = v.data(total, args[0]), v.data(indices, args[1])
        pair = ir.VectorType(v.scalar, 2)
        values = own.load(own.data(data, args[2]), args[3])
        if own.size < v.size:
            values = builder.fpext(values, v.vector)
        weights = v.spread(args[4])
        places = []
        for lane in range(LANES):
            j = builder.load(builder.gep(numbers, [v.offset(args[3], lane)]))
            places.append(builder.gep(sums, [builder.zext(j, I64)]))
        made = []
        for lane in range(0, LANES, 2):
            two = ir.Constant(pair, ir.Undefined)
            for t in (0, 1):
                two = builder.insert_element(
                    two, builder.load(places[lane + t]), ir.Constant(I32, t)
                )
            mask = ir.Constant(ir.VectorType(I32, 2), [lane, lane + 1])
            x = builder.shuffle_vector(values, values, mask)
            w = builder.shuffle_vector(weights, weights, mask)
            made.append(multiply_add(builder, x, w, two, "v2f64"))
        for lane, at in enumerate(places):
            builder.store(builder.extract_element(made[lane // 2], ir.Constant(I32, lane % 2)), at)
        return context.get_dummy_value()

    return types.void(total, indices, data, types.int64, types.float64), generate
