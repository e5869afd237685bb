"""Threads that run kernels, and wait for the next one with their eyes open.

A fit runs a thousand kernels, many of them for 20 µs, with some 0.1 ms of Python between two. To
wake 15 threads, and to wait until each has said that it is there, takes as long. Here a thread that
has nothing to do looks for half a millisecond whether there is a job, and sleeps then. A thread
joins a job that is not done yet, and nobody waits for one that does not: who starts a job works on
it, and waits for those who have joined. Sleeping threads are woken by each other, two by each.

Threads are Python's own, as its locks are, without an interpreter: all systems that Python runs on
have them. They end with the process. A forked child has none, and starts others.
"""

from __future__ import annotations

import atexit
import ctypes
import time
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from llvmlite import binding, ir
from numba.core.compiler_lock import global_compiler_lock

from pygeco.arrays.fork_safety import call_in_children
from pygeco.engines.cpu import pool_code
from pygeco.engines.cpu.pool_code import LINE, LINES

PATIENCE_SECONDS = 0.0005  # for which a thread looks out for a job before it sleeps
CLOSING_SECONDS = 1.0  # for which the end of a process waits for threads to end
TRIAL_LOOKS = 2000  # by which the time of one is measured
_NUMBER, _PLACE = ctypes.c_int64, ctypes.c_void_p
_NO_THREAD = ctypes.c_ulong(-1).value


class _Code(NamedTuple):
    """The machine code of pools: two addresses, and two functions that keep Python's lock."""

    work: int
    run: int
    post: Callable[[int, int], None]
    look: Callable[[int, int], None]


@cache
def make_engine() -> Any:
    """What turns a few instructions into machine code, which stays as long as the process."""
    machine = binding.Target.from_default_triple().create_target_machine(opt=0, jit=True)
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


@cache
def _make_code() -> _Code:
    with global_compiler_lock:
        module, engine = ir.Module("pool"), make_engine()
        module.triple = binding.get_process_triple()
        pool_code.write_worker(module, "pool_work")
        pool_code.write_post(module, "pool_post")
        pool_code.write_run(module, "pool_run", module.get_global("pool_post"))
        pool_code.write_look(module, "pool_look")
        engine.add_module(binding.parse_assembly(str(module)))
        engine.finalize_object()
        work, run, post, look = (
            engine.get_function_address(f"pool_{name}") for name in ("work", "run", "post", "look")
        )
    kind = ctypes.PYFUNCTYPE(None, _NUMBER, _NUMBER)
    return _Code(work, run, kind(post), kind(look))


@cache
def _count_looks() -> int:
    """How many looks there are in what a thread has of patience."""
    code, place = _make_code(), (_NUMBER * LINE)()
    began = time.perf_counter()
    code.look(ctypes.addressof(place), TRIAL_LOOKS)
    taken = max(time.perf_counter() - began, 1e-9)
    return max(1, int(TRIAL_LOOKS * PATIENCE_SECONDS / taken))


def _call(name: str, result: Any, *kinds: Any) -> Any:
    """A function of Python's own, with a type of ours: others may give it another."""
    return ctypes.PYFUNCTYPE(result, *kinds)((name, ctypes.pythonapi))


_take_memory = _call("PyMem_RawCalloc", _PLACE, ctypes.c_size_t, ctypes.c_size_t)
_make_lock = _call("PyThread_allocate_lock", _PLACE)
_shut_lock = _call("PyThread_acquire_lock", ctypes.c_int, _PLACE, ctypes.c_int)
_start_thread = _call("PyThread_start_new_thread", ctypes.c_ulong, _PLACE, _PLACE)


class Pool:
    """So many threads beside the one that gives them work. One job at a time."""

    def __init__(self, size: int) -> None:
        self.size, code = size, _make_code()
        numbers = LINE * (LINES + size + 1)
        taken = _take_memory(numbers, 8)  # for good: a thread may still look when all else is gone
        self.place = -(-taken // (8 * LINE)) * 8 * LINE
        self.numbers = (_NUMBER * (numbers - LINE)).from_address(self.place)
        self.numbers[pool_code.OWNER] = self._make_shut_lock()
        self.numbers[pool_code.SIZE] = size
        self.numbers[pool_code.PATIENCE] = _count_looks()
        for number in range(size):
            own = LINE * (LINES + number)
            self.numbers[own + pool_code.LOCK] = self._make_shut_lock()
            self.numbers[own + pool_code.POOL] = self.place
            self.numbers[own + pool_code.NUMBER] = number
        for number in range(size):
            self.numbers[pool_code.ALIVE] += 1
            if _start_thread(code.work, self.place + 8 * LINE * (LINES + number)) == _NO_THREAD:
                # Fewer will do. Nobody wakes those who are not there.
                self.numbers[pool_code.ALIVE] -= 1
                self.numbers[pool_code.SIZE] = number
                break

    def _make_shut_lock(self) -> int:
        lock = _make_lock()
        _shut_lock(lock, 1)
        return int(lock)

    def close(self) -> None:
        """Have the threads end, and wait a while until they have."""
        self.numbers[pool_code.CLOSED] = 1
        _make_code().post(self.place, max(1, self.numbers[pool_code.SIZE]))
        end = time.monotonic() + CLOSING_SECONDS
        while self.numbers[pool_code.ALIVE] > 0 and time.monotonic() < end:
            time.sleep(0.0001)


_FREE: defaultdict[int, list[Pool]] = defaultdict(list)  # by their size


def find_runner() -> int:
    """The address of a function of (pool, job, data, seats): a job from its beginning to its end.

    A job is the address of a function of the address of its data, which all threads call.
    """
    return _make_code().run


def take_pool(threads: int) -> Pool:
    """A pool for a job on so many threads, the caller's included, until `return_pool`.

    Two threads that start jobs at once have a pool each.
    """
    try:
        return _FREE[threads - 1].pop()
    except IndexError:
        return Pool(threads - 1)


def return_pool(pool: Pool) -> None:
    _FREE[pool.size].append(pool)


def _close_free() -> None:
    """Before the code of their threads goes: one may still be looking out for a job."""
    for pools in list(_FREE.values()):
        while pools:
            pools.pop().close()


call_in_children(_FREE.clear)  # the threads of a process do not come along
atexit.register(_close_free)
