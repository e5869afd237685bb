"""Memory that a kernel takes for itself and gives back, as LLVM instructions inside numba.

Arrays of numba's own are counted wherever they are passed on, which is a third of what would be
compiled for a large kernel.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

ALIGNMENT = 64  # bytes: of a line of the cache, and of the widest vector

_I64, _PLACE = ir.IntType(64), ir.IntType(8).as_pointer()


def _call(builder, name, result, value):
    """Call a function of numba's runtime."""
    kind = ir.FunctionType(result, [value.type])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, [value])


@intrinsic
def take_memory(typing_context, count, dtype):
    """A flat array of `count` numbers, whatever they are; to be given back by `give_back`."""
    array = types.Array(dtype.dtype, 1, "C")
    size = array.dtype.bitwidth // 8

    def generate(context, builder, signature, args):
        room = builder.add(builder.mul(args[0], _I64(size)), _I64(ALIGNMENT))
        taken = _call(builder, "NRT_Allocate", _PLACE, room)
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, taken)):
            context.call_conv.return_user_exc(builder, MemoryError, ("no memory for a kernel",))
        place = builder.add(builder.ptrtoint(taken, _I64), _I64(ALIGNMENT - 1))
        place = builder.and_(place, _I64(-ALIGNMENT))
        made = context.make_array(array)(context, builder)
        populate_array(
            made,
            data=builder.inttoptr(place, made.data.type),
            shape=[args[0]],
            strides=[_I64(size)],
            itemsize=_I64(size),
            meminfo=taken,  # where nothing is counted, this is only where it began
        )
        return made._getvalue()

    return array(types.int64, dtype), generate


@intrinsic
def give_back(typing_context, array):
    """What `take_memory` gave is the machine's again."""

    def generate(context, builder, signature, args):
        taken = context.make_array(array)(context, builder, args[0]).meminfo
        _call(builder, "NRT_Free", ir.VoidType(), taken)
        return context.get_dummy_value()

    return types.void(array), generate
