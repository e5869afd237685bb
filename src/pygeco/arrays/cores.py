"""The cores that this process may use."""

from __future__ import annotations

import os


def count_cores() -> int:
    """Those that the system gives to this process, where it says which; else all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
