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
from numba.core import ir as numba_ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import IRProcessing
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


@intrinsic
def borrow(typing_context, given):
    """What is given; an array without its owner, whose references are then not counted."""

    def disown(context, builder, kind, value):
        if isinstance(kind, types.BaseTuple):
            parts = zip(kind.types, cgutils.unpack_tuple(builder, value), strict=True)
            own = [disown(context, builder, *part) for part in parts]
            return context.make_tuple(builder, kind, own)
        if not isinstance(kind, types.Array):
            return value
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()

    def generate(context, builder, signature, args):
        return disown(context, builder, given, args[0])

    return given(given), generate


@register_pass(mutates_CFG=False, analysis_only=False)
class BorrowArguments(FunctionPass):
    """Counting a reference for every cell would cost as much as the cell itself."""

    _name = "pygeco_borrow_arguments"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        block = state.func_ir.blocks[min(state.func_ir.blocks)]
        found = []
        for statement in block.body:
            found.append(statement)
            if isinstance(getattr(statement, "value", None), numba_ir.Arg):
                found += _borrow_after(statement, block.scope)
        block.body = found
        state.func_ir._definitions = numba.core.ir_utils.build_definitions(state.func_ir.blocks)
        return True


def _borrow_after(statement: Any, scope: Any) -> list[Any]:
    """x = argument becomes given = argument; x = borrow(given)."""
    place, name = statement.loc, statement.target
    given, function = scope.redefine("given", place), scope.redefine("borrow", place)
    statement.target = given
    call = numba_ir.Expr.call(function, [given], (), place)
    return [
        numba_ir.Assign(numba_ir.Global("borrow", borrow, place), function, place),
        numba_ir.Assign(call, name, place),
    ]


class BorrowingCompiler(CompilerBase):
    """numba's own, for functions whose arrays their callers keep."""

    def define_pipelines(self) -> list[Any]:
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(BorrowArguments, IRProcessing)
        steps.finalize()
        return [steps]


def compile_part(function: Callable[..., None]) -> Any:
    """A function that is called by its address alone, so that Python needs no way into it."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(cache=True, pipeline_class=BorrowingCompiler, **options)(function)


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


@njit(cache=True, parallel=True)
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
