"""Loops over parts of large arrays, on all cores where an engine offers them.

This room knows no engine. What a part finds may depend on that part alone, so that the cores
change no bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Loop(Protocol):
    """job(0), …, job(count − 1), in any order, for functions that let go of Python's lock."""

    def __call__(self, job: Callable[[int], None], count: int) -> None: ...


def run_in_turn(job: Callable[[int], None], count: int) -> None:
    """On the calling thread."""
    for part in range(count):
        job(part)


_LOOPS: list[Loop] = [run_in_turn]


def offer_loop(loop: Loop) -> None:
    """Have this one run the parts from now on."""
    _LOOPS[:] = [loop]


def run_parts(job: Callable[[int], None], count: int) -> None:
    """job(0), …, job(count − 1), in any order: a part is a millisecond of work, or more."""
    if count < 2:
        run_in_turn(job, count)
    else:
        _LOOPS[0](job, count)
