"""What happens while kernels are compiled: a line for people who wait, and no collections."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import threading
import time
from abc import abstractmethod
from contextlib import suppress
from itertools import cycle
from typing import Any

from numba.core import event

from pygeco import engines

NOTICE_SECONDS = 1.0  # of compiling before a word about it: kernels from the disk take less
FRAME_SECONDS = 0.1  # from one turn of the sign to the next
SIGNS = "|/-\\"
LINE = "pygeco: compiling for the first fit on this machine"
WORDS = (
    "pygeco: compiling for this machine; the first fit takes some seconds more, later ones "
    "do not.\n"
)


class Outermost(event.Listener):
    """Told when a compilation of ours begins and ends, without those that it needs itself.

    numba compiles one function at a time, so that nothing is counted by two threads at once.
    """

    def __init__(self) -> None:
        self.depth = 0

    def on_start(self, event: Any) -> None:
        if self.depth == 0 and not _is_own(event):
            return
        self.depth += 1
        if self.depth == 1:
            self.begin()

    def on_end(self, event: Any) -> None:
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0:
            self.end()

    @abstractmethod
    def begin(self) -> None:
        """One has begun."""

    @abstractmethod
    def end(self) -> None:
        """It has ended."""


class Notice(Outermost):
    """Says that kernels are compiled while they are, if somebody can be there to read it.

    On a terminal that is a line with a turning sign, which is wiped; else a sentence, once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.told = False
        self.seconds = 0.0  # of all compilations that have ended
        self.began = 0.0
        self.teller: Teller | None = None

    def begin(self) -> None:
        self.began = time.monotonic()
        engines.COMPILING.append(self.began)
        if _is_attended():
            self.teller = Teller(self)
            self.teller.start()

    def end(self) -> None:
        self.seconds += time.monotonic() - self.began
        engines.COMPILING.remove(self.began)
        if self.teller is not None:
            self.teller.ended.set()
            self.teller.join()
            self.teller = None


class Teller(threading.Thread):
    """Writes of one compilation, once there has been enough to wait for."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(daemon=True)
        self.notice, self.stream = notice, sys.stderr
        self.ended = threading.Event()

    def run(self) -> None:
        if self.ended.wait(max(FRAME_SECONDS, NOTICE_SECONDS - self.notice.seconds)):
            return
        with suppress(OSError, ValueError):  # of a stream that was closed
            if self.stream.isatty() and os.environ.get("TERM") != "dumb":
                self.turn()
            elif not self.notice.told:
                self.notice.told = True
                self.write(WORDS)

    def turn(self) -> None:
        """One line, written over until the compilation ends; then it is wiped."""
        before, began = self.notice.seconds, self.notice.began
        for sign in cycle(SIGNS):
            line = f"{sign} {LINE}, {before + time.monotonic() - began:.0f} s"
            line = line[: shutil.get_terminal_size().columns - 1]  # a longer one cannot be wiped
            self.write(f"\r{line}")
            if self.ended.wait(FRAME_SECONDS):
                self.write(f"\r{' ' * len(line)}\r")
                return

    def write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


class Pause(Outermost):
    """Garbage is not looked for while kernels are compiled.

    numba makes a million objects that live as long as the compilation: a sixth of its time would
    be spent in going over them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.collects = False

    def begin(self) -> None:
        self.collects = gc.isenabled()
        gc.disable()

    def end(self) -> None:
        if self.collects:
            gc.enable()


def _is_own(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("pygeco.")


def _is_attended() -> bool:
    """Whether standard error is a terminal or a notebook that nobody else writes progress to."""
    if sys.stderr is None or not engines.NOTICES["compiling"]:
        return False
    with suppress(AttributeError, ValueError):  # another program's stream, or a closed one
        return sys.stderr.isatty() or "ipykernel" in sys.modules
    return False


def watch_compilation() -> None:
    """Let compilations be told of from now on."""
    for listener in (Notice(), Pause()):
        event.register("numba:compile", listener)
