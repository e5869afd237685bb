"""Interrupts at each call of the package's own functions."""

import sys
from pathlib import Path

import pygeco

PACKAGE = str(Path(pygeco.__file__).parent)


class Interrupted(BaseException):
    """As a signal's, at a place of the test's choosing."""


class Fuse:
    """Counts the calls of pygeco's functions, and interrupts one of them."""

    def __init__(self, at=None):
        self.calls, self.at = 0, at

    def __enter__(self):
        sys.setprofile(self)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def __call__(self, frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.calls += 1
            if self.calls == self.at:
                sys.setprofile(None)
                raise Interrupted
