"""Kernels that run on all cores, and may be called from several threads at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from pygeco.engines.cpu.compiling import watch_compilation
from pygeco.engines.cpu.forking import ForkSafeLock, serve_forked_children

watch_compilation()
serve_forked_children()
_LOCK = ForkSafeLock()


class Kernel:
    """A compiled function; calls wait for each other where they must.

    numba ends the process when a second thread enters its "workqueue" layer, which it takes where
    neither TBB nor OpenMP is installed. Which layer it is, numba says once a kernel has run.
    """

    safe = False  # set on the class: one layer serves all kernels

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled

    def __call__(self, *arrays: Any) -> None:
        if Kernel.safe:
            self.compiled(*arrays)
            return
        with _LOCK:
            self.compiled(*arrays)
            Kernel.safe = numba.threading_layer() != "workqueue"

    @property
    def stats(self) -> Any:
        return self.compiled.stats


def spread(function: Callable[..., Any]) -> Kernel:
    """Compile a kernel whose outer loop, a `prange`, goes over all cores."""
    return Kernel(numba.njit(cache=True, parallel=True)(function))
