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

from pygeco.engines.cpu.pool import find_runner, make_engine, return_pool, take_pool
from pygeco.engines.cpu.pool_code import WORK

_I32, _I64, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_PLACE = ir.IntType(8).as_pointer()
_SYMBOLS = (
    "PyTuple_GetItem", "PyLong_AsLongLong", "PyFloat_AsDouble", "PyObject_IsTrue",
    "PyEval_SaveThread", "PyEval_RestoreThread",
)  # fmt: skip
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


# What all threads of a call have before its arguments: the kernel's address, the next part, how
# many there are, and where numba has put what was raised.
_SHARED = 4
_ADDRESS, _COUNTER, _COUNT, _FAILURE = (_I32(k) for k in range(_SHARED))


def _write_work(context: Any, module: Any, kinds: tuple[Any, ...], bound: Any) -> Any:
    """A job of the threads: part after part, by the one that is free first.

    Parts and cores are not all alike. Its argument is the place of what is bound.
    """
    function = ir.Function(module, WORK, "work")
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block())
    held = builder.bitcast(function.args[0], bound.as_pointer())
    counter, failure = (builder.gep(held, [_I32(0), at]) for at in (_COUNTER, _FAILURE))
    address, count, *given = (
        builder.load(builder.gep(held, [_I32(0), at]))
        for at in (_ADDRESS, _COUNT, *(_I32(_SHARED + k) for k in range(len(kinds))))
    )
    types_of_call = [types.int64, *kinds]
    pointer = context.call_conv.get_function_type(types.none, types_of_call).as_pointer()
    kernel = builder.inttoptr(address, pointer)
    loop, run, end = (function.append_basic_block() for _ in range(3))
    builder.branch(loop)
    builder.position_at_end(loop)
    part = builder.atomic_rmw("add", counter, _I64(1), "monotonic")
    builder.cbranch(builder.icmp_signed("<", part, count), run, end)
    builder.position_at_end(run)
    convention = context.call_conv
    status, _ = convention.call_function(builder, kernel, types.none, types_of_call, [part, *given])
    with cgutils.if_unlikely(builder, status.is_error):
        builder.store(builder.ptrtoint(status.excinfoptr, _I64), failure)
        builder.store(count, counter)  # the others need not go on
    builder.branch(loop)
    builder.position_at_end(end)
    builder.ret_void()
    return function


def _write_launch(context: Any, module: Any, kinds: tuple[Any, ...]) -> None:
    """A function of (address, runner, a tuple of objects, count, pool, seats).

    It says where numba has put what was raised, or 0.
    """
    kind = ir.FunctionType(_I64, [_I64, _I64, _PLACE, _I64, _I64, _I64])
    function = ir.Function(module, kind, "launch")
    builder = ir.IRBuilder(function.append_basic_block())
    address, runner, objects, count, pool, seats = function.args
    bound = ir.LiteralStructType([_I64] * _SHARED + [context.get_value_type(one) for one in kinds])
    place = cgutils.alloca_once(builder, bound)
    for at, number in zip(range(_SHARED), (address, _I64(0), count, _I64(0)), strict=True):
        builder.store(number, builder.gep(place, [_I32(0), _I32(at)]))
    owners = []
    for k, one in enumerate(kinds):
        given = _call_c(builder, "PyTuple_GetItem", _PLACE, objects, _I64(k))
        inside = builder.gep(place, [_I32(0), _I32(_SHARED + k)])
        owners += _unbox(context, builder, one, given, inside)
    work = _write_work(context, module, kinds, bound)
    data = builder.bitcast(place, _PLACE)
    with builder.if_else(builder.icmp_signed("<", count, _I64(2))) as (then, otherwise):
        with then:
            builder.call(work, [data])
        with otherwise:
            _run_without_lock(builder, runner, work, data, pool, seats)
    for owner in owners:
        _call_c(builder, "MemInfo_release", ir.VoidType(), builder.load(owner))
    builder.ret(builder.load(builder.gep(place, [_I32(0), _FAILURE])))


def _run_without_lock(
    builder: Any, runner: Any, work: Any, data: Any, pool: Any, seats: Any
) -> None:
    """Have this thread work, and those of a pool, if there is one, without Python's lock."""
    run = builder.inttoptr(runner, ir.FunctionType(ir.VoidType(), [_I64] * 4).as_pointer())
    lock = _call_c(builder, "PyEval_SaveThread", _PLACE)
    with builder.if_else(builder.icmp_signed("==", pool, _I64(0))) as (then, otherwise):
        with then:
            builder.call(work, [data])
        with otherwise:
            job, place = (builder.ptrtoint(one, _I64) for one in (work, data))
            builder.call(run, [pool, job, place, seats])
    _call_c(builder, "PyEval_RestoreThread", ir.VoidType(), lock)


def _raise_found(place: int) -> None:
    """Raise what a kernel has: numba keeps the class and its arguments as a pickle."""
    start = ctypes.c_int64.from_address(place).value
    size = ctypes.c_int32.from_address(place + 8).value
    kind, arguments, _ = pickle.loads(ctypes.string_at(start, size))
    raise kind(*arguments)


@cache
def make_launcher(kinds: tuple[Any, ...]) -> Callable[..., None]:
    """A function of (address, a tuple of objects, count, threads) for these types.

    It keeps Python's lock where there is one part alone, as numba's own way into a function does.
    """
    with global_compiler_lock:
        context = cpu_target.target_context
        rtsys.initialize(context)
        module = context.create_module("launch")
        _write_launch(context, module, kinds)
        engine, compiled = make_engine(), binding.parse_assembly(str(module))
        name = f"launch_{len(_KEPT)}"
        compiled.get_function("launch").name = name
        engine.add_module(compiled)
        engine.finalize_object()
        place = engine.get_function_address(name)
        _KEPT.append(compiled)
    number = ctypes.c_int64
    call = ctypes.PYFUNCTYPE(number, number, number, ctypes.py_object, *[number] * 3)(place)
    runner = find_runner()

    def launch(address: int, objects: tuple[Any, ...], count: int, threads: int) -> None:
        seats = min(threads, count) - 1
        if seats < 1:
            failure = call(address, runner, objects, count, 0, 0)
        else:
            pool = take_pool(threads)
            try:
                failure = call(address, runner, objects, count, pool.place, seats)
            finally:
                return_pool(pool)
        if failure:
            _raise_found(failure)

    return launch


_KEPT: list[Any] = []  # modules of the engine, which live as long as it does
