"""Loops over independent parts on all cores, each part on one."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from numba import config

from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.loops import run_in_turn

_WORKER = threading.local()
_CHOICE = threading.local()
Item = TypeVar("Item")
Found = TypeVar("Found")


def get_num_threads() -> int:
    """How many threads kernels and loops use that this thread starts."""
    return getattr(_CHOICE, "threads", None) or int(config.NUMBA_NUM_THREADS)


def set_num_threads(count: int) -> None:
    """Have those that this thread starts use so many: from one to as many as there are."""
    _CHOICE.threads = max(1, min(count, int(config.NUMBA_NUM_THREADS)))


def each(job: Callable[[int], None], count: int, *, alone: bool = False) -> None:
    """job(0), …, job(count − 1), in any order, for functions that let go of the GIL;
    on the calling thread where that is `alone`.

    Kernels run on the thread that calls them inside, and BLAS does, so that a product has the same
    bits whatever runs beside it.
    """
    threads = min(get_num_threads(), count)
    if is_in_loop():  # a part of another loop, which has all threads
        run_in_turn(job, count)
        return
    with one_blas_thread():
        if alone or threads < 2:
            run_in_turn(job, count)
            return
        with ThreadPoolExecutor(threads, initializer=_mark_worker) as pool:
            for _ in pool.map(job, range(count)):
                pass


def _mark_worker() -> None:
    _WORKER.works = True


def is_in_loop() -> bool:
    """Whether this thread runs a part of a loop, beside threads that run others."""
    return hasattr(_WORKER, "works")


def map_ahead(job: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[tuple[Item, Found]]:
    """Each item with job(item), in their order, for functions that let go of the GIL.

    As many items as there are threads are taken before the first is asked for, and no more: they
    may be large.
    """
    threads = get_num_threads()
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[tuple[Item, Future[Found]]] = deque()
        for item in items:
            waiting.append((item, pool.submit(job, item)))
            if len(waiting) > threads:
                first, found = waiting.popleft()
                yield first, found.result()
        for last, found in waiting:
            yield last, found.result()


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """Kernels and loops that this thread starts on `n_jobs` threads: None or −1 leaves them all,
    −2 all but one, and so on. Never more than there are.
    """
    before = get_num_threads()
    if n_jobs is None:
        wanted = before
    else:
        wanted = min(n_jobs, before) if n_jobs > 0 else max(1, before + 1 + n_jobs)
    set_num_threads(wanted)
    try:
        yield
    finally:
        set_num_threads(before)
