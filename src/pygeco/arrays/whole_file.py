"""Files written whole or not at all."""

from __future__ import annotations

import io
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

if sys.platform != "win32":
    import fcntl


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path` when the block ends without an error.

    It is written beside `path`, brought to the disk and renamed; on an error it is removed, and
    what was at `path` stays. What a killed writer left beside `path`, the next one takes over. A
    device or a pipe is written directly. Errors of the system name `path`.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            with open(target, "wb") as file:
                yield file
            return
        with _beside(target) as file:
            yield file
        _sync_folder(target.parent)
    except OSError as error:
        other = error.filename is not None and Path(error.filename).parent != target.parent
        if error.errno is None or other:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


@contextmanager
def whole_text(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """The same for text in UTF-8; line ends stay as they are written."""
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        yield text
        text.detach()


@contextmanager
def _beside(target: Path) -> Iterator[BinaryIO]:
    """A file in the same folder, renamed to `target` at the end."""
    file, name = _taken_over(target) or _new(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if sys.platform != "win32":
                if target.exists():
                    os.fchmod(file.fileno(), target.stat().st_mode & 0o777)
                os.replace(name, target)  # still locked: nobody else takes it over
        if sys.platform == "win32":
            os.replace(name, target)  # which an open file does not allow there
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def _new(target: Path) -> tuple[BinaryIO, Path]:
    name = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    return open(name, "xb"), name


def _taken_over(target: Path) -> tuple[BinaryIO, Path] | None:
    """The one temporary file of `target`, empty; None while another writer has it.

    A lock dies with its process, so that files of killed writers do not pile up. None also where
    there are no locks, and where the file is a link or somebody else's.
    """
    if sys.platform == "win32":
        return None
    name = target.with_name(f".{target.name}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = open(os.open(name, flags, 0o666), "wb", closefd=True)  # noqa: SIM115, given away
    except OSError:
        return None  # if it is the folder's fault, the other way tells
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found, there = os.fstat(file.fileno()), os.lstat(name)
        # It may have been renamed to the target between the opening and the lock.
        if os.path.samestat(found, there) and found.st_nlink == 1 and found.st_uid == os.geteuid():
            file.truncate(0)
            return file, name
    except OSError:
        pass
    file.close()
    return None


def _sync_folder(folder: Path) -> None:
    """The rename itself on the disk, where folders can be opened (not on Windows).

    The file is in its place by now, so a folder that cannot be read or synced is no error.
    """
    if hasattr(os, "O_DIRECTORY"):
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
