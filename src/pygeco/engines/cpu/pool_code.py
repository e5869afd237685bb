"""What the threads of a pool run, as LLVM instructions; see `pool` for what they do.

A pool is an array of numbers. Its gate, one number, says all that threads must agree on: which job
it is, how many more may join it, how many work on it, and whether its owner sleeps until they have
ended. A job is read only by threads that have joined it, and it lasts until they have left.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from typing import Any

from llvmlite import ir

LINE = 8  # numbers of a line of the cache
GATE, JOB, DATA, OWNER, SIZE, PATIENCE, CLOSED, ALIVE = 0, 8, 9, 10, 11, 12, 13, 16
LINES = 3  # of a pool, before those of its threads
ASLEEP, LOCK, POOL, NUMBER = range(4)  # of a thread's own line
# Parts of the gate: those who work, those who may join, a sleeping owner, the number of the job.
WORKER, SEAT, SLEEPER, JOB_SHIFT = 1, 1 << 16, 1 << 31, 32
WORKERS, SEATS = SEAT - WORKER, SLEEPER - SEAT

YIELDING_PERIOD = 16  # looks, a power of two: some 0.5 µs

_I32, _I64, _VOID = ir.IntType(32), ir.IntType(64), ir.VoidType()
_PLACE = ir.IntType(8).as_pointer()
_ON_INTEL, _ON_ARM = ("llvm.x86.sse2.pause",), ("llvm.aarch64.isb", _I32(15))
PAUSES: dict[str, tuple[Any, ...]] = {
    "x86_64": _ON_INTEL,
    "AMD64": _ON_INTEL,
    "aarch64": _ON_ARM,
    "arm64": _ON_ARM,
}
WORK = ir.FunctionType(_VOID, [_PLACE])  # what a job is: a function of the place of its data


def _find(library: Any, name: str) -> int:
    return int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)


def _find_yield() -> int:
    """The address of the system's function that leaves the core to another thread."""
    if sys.platform == "win32":
        return _find(ctypes.windll.kernel32, "SwitchToThread")
    return _find(ctypes.CDLL(None), "sched_yield")


class _Code:
    """One function that is being written, on numbers whose places are known."""

    def __init__(self, module: Any, name: str, arguments: int, result: Any = _VOID) -> None:
        self.function = ir.Function(module, ir.FunctionType(result, [_I64] * arguments), name)
        self.builder = ir.IRBuilder(self.function.append_basic_block())

    def blocks(self, count: int) -> list[Any]:
        return [self.function.append_basic_block() for _ in range(count)]

    def at(self, line: Any, number: int) -> Any:
        """The place of a number of a line, or of the pool."""
        place = self.builder.add(line, _I64(8 * number))
        return self.builder.inttoptr(place, _I64.as_pointer())

    def read(self, line: Any, number: int, ordering: str = "acquire") -> Any:
        return self.builder.load_atomic(self.at(line, number), ordering, 8)

    def exchange(self, line: Any, number: int, value: int) -> Any:
        place = self.at(line, number)
        return self.builder.atomic_rmw("xchg", place, _I64(value), "seq_cst")

    def call_c(self, address: int, *values: Any) -> None:
        """A function of the system, or of Python's that needs no lock of the interpreter."""
        kind = ir.FunctionType(_VOID, [value.type for value in values])
        self.builder.call(self.builder.inttoptr(_I64(address), kind.as_pointer()), values)

    def acquire(self, line: Any, number: int) -> None:
        """Sleep until somebody opens this lock."""
        lock = self.builder.inttoptr(self.read(line, number), _PLACE)
        self.call_c(_find(ctypes.pythonapi, "PyThread_acquire_lock"), lock, _I32(1))

    def release(self, line: Any, number: int) -> None:
        lock = self.builder.inttoptr(self.read(line, number), _PLACE)
        self.call_c(_find(ctypes.pythonapi, "PyThread_release_lock"), lock)

    def look_away(self, looks: Any) -> Any:
        """Count one more look, let the core do something else for some cycles, and say how many.

        Now and then it is left to any other thread that wants it.
        """
        builder = self.builder
        name, *values = PAUSES.get(platform.machine(), (None,))
        if name:
            kind = ir.FunctionType(_VOID, [value.type for value in values])
            builder.call(builder.module.declare_intrinsic(name, (), kind), values)
        count = builder.add(builder.load(looks), _I64(1))
        builder.store(count, looks)
        odd = builder.and_(count, _I64(YIELDING_PERIOD - 1))
        with builder.if_then(builder.icmp_signed("==", odd, _I64(0))):
            self.call_c(_find_yield())
        return count

    def wake(self, pool: Any, number: Any) -> None:
        """Wake a thread, if there is one of that number and it sleeps."""
        builder = self.builder
        there = builder.icmp_signed("<", number, self.read(pool, SIZE))
        with builder.if_then(there):
            skipped = builder.mul(builder.add(number, _I64(LINES)), _I64(8 * LINE))
            own = builder.add(pool, skipped)
            with (
                builder.if_then(self.is_one(self.read(own, ASLEEP, "seq_cst"))),
                builder.if_then(self.is_one(self.exchange(own, ASLEEP, 0))),
            ):
                self.release(own, LOCK)

    def run_job(self, pool: Any) -> None:
        builder = self.builder
        job = builder.inttoptr(self.read(pool, JOB), WORK.as_pointer())
        builder.call(job, [builder.inttoptr(self.read(pool, DATA), _PLACE)])

    def is_one(self, value: Any) -> Any:
        return self.builder.icmp_signed("==", value, _I64(1))

    def has(self, gate: Any, part: int) -> Any:
        return self.builder.icmp_signed("!=", self.builder.and_(gate, _I64(part)), _I64(0))


