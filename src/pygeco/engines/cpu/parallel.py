"""Kernels that run on all cores, and may be called from several threads at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
from numba._dispatcher import compute_fingerprint

from pygeco.engines.cpu.compiling import watch_compilation
from pygeco.engines.cpu.launching import compile_part, find_address
from pygeco.engines.cpu.threads import get_num_threads, is_in_loop
from pygeco.engines.cpu.unboxing import make_launcher

watch_compilation()


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
    if isinstance(argument, tuple):
        return tuple(map(lend, argument))
    if isinstance(argument, np.ndarray) and not argument.flags.writeable:
        return np.asarray(_Memory(argument))
    return argument


class Kernel:
    """A compiled function, run for each part of its work.

    In a part of a loop over parts, it runs on that part's thread.
    """

    def __init__(self, function: Callable[..., None], over: str, ends: int) -> None:
        code = function.__code__
        self.compiled = compile_part(function)
        self.place = code.co_varnames[1 : code.co_argcount].index(over)
        self.ends = ends
        self.launchers: dict[bytes, Callable[..., None]] = {}

    def __call__(self, *arrays: Any) -> None:
        self.run(arrays, 1 if is_in_loop() else get_num_threads())

    def run(self, arrays: tuple[Any, ...], threads: int) -> None:
        parts = arrays[self.place]
        count = parts if isinstance(parts, int) else len(parts) - self.ends
        launcher = self.launchers.get(compute_fingerprint(arrays))
        if launcher is None:  # types that are new, or arrays that are to be lent
            arrays = tuple(map(lend, arrays))
            launcher = self.find_launcher(arrays)
        launcher(arrays, count, threads)

    def find_launcher(self, arguments: tuple[Any, ...]) -> Callable[..., None]:
        """What runs the function for arguments of these types, all of which can be written to."""
        key = compute_fingerprint(arguments)
        if key not in self.launchers:
            kinds = tuple(map(numba.typeof, arguments))
            address = find_address(self.compiled, (numba.int64, *kinds))
            self.launchers[key] = partial(make_launcher(kinds), address)
        return self.launchers[key]

    @property
    def stats(self) -> Any:
        return self.compiled.stats


def spread(over: str, *, ends: int = 0) -> Callable[[Callable[..., None]], Kernel]:
    """Compile a kernel that is run on all cores, once for each part of its work.

    The function takes the number of the part before all that is given when it is called. There are
    as many parts as the argument named `over` says, or has rows less `ends`.
    """
    return lambda function: Kernel(function, over, ends)
