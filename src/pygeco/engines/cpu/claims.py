"""Two processes that compile for each other: each function by the one that claims it first.

What one has compiled the other reads from numba's folder. A claim is an empty file in a folder of
their own, which only one of them can make. It holds for all types of a function: numba keeps their
list in one file, which two processes must not write at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pygeco import engines

MAX_WAIT = 60.0  # seconds; then the function is compiled here after all
PAUSE = 0.005  # between two looks at what the other process has done


class Shares:
    """Who compiles what for a fit of "ratings" or "clicks".

    `is_accompanied` says whether the other process is still there.
    """

    def __init__(self, folder: Path, kind: str, is_accompanied: Callable[[], bool]) -> None:
        self.folder, self.kind, self.is_accompanied = folder, kind, is_accompanied

    def claim(self, name: str) -> bool:
        """Whether the function was not claimed before; where the folder is gone, it was."""
        try:
            (self.folder / name).open("x").close()
        except OSError:
            return False
        return True

    def finish(self, name: str) -> None:
        """Say that a claimed function is on the disk, or never will be."""
        with suppress(OSError):
            self._find_end(name).touch()

    def wait(self, name: str, work: Callable[[], bool]) -> None:
        """Until the other process has finished the function, or itself; there is other work."""
        began = time.monotonic()
        engines.COMPILING.append(began)
        try:
            while self.is_awaited(name) and time.monotonic() - began < MAX_WAIT:
                if not work():
                    time.sleep(PAUSE)
        finally:
            engines.COMPILING.remove(began)

    def is_awaited(self, name: str) -> bool:
        """Whether a claimed function is still being compiled."""
        is_open = self.folder.is_dir() and not self._find_end(name).exists()
        return is_open and self.is_accompanied()

    def _find_end(self, name: str) -> Path:
        return self.folder / f"{name}.end"


# Those of this process, if a program has started another that compiles for it.
SHARES: list[Shares] = []