def write_worker(module: Any, name: str) -> None:
    """A thread's life, a function of the place of its own line.

    It waits for a job, wakes two others, works, and waits again, until the pool is closed.
    """
    wait, join = _write_wait(module), _write_join(module)
    code = _Code(module, name, 1)
    builder, (own,) = code.builder, code.function.args
    pool, number = code.read(own, POOL), code.read(own, NUMBER)
    seen = builder.alloca(_I64)
    builder.store(_I64(0), seen)
    (turn,) = code.blocks(1)
    builder.branch(turn)
    builder.position_at_end(turn)
    gate = builder.call(wait, [own, pool, builder.load(seen)])
    job = builder.lshr(gate, _I64(JOB_SHIFT))
    builder.store(job, seen)
    with builder.if_then(code.has(gate, SEATS)):  # a pool that is closed has some
        below = builder.mul(number, _I64(2))
        for step in (2, 3):
            code.wake(pool, builder.add(below, _I64(step)))
    with builder.if_then(code.is_one(code.read(pool, CLOSED))):
        builder.atomic_rmw("sub", code.at(pool, ALIVE), _I64(1), "seq_cst")
        builder.ret_void()
    builder.call(join, [pool, job])
    builder.branch(turn)


def _write_wait(module: Any) -> Any:
    """The gate when there is another job than the one that was seen: (own line, pool, seen).

    A thread waits with its eyes open at first, asleep after as many looks as it has patience for.
    """
    code = _Code(module, "pool_wait", 3, _I64)
    builder, (own, pool, seen) = code.builder, code.function.args
    patience, looks = code.read(pool, PATIENCE), builder.alloca(_I64)
    builder.store(_I64(0), looks)
    look, found, idle, doze, sleep = code.blocks(5)
    builder.branch(look)

    def go_on_if_new(gate: Any, otherwise: Any) -> None:
        job = builder.lshr(gate, _I64(JOB_SHIFT))
        builder.cbranch(builder.icmp_signed("!=", job, seen), found, otherwise)

    builder.position_at_end(look)
    go_on_if_new(code.read(pool, GATE), idle)

    builder.position_at_end(idle)
    count = code.look_away(looks)
    builder.cbranch(builder.icmp_signed("<", count, patience), look, doze)

    # Who posts a job sees that a thread sleeps, or the thread sees the job. Where both do, the
    # lock is opened, and is to be shut again.
    builder.position_at_end(doze)
    code.exchange(own, ASLEEP, 1)
    gate = code.read(pool, GATE, "seq_cst")
    job = builder.lshr(gate, _I64(JOB_SHIFT))
    with builder.if_then(builder.icmp_signed("!=", job, seen)):
        builder.cbranch(code.is_one(code.exchange(own, ASLEEP, 0)), found, sleep)
    builder.branch(sleep)

    # Its looks are at their end: where it was woken for a job that it knows, it goes on to sleep.
    builder.position_at_end(sleep)
    code.acquire(own, LOCK)
    go_on_if_new(code.read(pool, GATE), idle)

    builder.position_at_end(found)
    builder.ret(code.read(pool, GATE))
    return code.function


