"""A model file that may be replaced at any time: copied, checked, then taken into service.

The copy is the server's own, so that nobody can change or cut the file under arrays that are mapped
into memory; processes that map the same copy share its memory.
"""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from pygeco.errors import ModelFileError
from pygeco.io.model_parts import load_parts
from pygeco.serve.metrics import Counters, make_counters

LOG = logging.getLogger("pygeco.serve")
POLL_SECONDS = 0.25  # between looks at the file
KEPT_COPIES = 2  # a worker that starts may just have read the name of the one before
CURRENT = "current"


class Mark(NamedTuple):
    """What changes when a file is replaced or written to."""

    inode: int
    size: int
    modified: int


def mark_file(path: Path) -> Mark | None:
    """None while there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return Mark(found.st_ino, found.st_size, found.st_mtime_ns)


class ModelFile:
    """The file of a model and the server's copies of it, in a folder of its own."""

    def __init__(self, path: Path, folder: Path, counters: Counters | None = None) -> None:
        self.path, self.folder = path, folder
        self.counters = counters or make_counters()
        self._seen: Mark | None = None
        self._number = 0

    def copy(self) -> Path:
        """A checked copy of the file as it is now; an error where it is not sound."""
        self._seen = mark_file(self.path)
        self._number += 1
        part, whole = self.folder / "part", self.folder / f"model-{self._number}.geco"
        shutil.copyfile(self.path, part)
        try:
            load_parts(part)  # every checksum, and every array
        except ModelFileError as error:
            raise ModelFileError(str(error).replace(str(part), str(self.path))) from None
        os.replace(part, whole)
        for old in range(1, self._number - KEPT_COPIES + 1):
            (self.folder / f"model-{old}.geco").unlink(missing_ok=True)
        return whole

    def look(self) -> Path | None:
        """A copy of a file that was put in place since the last look, if it is sound.

        Else the log says why not, once for each file, and None is given.
        """
        mark = mark_file(self.path)
        if mark is None or mark == self._seen:
            return None
        try:
            found = self.copy()
        except (ModelFileError, OSError) as error:
            self.counters.count("model_failures_total")
            LOG.error("the model stays as it is: %s", error)
            return None
        if mark_file(self.path) != self._seen:
            return None  # it changed while it was read; the next look sees the rest
        return found


def write_current(folder: Path, copy: Path) -> None:
    """Tell other processes which copy is to be served."""
    part = folder / f"{CURRENT}.part"
    part.write_text(copy.name, encoding="utf-8")
    os.replace(part, folder / CURRENT)


def read_current(folder: Path) -> Path:
    """The copy that is to be served."""
    return folder / (folder / CURRENT).read_text(encoding="utf-8")
