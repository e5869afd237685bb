"""A sentence for people who wait at a prompt while kernels are compiled."""

from __future__ import annotations

import sys
import threading
from typing import Any

from numba.core import event

from pygeco import engines

NOTICE_SECONDS = 1.0  # of compiling before a word about it: kernels from the disk take less
WORDS = (
    "pygeco: compiling for this machine; the first fit takes some ten seconds more, later ones "
    "do not.\n"
)


class Notice(event.Listener):
    """Told of every compilation; says so once a process, if somebody can be there to read it."""

    def __init__(self) -> None:
        self.told = False
        self.timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        own = str(event.data["dispatcher"].py_func.__module__).startswith("pygeco.")
        if own and self.timer is None and not self.told:
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


def _is_attended() -> bool:
    """Whether standard error is a terminal or a notebook that nobody else writes progress to."""
    if sys.stderr is None or not engines.NOTICES["compiling"]:
        return False
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def watch_compilation() -> None:
    """Let compilations be told of from now on."""
    event.register("numba:compile", Notice())
