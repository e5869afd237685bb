"""Waiting for what others do: servers, clusters, collections of garbage."""

import time


def wait_until(condition, seconds: float = 60.0):
    """What the condition gives once it is true."""
    last = time.monotonic() + seconds
    while time.monotonic() < last:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it never came true")
