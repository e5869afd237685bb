"""Standard streams that may be closed, or know fewer signs than Unicode."""

from __future__ import annotations

import codecs
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

OUTPUT = 4  # the code of a process that cannot write
# Errors of the system that only writing meets: the file that they do not name is standard output.
WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
# What the commands say beyond ASCII, for terminals that have no more.
PLAIN = {"×": "x", "…": "...", "–": "-", "−": "-", "·": "*", "“": '"', "”": '"', "’": "'"}


def prepare_streams() -> None:
    """Let no print fail for want of a stream or of a sign in its encoding."""
    codecs.register_error("geco", _spell)
    for place, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            _fill(place)
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, kept
        elif mode == "w" and hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="geco")


def drop_output() -> None:
    """Let what waits to be printed go nowhere: Python would try again at its end."""
    with suppress(OSError):  # of an output that is not a file of the system
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def report_lost_output() -> Iterator[None]:
    """What is printed outside of commands, such as help and wrong calls, where nobody takes it."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except (OSError, SystemExit) as error:
        # Where a reader has seen enough, Typer and rich end with code 1, and commands with 0.
        lost = error.__context__ if isinstance(error, SystemExit) else error
        if not (isinstance(lost, OSError) and lost.errno in (errno.EPIPE, *WRITING)):
            raise
        drop_output()
        is_full = lost.errno in WRITING
        if is_full:
            with suppress(OSError):
                sys.stderr.write(f"geco: cannot write standard output: {lost.strerror}.\n")
        sys.exit(getattr(lost.__context__, "exit_code", OUTPUT if is_full else 0))


def _fill(place: int) -> None:
    """A file of the system for a closed stream: else the next file to be opened would be it."""
    with suppress(OSError):
        handle = os.open(os.devnull, os.O_RDWR)
        if handle != place:
            os.dup2(handle, place)
            os.close(handle)


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(PLAIN.get(sign) or _escape(sign) for sign in lost), error.end


def _escape(sign: str) -> str:
    return sign.encode("ascii", "backslashreplace").decode()
