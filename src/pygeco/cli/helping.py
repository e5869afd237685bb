"""A second process that compiles kernels while a first fit starts and reads; for `geco` alone.

Where kernels are on the disk already, there is none. It says nothing, and ends with the command.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pygeco

KERNELS = Path(pygeco.__file__).parent / "engines" / "cpu"
# The file and the name of the kernel that takes longest.
LARGEST = {"ratings": ("sweep", "half_sweep"), "clicks": ("background_sweep", "solve_rows")}
# Options with which other kernels are needed, or none.
ELSEWHERE = {"-h", "--help", "--engine", "--penalty", "--scheduler", "--workers"}
# Where numba keeps functions whose own folder cannot be written to.
CACHES = {
    "win32": ("LOCALAPPDATA", "~/AppData/Local", "numba/Cache"),
    "darwin": ("", "~/Library/Caches", "numba"),
    "linux": ("XDG_CACHE_HOME", "~/.cache", "numba"),
}


class Helper:
    """The process, and the folder in which both say what they compile."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.folder = Path(tempfile.mkdtemp(prefix="geco-"))
        # -P: a file in the user's folder is no module of this process.
        module = "-P", "-m", "pygeco.engines.cpu.ahead"
        command, null = [sys.executable, *module, str(self.folder), kind], subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(command, stdin=null, stdout=null, stderr=null)
        except OSError:
            self.folder.rmdir()
            raise
        atexit.register(self.end)
        from pygeco.engines.cpu.claims import SHARES, Shares

        SHARES[:] = [Shares(self.folder, kind, lambda: self.process.poll() is None)]

    def end(self) -> None:
        """Again and again, if need be."""
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


# The one of this process; none before `compile_ahead` has said that the process is `geco`'s own.
HELPERS: list[Helper | None] = []


def compile_ahead(arguments: list[str]) -> None:
    """Start the process where it pays: for a usual fit, on two cores, without kernels.

    Where kernels of one kind are there, a file that has not told its own may be of that kind.
    """
    options = {word.partition("=")[0] for word in arguments}
    if arguments[:1] != ["fit"] or options & ELSEWHERE or count_cores() < 2:
        return
    kinds = ["clicks"] if "--implicit" in options else list(LARGEST)
    with suppress(OSError):
        HELPERS.append(None if any(map(is_kept, kinds)) else Helper(kinds[0]))


def turn_to_clicks() -> None:
    """Compile for clicks instead, once the file has told that it holds these."""
    if not HELPERS:
        return
    before = HELPERS[0]
    if before is not None:
        if before.kind == "clicks":
            return
        before.end()
    HELPERS.clear()
    with suppress(OSError):
        HELPERS.append(None if is_kept("clicks") else Helper("clicks"))


def count_cores() -> int:
    """The cores that this process may use, and no more than numba is to use."""
    if os.environ.get("NUMBA_NUM_THREADS") == "1":
        return 1
    from pygeco.arrays import cores

    return cores.count_cores()


def find_folders() -> list[Path]:
    """Where numba may keep the kernels: in the folder that is asked for, or one of its own two."""
    name = f"{KERNELS.name}_{hashlib.sha1(os.path.abspath(KERNELS).encode()).hexdigest()}"
    asked = os.environ.get("NUMBA_CACHE_DIR")
    if asked:
        return [Path(asked) / name]
    variable, home, inside = CACHES.get(sys.platform, CACHES["linux"])
    cache = Path(os.environ.get(variable) or home).expanduser()
    return [KERNELS / "__pycache__", cache / inside / name]


def is_kept(kind: str) -> bool:
    """Whether the largest kernel is on the disk, from the sources as they are now.

    numba's index of its types has the version of numba and the digest of the sources.
    """
    file, name = LARGEST[kind]
    pattern = f"{file}.{name}-*.py{sys.version_info[0]}{sys.version_info[1]}.nbi"
    found = [path.read_bytes() for folder in find_folders() for path in folder.glob(pattern)]
    if not found:
        return False
    from importlib.metadata import version  # takes as long to import as all of this

    from pygeco.engines.cpu.sources import hash_sources

    marks = version("numba").encode(), hash_sources(KERNELS / f"{file}.py")
    return any(all(mark in text for mark in marks) for text in found)