def _write_join(module: Any) -> Any:
    """Work on a job, if it is there still and has a seat: (pool, job)."""
    code = _Code(module, "pool_join", 2)
    builder, (pool, job) = code.builder, code.function.args
    join, enter, work, end = code.blocks(4)
    builder.branch(join)

    builder.position_at_end(join)
    gate = code.read(pool, GATE)
    same = builder.icmp_signed("==", builder.lshr(gate, _I64(JOB_SHIFT)), job)
    builder.cbranch(builder.and_(same, code.has(gate, SEATS)), enter, end)

    builder.position_at_end(enter)
    joined = builder.add(gate, _I64(WORKER - SEAT))
    tried = builder.cmpxchg(code.at(pool, GATE), gate, joined, "acq_rel", "monotonic")
    builder.cbranch(builder.extract_value(tried, 1), work, join)

    builder.position_at_end(work)
    code.run_job(pool)
    before = builder.atomic_rmw("sub", code.at(pool, GATE), _I64(WORKER), "acq_rel")
    last = code.is_one(builder.and_(before, _I64(WORKERS)))
    with builder.if_then(builder.and_(last, code.has(before, SLEEPER))):
        code.release(pool, OWNER)
    builder.branch(end)

    builder.position_at_end(end)
    builder.ret_void()
    return code.function


def write_post(module: Any, name: str) -> None:
    """Another job with so many seats, a function of the pool and these; two threads are woken."""
    code = _Code(module, name, 2)
    builder, (pool, seats) = code.builder, code.function.args
    job = builder.lshr(code.read(pool, GATE), _I64(JOB_SHIFT))
    job = builder.shl(builder.add(job, _I64(1)), _I64(JOB_SHIFT))
    gate = builder.or_(job, builder.mul(seats, _I64(SEAT)))
    builder.atomic_rmw("xchg", code.at(pool, GATE), gate, "seq_cst")
    for number in (0, 1):
        code.wake(pool, _I64(number))
    builder.ret_void()


def write_run(module: Any, name: str, post: Any) -> None:
    """A job from its beginning to its end, a function of pool, job, data and seats.

    The caller works too. What it leaves is in the hands of those who have joined.
    """
    code = _Code(module, name, 4)
    builder, (pool, job, data, seats) = code.builder, code.function.args
    builder.store(job, code.at(pool, JOB))
    builder.store(data, code.at(pool, DATA))
    builder.call(post, [pool, seats])
    code.run_job(pool)
    builder.atomic_rmw("and", code.at(pool, GATE), _I64(~SEATS), "acq_rel")
    looks = builder.alloca(_I64)
    builder.store(_I64(0), looks)
    look, idle, doze, sleep, end = code.blocks(5)
    builder.branch(look)

    builder.position_at_end(look)
    builder.cbranch(code.has(code.read(pool, GATE), WORKERS), idle, end)

    builder.position_at_end(idle)
    count = code.look_away(looks)
    builder.cbranch(builder.icmp_signed("<", count, code.read(pool, PATIENCE)), look, doze)

    builder.position_at_end(doze)
    before = builder.atomic_rmw("or", code.at(pool, GATE), _I64(SLEEPER), "seq_cst")
    builder.cbranch(code.has(before, WORKERS), sleep, end)

    builder.position_at_end(sleep)
    code.acquire(pool, OWNER)
    builder.branch(end)

    builder.position_at_end(end)
    builder.ret_void()


def write_look(module: Any, name: str) -> None:
    """So many looks at nothing, to find out how long they take; a function of pool and number."""
    code = _Code(module, name, 2)
    builder, (pool, count) = code.builder, code.function.args
    with builder.if_then(builder.icmp_signed(">", count, _I64(0))):
        loop, end = code.blocks(2)
        looks = builder.alloca(_I64)
        builder.store(_I64(0), looks)
        builder.branch(loop)
        builder.position_at_end(loop)
        code.read(pool, GATE)
        done = code.look_away(looks)
        builder.cbranch(builder.icmp_signed("<", done, count), loop, end)
        builder.position_at_end(end)
    builder.ret_void()
