"""What happens while kernels are compiled: a sentence for people who wait, and no collections."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

from numba.core import event

from pygeco import engines

NOTICE_SECONDS = 1.0  # of compiling before a word about it: kernels from the disk take less
WORDS = (
    "pygeco: compiling for this machine; the first fit takes some seconds more, later ones "
    "do not.\n"
)


class Notice(event.Listener):
    """Told of every compilation; says so once a process, if somebody can be there to read it."""

    def __init__(self) -> None:
        self.told = False
        self.timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        if _is_own(event) and self.timer is None and not self.told:
            self.timer = threading.Timer(NOTICE_SECONDS, self.tell)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def tell(self) -> None:
        if not self.told and _is_attended():
            sys.stderr.write(WORDS)
            sys.stderr.flush()
        self.told = True


class Pause(event.Listener):
    """Told of every compilation; garbage is not looked for until the outermost one has ended.

    numba makes a million objects that live as long as the compilation: a sixth of its time would
    be spent in going over them. numba compiles one function at a time, so that nothing is counted
    by two threads at once.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.collects = False

    def on_start(self, event: Any) -> None:
        if self.depth == 0 and not _is_own(event):
            return
        if self.depth == 0:
            self.collects = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0 and self.collects:
            gc.enable()


def _is_own(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("pygeco.")


def _is_attended() -> bool:
    """Whether standard error is a terminal or a notebook that nobody else writes progress to."""
    if sys.stderr is None or not engines.NOTICES["compiling"]:
        return False
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def watch_compilation() -> None:
    """Let compilations be told of from now on."""
    for listener in (Notice(), Pause()):
        event.register("numba:compile", listener)
