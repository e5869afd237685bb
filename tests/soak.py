"""The short and the long form of the tests of trust, and the count of what they tried.

`make test` runs them short, `make soak` (PYGECO_SOAK=1) long: the same laws on many more examples
and repeats. In the long form no test begins anything new after PYGECO_SOAK_SECONDS; what was not
reached by then is not counted.
"""

from __future__ import annotations

import functools
import inspect
import os
import time
from collections import Counter

from hypothesis import HealthCheck, given, seed, settings

SOAK = os.environ.get("PYGECO_SOAK", "") not in ("", "0")
SECONDS = float(os.environ.get("PYGECO_SOAK_SECONDS", "120"))
TRIED: Counter[str] = Counter()  # by the test that runs now; `trust/conftest.py` collects it
BEGAN = [0.0]
PART = 50


def begin() -> None:
    """A test begins."""
    TRIED.clear()
    BEGAN[0] = time.monotonic()


def amount(short: int, long: int) -> int:
    """How often to repeat something."""
    return long if SOAK else short


def over() -> bool:
    """Whether this test has had its time, in the long form."""
    return SOAK and time.monotonic() - BEGAN[0] > SECONDS


def tried(what: str, count: int = 1) -> None:
    """Count what a test has tried; `make soak` prints the sums."""
    TRIED[what] += count


def law(what: str, short: int, long: int, *strategies):
    """`given` for `short` or `long` examples, each counted as one of `what`.

    The short form tries the same examples every time, the long one goes on in parts until it is
    over.
    """

    def decorate(test):
        @functools.wraps(test)
        def counted(*args, **kwargs):
            test(*args, **kwargs)
            tried(what)

        form = settings(
            max_examples=PART if SOAK else short,
            deadline=None,
            derandomize=not SOAK,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        once = form(given(*strategies)(counted))
        if not SOAK:
            return once

        @functools.wraps(once)
        def repeated(*args, **kwargs):
            for part in range(-(-long // PART)):
                if not over():
                    seed(part)(form(given(*strategies)(counted)))(*args, **kwargs)

        repeated.__signature__ = inspect.signature(once)
        del repeated.hypothesis
        return repeated

    return decorate
