"""BLAS on one thread for a while, for the same bits on any machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import Any
from weakref import WeakSet

from threadpoolctl import ThreadpoolController

from pygeco.arrays.fork_safety import ForkSafeLock, call_in_children

_NUMBERS = count()


class _Hold:
    """One `with one_blas_thread()` that lasts, its thread, and which of all it is."""

    def __init__(self) -> None:
        self.thread, self.number = threading.get_ident(), next(_NUMBERS)


_LOCK = ForkSafeLock()
# Weakly: one whose end was interrupted is gone with its frame, and the next one puts back.
_HOLDS: WeakSet[_Hold] = WeakSet()
# Libraries that had another number, and that number, by their file and the thread that has it:
# zero for that of all threads.
_BEFORE: dict[tuple[str, int], tuple[Any, int]] = {}


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """As long as it lasts. Most libraries have one number for all threads: where several ask for
    this, it is what it was before all of them when the last one ends.
    """
    hold = _Hold()
    try:
        _begin(hold)
        yield
    except BaseException:
        # Those inside of it are over too, if an interrupt kept them from ending.
        _end(*(x for x in list(_HOLDS) if x.thread == hold.thread and x.number >= hold.number))
        raise
    else:
        _end(hold)


def _begin(hold: _Hold) -> None:
    with _LOCK.lock:
        _HOLDS.add(hold)
        for library in _find_libraries(len(sys.modules)).lib_controllers:
            if (number := library.num_threads) != 1:
                owner = hold.thread if _is_set_by_thread(library) else 0
                _BEFORE.setdefault((library.filepath, owner), (library, number))
                _set_number(library, 1)


def _end(*holds: _Hold) -> None:
    with _LOCK.lock:
        _HOLDS.difference_update(holds)
        held, here = {hold.thread for hold in _HOLDS}, threading.get_ident()
        for (file, owner), (library, number) in list(_BEFORE.items()):
            if (owner == here and here not in held) or not (owner or held):
                _set_number(library, number)
                del _BEFORE[file, owner]


def _is_set_by_thread(library: Any) -> bool:
    """Whether each thread has a number of its own."""
    return library.internal_api == "mkl" or getattr(library, "threading_layer", "") == "openmp"


def _set_number(library: Any, number: int) -> None:
    # From threadpoolctl 3.8 on, where all threads have one number, it obeys a single thread, which
    # may be another, and says nothing to all others.
    let_go = getattr(library, "clear_controlling_thread", None)
    if let_go is None:
        library.set_num_threads(number)
        return
    let_go(force=True)
    library.set_num_threads(number)
    let_go(force=True)


def _leave_others_behind() -> None:
    """In a forked child, which only the thread that forked has come to."""
    _end(*(hold for hold in _HOLDS if hold.thread != threading.get_ident()))


call_in_children(_leave_others_behind)


@lru_cache(maxsize=1)
def _find_libraries(modules: int) -> ThreadpoolController:
    """Those of BLAS. Looking through all that is loaded takes longer than many a small fit, so
    it is done again only where a module was imported since, which may have brought a library.
    """
    return ThreadpoolController().select(user_api="blas")
