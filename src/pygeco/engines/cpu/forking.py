"""What a process needs that was forked from one that had run kernels.

GNU's OpenMP, numba's usual layer of threads on Linux, does not survive a fork: its threads stay
behind, and numba ends a child that would wait for them. A child that starts the layer anew and asks
for one thread waits for nobody. TBB and numba's own layer serve a child as they are.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from importlib import import_module

import numba

CHILD_THREADS = 1  # any more would be those that the fork left behind


class ForkSafeLock:
    """A lock that a forked child finds open: the thread that held it may have stayed behind.

    It is entered as `with safe.lock:`, which is Python's own: an interrupt in code of ours, where
    it has been shut and is not yet guarded, or the other way round, would leave it shut for good.
    """

    def __init__(self) -> None:
        self._renew()
        _call_in_children(self._renew)

    def _renew(self) -> None:
        self.lock = threading.RLock()


def serve_forked_children() -> None:
    """Have every process that is forked from here on run kernels, on one thread if need be."""
    _call_in_children(_start_threads_anew)


def _call_in_children(function: Callable[[], None]) -> None:
    if hasattr(os, "register_at_fork"):  # where there is no fork, there are no such children
        os.register_at_fork(after_in_child=function)


def _start_threads_anew() -> None:
    try:
        layer = numba.threading_layer()
    except ValueError:  # no kernel has run yet: the child starts threads of its own
        return
    if layer != "omp":
        return
    omppool = import_module("numba.np.ufunc.omppool")
    if omppool.openmp_vendor == "GNU":
        ctypes.CFUNCTYPE(None, ctypes.c_int)(omppool.launch_threads)(CHILD_THREADS)
        numba.set_num_threads(CHILD_THREADS)
