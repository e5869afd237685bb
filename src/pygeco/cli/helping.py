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
from importlib.metadata import version
from pathlib import Path

import pygeco

KERNELS = Path(pygeco.__file__).parent / "engines" / "cpu"
LARGEST = "sweep", "half_sweep"  # the file and the name of the kernel that takes longest
# Options with which other kernels are needed, or none.
ELSEWHERE = {"-h", "--help", "--engine", "--implicit", "--penalty", "--scheduler", "--workers"}
# Where numba keeps functions whose own folder cannot be written to.
CACHES = {
    "win32": ("LOCALAPPDATA", "~/AppData/Local", "numba/Cache"),
    "darwin": ("", "~/Library/Caches", "numba"),
    "linux": ("XDG_CACHE_HOME", "~/.cache", "numba"),
}


def compile_ahead(arguments: list[str]) -> None:
    """Start the process where it pays: for a fit of ratings, on two cores, without kernels."""
    if not _is_plain_fit(arguments) or count_cores() < 2 or is_kept(find_folders()):
        return
    with suppress(OSError):
        _start()


def _start() -> None:
    folder = Path(tempfile.mkdtemp(prefix="geco-"))
    # -P: a file in the user's folder is no module of this process.
    command = [sys.executable, "-P", "-m", "pygeco.engines.cpu.ahead", str(folder)]
    try:
        null = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=null, stdout=null, stderr=null)
    except OSError:
        folder.rmdir()
        return
    atexit.register(_end, process, folder)
    from pygeco.engines.cpu.claims import SHARES, Shares

    SHARES.append(Shares(folder, lambda: process.poll() is None))


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    process.kill()
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def _is_plain_fit(arguments: list[str]) -> bool:
    options = {word.partition("=")[0] for word in arguments}
    return arguments[:1] == ["fit"] and not options & ELSEWHERE


def count_cores() -> int:
    """The cores that this process may use, and no more than numba is to use."""
    if os.environ.get("NUMBA_NUM_THREADS") == "1":
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def find_folders() -> list[Path]:
    """Where numba may keep the kernels: in the folder that is asked for, or one of its own two."""
    name = f"{KERNELS.name}_{hashlib.sha1(os.path.abspath(KERNELS).encode()).hexdigest()}"
    asked = os.environ.get("NUMBA_CACHE_DIR")
    if asked:
        return [Path(asked) / name]
    variable, home, inside = CACHES.get(sys.platform, CACHES["linux"])
    cache = Path(os.environ.get(variable) or home).expanduser()
    return [KERNELS / "__pycache__", cache / inside / name]


def is_kept(folders: list[Path]) -> bool:
    """Whether the largest kernel is in one of the folders, from the sources as they are now.

    numba's index of its types has the version of numba and the digest of the sources.
    """
    file, name = LARGEST
    pattern = f"{file}.{name}-*.py{sys.version_info[0]}{sys.version_info[1]}.nbi"
    found = [path.read_bytes() for folder in folders for path in folder.glob(pattern)]
    if not found:
        return False
    from pygeco.engines.cpu.sources import hash_sources

    marks = version("numba").encode(), hash_sources(KERNELS / f"{file}.py")
    return any(all(mark in text for mark in marks) for text in found)
