"""Running one compiled function for many parts on all cores, without compiling it into the loop.

numba compiles the body of a `prange` several times over: in the function that it stands in, as a
kernel of its own, and once more in each wrapper that this is linked to. Here the body is a function
that is compiled once; the loop knows its address alone, and is one for all kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pygeco.engines.cpu.keeping import njit, read_kept

_I64 = ir.IntType(64)


def _call(context, builder, address, kinds, values):
    """Call the function of numba's at an address, which returns nothing; pass on what it raises."""
    convention = context.call_conv
    pointer = convention.get_function_type(types.none, kinds).as_pointer()
    function = builder.inttoptr(address, pointer)
    status, _ = convention.call_function(builder, function, types.none, kinds, values)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)


@intrinsic
def call_at(typing_context, address, arguments):
    """Call the function at `address` with the arguments, a tuple."""

    def generate(context, builder, signature, args):
        values = cgutils.unpack_tuple(builder, args[1])
        _call(context, builder, args[0], list(arguments.types), values)
        return context.get_dummy_value()

    return types.void(types.int64, arguments), generate


def compile_part(function: Callable[..., None]) -> Any:
    """A function that is called by its address alone, so that Python needs no way into it."""
    return njit(cache=True, no_cpython_wrapper=True)(function)


def _add_one(builder, place):
    return builder.atomic_rmw("add", place, ir.Constant(_I64, 1), "monotonic")


@intrinsic
def claim(typing_context, counter):
    """counter[0]++ as one step of whichever thread asks, and what it was before."""

    def generate(context, builder, signature, args):
        data = context.make_array(counter)(context, builder, args[0]).data
        return _add_one(builder, builder.bitcast(data, _I64.as_pointer()))

    return types.int64(counter), generate


@intrinsic
def claim_at(typing_context, address):
    """The same of the number at an address."""

    def generate(context, builder, signature, args):
        return _add_one(builder, builder.inttoptr(args[0], _I64.as_pointer()))

    return types.int64(types.int64), generate


@numba.njit(cache=True, parallel=True)
def _run_parts(function, bound, counter, count, threads):
    """Each part by the thread that is free first: parts and cores are not all alike."""
    if count == 1:
        call_at(function, (bound, np.int64(0)))
        return
    for _ in numba.prange(min(threads, count)):
        part = claim_at(counter)
        while part < count:
            call_at(function, (bound, part))
            part = claim_at(counter)


def find_runner() -> int:
    """The address of the loop over all cores."""
    return find_address(_run_parts, (types.int64,) * 5)


def find_address(compiled: Any, kinds: tuple[Any, ...]) -> int:
    """Where the machine code for these types lies; it is compiled, or read, where it is not yet."""
    if kinds not in compiled.overloads and not read_kept(compiled, kinds):
        compiled.compile(kinds)
    found = compiled.overloads[kinds]
    return found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
