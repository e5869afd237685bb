"""What a process finds that was forked from another: locks that are open."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


class ForkSafeLock:
    """A lock that a forked child finds open: the thread that held it may have stayed behind.

    It is entered as `with safe.lock:`, which is Python's own: an interrupt in code of ours, where
    it has been shut and is not yet guarded, or the other way round, would leave it shut for good.
    """

    def __init__(self) -> None:
        self._renew()
        call_in_children(self._renew)

    def _renew(self) -> None:
        self.lock = threading.RLock()


def call_in_children(function: Callable[[], None]) -> None:
    """Have every process that is forked from here on begin with a call of this."""
    if hasattr(os, "register_at_fork"):  # where there is no fork, there are no such children
        os.register_at_fork(after_in_child=function)
