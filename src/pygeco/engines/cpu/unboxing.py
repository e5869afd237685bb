"""From Python's objects to the machine code of a kernel, without a compilation by numba.

numba would compile a way into each kernel for all types of its arguments, and keep it on the disk:
a fifth of what a first fit compiles, and half of what later ones read. It does little: arrays and
numbers are taken out of their objects. Here a few instructions do so, for which LLVM takes
milliseconds; nothing of them is kept.
"""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys

_I32, _I64, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_PLACE = ir.IntType(8).as_pointer()
_SYMBOLS = ("PyTuple_GetItem", "PyLong_AsLongLong", "PyFloat_AsDouble", "PyObject_IsTrue")
_ADDRESSES = {
    name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in _SYMBOLS
} | {name: _nrt_python.c_helpers[name] for name in ("adapt_ndarray_from_python", "MemInfo_release")}


def _call_c(builder: Any, name: str, result: Any, *values: Any) -> Any:
    """Call a function of C's: of Python, or of numba's runtime."""
    kind = ir.FunctionType(result, [value.type for value in values])
    address = ir.Constant(_I64, _ADDRESSES[name])
    return builder.call(builder.inttoptr(address, kind.as_pointer()), values)


def _unbox(context: Any, builder: Any, kind: Any, given: Any, place: Any) -> list[Any]:
    """Put the value of an object to its place; where those are that keep the memory of arrays."""
    if isinstance(kind, types.BaseTuple):
        owners = []
        for k, part in enumerate(kind.types):
            item = _call_c(builder, "PyTuple_GetItem", _PLACE, given, _I64(k))
            inside = builder.gep(place, [_I32(0), _I32(k)])
            owners += _unbox(context, builder, part, item, inside)
        return owners
    if isinstance(kind, types.Array):
        raw = builder.bitcast(place, _PLACE)
        _call_c(builder, "adapt_ndarray_from_python", _I32, given, raw)
        return [builder.gep(place, [_I32(0), _I32(0)])]
    builder.store(_unbox_number(builder, kind, given), place)
    return []


def _unbox_number(builder: Any, kind: Any, given: Any) -> Any:
    if isinstance(kind, types.Float):
        number = _call_c(builder, "PyFloat_AsDouble", _DOUBLE, given)
        return number if kind.bitwidth == 64 else builder.fptrunc(number, ir.FloatType())
    if isinstance(kind, types.Boolean):
        truth = _call_c(builder, "PyObject_IsTrue", _I32, given)
        return builder.icmp_signed("!=", truth, _I32(0))
    number = _call_c(builder, "PyLong_AsLongLong", _I64, given)
    return number if kind.bitwidth == 64 else builder.trunc(number, ir.IntType(kind.bitwidth))


def _call(context: Any, builder: Any, address: Any, kinds: Any, values: Any) -> Any:
    """Call the function of numba's at an address, which returns nothing; how it went."""
    pointer = context.call_conv.get_function_type(types.none, kinds).as_pointer()
    function = builder.inttoptr(address, pointer)
    return context.call_conv.call_function(builder, function, types.none, kinds, values)[0]


def _write_part(context: Any, module: Any, kinds: tuple[Any, ...], bound: Any) -> Any:
    """A function of (bound, part): the kernel at the bound address, with the bound arguments."""
    convention = context.call_conv
    plain = convention.get_function_type(types.none, [types.int64, types.int64])
    function = ir.Function(module, plain, "part")
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block())
    place, part = convention.get_arguments(function)
    held = builder.inttoptr(place, bound.as_pointer())
    address, *given = (
        builder.load(builder.gep(held, [_I32(0), _I32(k)])) for k in range(len(kinds) + 1)
    )
    status = _call(context, builder, address, [types.int64, *kinds], [part, *given])
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    builder.ret(_I32(0))
    return function


def _write_launch(context: Any, module: Any, kinds: tuple[Any, ...]) -> None:
    """A function of (address, runner, a tuple of objects, count, threads).

    It says where numba has put what was raised, or 0.
    """
    kind = ir.FunctionType(_I64, [_I64, _I64, _PLACE, _I64, _I64])
    function = ir.Function(module, kind, "launch")
    builder = ir.IRBuilder(function.append_basic_block())
    address, runner, objects, count, threads = function.args
    bound = ir.LiteralStructType([_I64, *map(context.get_value_type, kinds)])
    place, counter = cgutils.alloca_once(builder, bound), cgutils.alloca_once(builder, _I64)
    builder.store(address, builder.gep(place, [_I32(0), _I32(0)]))
    builder.store(_I64(0), counter)
    owners = []
    for k, one in enumerate(kinds):
        given = _call_c(builder, "PyTuple_GetItem", _PLACE, objects, _I64(k))
        owners += _unbox(context, builder, one, given, builder.gep(place, [_I32(0), _I32(k + 1)]))
    part = _write_part(context, module, kinds, bound)
    addresses = [builder.ptrtoint(x, _I64) for x in (part, place, counter)]
    status = _call(context, builder, runner, [types.int64] * 5, [*addresses, count, threads])
    for owner in owners:
        _call_c(builder, "MemInfo_release", ir.VoidType(), builder.load(owner))
    failure = builder.ptrtoint(status.excinfoptr, _I64)
    builder.ret(builder.select(status.is_error, failure, _I64(0)))


@cache
def _make_engine() -> Any:
    machine = binding.Target.from_default_triple().create_target_machine(opt=0, jit=True)
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


def _raise_found(place: int) -> None:
    """Raise what a kernel has: numba keeps the class and its arguments as a pickle."""
    start = ctypes.c_int64.from_address(place).value
    size = ctypes.c_int32.from_address(place + 8).value
    kind, arguments, _ = pickle.loads(ctypes.string_at(start, size))
    raise kind(*arguments)


@cache
def make_launcher(kinds: tuple[Any, ...]) -> Callable[..., None]:
    """A function of (address, runner, a tuple of objects, count, threads) for these types.

    It keeps Python's lock, as numba's own way into a function does.
    """
    with global_compiler_lock:
        context = cpu_target.target_context
        rtsys.initialize(context)
        module = context.create_module("launch")
        _write_launch(context, module, kinds)
        engine, compiled = _make_engine(), binding.parse_assembly(str(module))
        name = f"launch_{len(_KEPT)}"
        compiled.get_function("launch").name = name
        engine.add_module(compiled)
        engine.finalize_object()
        place = engine.get_function_address(name)
        _KEPT.append(compiled)
    number = ctypes.c_int64
    call = ctypes.PYFUNCTYPE(number, number, number, ctypes.py_object, number, number)(place)

    def launch(address: int, runner: int, objects: tuple[Any, ...], *numbers: int) -> None:
        failure = call(address, runner, objects, *numbers)
        if failure:
            _raise_found(failure)

    return launch


_KEPT: list[Any] = []  # modules of the engine, which live as long as it does
