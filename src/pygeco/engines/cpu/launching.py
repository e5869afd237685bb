"""Running one compiled function for many parts on all cores, without compiling it into the loop.

numba compiles the body of a `prange` several times over: in the function that it stands in, as a
kernel of its own, and once more in each wrapper that this is linked to. Here the body is a function
that is compiled once; the loop, which `unboxing` writes, knows its address alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pygeco.engines.cpu.claims import SHARES
from pygeco.engines.cpu.keeping import njit, read_kept

_I64 = ir.IntType(64)


def compile_part(function: Callable[..., None]) -> Any:
    """A function that is called by its address alone, so that Python needs no way into it."""
    return njit(cache=True, no_cpython_wrapper=True)(function)


@intrinsic
def claim(typing_context, counter):
    """counter[0]++ as one step of whichever thread asks, and what it was before."""

    def generate(context, builder, signature, args):
        data = context.make_array(counter)(context, builder, args[0]).data
        place = builder.bitcast(data, _I64.as_pointer())
        return builder.atomic_rmw("add", place, _I64(1), "monotonic")

    return types.int64(counter), generate


def find_address(compiled: Any, kinds: tuple[Any, ...]) -> int:
    """Where the machine code for these types lies; it is compiled, or read, where it is not yet."""
    if not read_kept(compiled, kinds):
        _compile(compiled, kinds)
    found = compiled.overloads[kinds]
    return found.library.get_pointer_to_function(found.fndesc.llvm_func_name)


def _compile(compiled: Any, kinds: tuple[Any, ...]) -> None:
    """Compile a function for these types, unless another process does: then it is read."""
    if not SHARES:
        compiled.compile(kinds)
        return
    from pygeco.engines.cpu.ahead import compile_next

    module, name = compiled.py_func.__module__, compiled.py_func.__name__
    shares, name = SHARES[0], f"{module.rpartition('.')[2]}.{name}"
    is_ours = shares.claim(name)
    try:
        if not is_ours:
            shares.wait(name, lambda: compile_next(shares))
        if is_ours or not read_kept(compiled, kinds):
            compiled.compile(kinds)
    finally:
        if is_ours:
            shares.finish(name)
