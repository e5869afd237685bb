"""Kernels that run on all cores, and may be called from several threads at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from pygeco.engines.cpu.compiling import watch_compilation
from pygeco.engines.cpu.forking import ForkSafeLock, serve_forked_children

watch_compilation()
serve_forked_children()
_LOCK = ForkSafeLock()


class _Memory:
    """Where an array lies, without a word that it cannot be written to."""

    def __init__(self, array: Any) -> None:
        self.array = array  # the memory lives as long as its view
        place, _ = array.__array_interface__["data"]
        self.__array_interface__ = array.__array_interface__ | {"data": (place, False)}


def lend(argument: Any) -> Any:
    """An argument of a kernel, which reads it alone, as an array that can be written to.

    For memory-mapped arrays and those from other processes, which cannot, numba would compile
    the kernel once more.
    """
    if isinstance(argument, np.ndarray) and not argument.flags.writeable:
        return np.asarray(_Memory(argument))
    return argument


class Kernel:
    """A compiled function; calls wait for each other where they must.

    numba ends the process when a second thread enters its "workqueue" layer, which it takes where
    neither TBB nor OpenMP is installed. Which layer it is, numba says once a kernel has run.
    """

    safe = False  # set on the class: one layer serves all kernels

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled

    def __call__(self, *arrays: Any) -> None:
        lent = [lend(array) for array in arrays]
        if Kernel.safe:
            self.compiled(*lent)
            return
        with _LOCK:
            self.compiled(*lent)
            Kernel.safe = numba.threading_layer() != "workqueue"

    @property
    def stats(self) -> Any:
        return self.compiled.stats


def spread(function: Callable[..., Any]) -> Kernel:
    """Compile a kernel whose outer loop, a `prange`, goes over all cores."""
    return Kernel(numba.njit(cache=True, parallel=True)(function))
