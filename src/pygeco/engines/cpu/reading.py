"""Values of cells as kernels read them: plain numbers, or codes with the table of their values."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from pygeco.arrays.coded import Coded
from pygeco.engines.values import Cells


def lay_out(cells: Cells) -> tuple[Any, ...]:
    """Pointers, indices, values, weights and blocks: the first arguments of a kernel.

    Coded values are a pair, for which a kernel is compiled of its own.
    """
    values: Any = cells.values
    if isinstance(values, Coded):
        values = values.codes, values.table
    return cells.pointers, cells.indices, values, cells.weights, cells.blocks


@intrinsic
def read_value(typing_context, values, e):
    """The value of cell e, which is a cell for certain."""
    pair = isinstance(values, types.BaseTuple)
    kinds = list(values.types) if pair else [values]

    def generate(context, builder, signature, args):
        arrays = [builder.extract_value(args[0], k) for k in range(2)] if pair else [args[0]]
        at = args[1]
        for kind, array in zip(kinds, arrays, strict=True):
            data = context.make_array(kind)(context, builder, array).data
            found = builder.load(builder.gep(data, [at]))
            at = builder.zext(found, at.type) if pair and kind is kinds[0] else at
        return found

    return kinds[-1].dtype(values, types.uint64), generate
