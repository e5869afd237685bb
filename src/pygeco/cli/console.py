"""Words on the terminal: results to standard output, all else to standard error; exit codes."""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import typer

from pygeco.cli.streams import OUTPUT, WRITING, drop_output
from pygeco.errors.visible_text import escape_controls, escape_json

USAGE, INPUT, MISSING, INTERRUPTED = 2, 3, 5, 130
EXIT_CODES = (
    "Exit codes: 0 done; 2 a wrong option, column or id; 3 a file that cannot be read; "
    "4 a file that cannot be written; 5 an engine or extra that is not installed; 130 interrupted."
)


# Arguments that begin a sentence of Python's, and settings in it, as the options they are here.
ARGUMENTS = {"n_components": "rank"} | {
    name: name for name in ("by", "fill", "pattern", "posterior", "threshold", "times")
}
SETTINGS = {
    "duplicates=": "--duplicates ",
    "unknown=": "--unknown ",
    "missing_values=": "--missing ",
    "penalty='evidence'": "--penalty evidence",
    "pattern=False": "--pattern no",
    "held out of the fit, or use score.": "held out, as by geco fit --holdout 0.1.",
}


class OutputError(OSError):
    """A file that cannot be written."""


class EngineError(RuntimeError):
    """An engine that is not there."""


@contextmanager
def report_errors(command: str, interrupted: str = "interrupted.") -> Iterator[None]:
    """Errors that a user can make as one sentence and an exit code, without a traceback; warnings
    as a sentence, without the place in the code.
    """
    try:
        from pygeco.engines import NOTICES
        from pygeco.errors import ModelFileError, ReadError
    except KeyboardInterrupt:  # these take a second to import; nothing has begun yet
        _fail(command, "interrupted.", INTERRUPTED)

    NOTICES["compiling"] = False  # commands have spinners of their own
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_say_warning, command)
            yield
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        drop_output()
        raise typer.Exit from None
    except KeyboardInterrupt:
        leave_quietly()
        _fail(command, interrupted, INTERRUPTED)
    except OutputError as error:
        _fail(command, str(error), OUTPUT)
    except (ReadError, ModelFileError) as error:
        _fail(command, str(error), INPUT)
    except OSError as error:
        if error.errno in WRITING:
            drop_output()
            where = error.filename or "standard output"
            _fail(command, f"cannot write {where}: {error.strerror}; choose another place.", OUTPUT)
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        _fail(command, f"cannot read {what}; check the path.", INPUT)
    except (ModuleNotFoundError, EngineError) as error:
        _fail(command, str(error), MISSING)
    except ValueError as error:
        _fail(command, as_options(str(error)), USAGE)


def _say_warning(command: str, message: Warning | str, *where: object) -> None:
    sentence = as_options(str(message))
    with suppress(OSError):
        print(f"geco {command}: {_on_one_line(sentence)}", file=sys.stderr)


def _on_one_line(sentence: str) -> str:
    return escape_controls(" ".join(sentence.split()))


def as_options(sentence: str) -> str:
    """Arguments of Python's as the options that they are here."""
    sentence = sentence.removeprefix("X: ")
    argument = sentence.partition(":")[0]
    if argument in ARGUMENTS:
        sentence = f"--{ARGUMENTS[argument]}{sentence[len(argument) :]}"
    for said, option in SETTINGS.items():
        sentence = sentence.replace(said, option)
    return sentence


def leave_quietly() -> None:
    """Silence objects that an interrupt left half-made, which complain when they are deleted."""
    sys.unraisablehook = lambda _: None


def _fail(command: str, sentence: str, code: int) -> NoReturn:
    with suppress(OSError):  # the code says it where nobody listens
        print(f"geco {command}: {_on_one_line(sentence)}", file=sys.stderr)
    raise typer.Exit(code)


@contextmanager
def hear_warnings(kind: type[Warning]) -> Iterator[list[str]]:
    """The sentences of warnings of one kind, which the result tells; others are shown as ever."""
    told: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", kind)
        show: Callable[..., None] = warnings.showwarning

        def hear(message: Any, category: type[Warning], *where: Any) -> None:
            if issubclass(category, kind):
                told.append(str(message).removeprefix("X: "))
            else:
                show(message, category, *where)

        warnings.showwarning = hear  # type: ignore[assignment]
        yield told


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Errors of the system while a file is written, as a sentence about it."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        reason = error.strerror or str(error)
        raise OutputError(
            f"cannot write {path}: {reason}; choose another place with -o."
        ) from error


def check_folder(output: Path) -> None:
    """Fail before the work where results could not be written; the folder may not exist yet."""
    there = next(path for path in (output, *output.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise OutputError(f"cannot write to {output}: {there} is no folder that takes files.")


class Voice:
    """What to print where. On a terminal, notes and progress go to standard error."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self.live = not as_json and sys.stdout.isatty() and sys.stderr.isatty()

    def note(self, text: str) -> None:
        """Something worth knowing, on a terminal only."""
        if self.live:
            print(escape_controls(text, keep="\n"), file=sys.stderr, flush=True)

    def result(self, values: dict[str, Any], text: str) -> None:
        """The answer: an object for machines, or text for people."""
        if self.as_json:
            # Where the output has fewer signs than Unicode, JSON has escapes of its own.
            whole = (sys.stdout.encoding or "").lower().startswith("utf")
            print(escape_json(json.dumps(_plain(values), ensure_ascii=not whole)), flush=True)
        else:
            print(escape_controls(text, keep="\n"), flush=True)

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[float], None]]:
        """A bar with the time left, shown on a terminal once a second has passed."""
        if not self.live:
            yield lambda share: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
            console=Console(stderr=True),
            transient=True,
        )
        task = bar.add_task(escape_controls(what), total=1.0)
        began = time.monotonic()

        def tell(share: float) -> None:
            if not bar.live.is_started and time.monotonic() - began > 1 and share < 1:
                bar.start()
            bar.update(task, completed=share)

        try:
            yield tell
        finally:
            if bar.live.is_started:
                bar.stop()

    @contextmanager
    def busy(self, what: str) -> Iterator[None]:
        """A line with the time so far, on a terminal, for work whose end is not known."""
        if not self.live:
            yield
            return
        from pygeco.cli.displays import make_line

        with make_line(escape_controls(what)):
            yield


def _plain(value: Any) -> Any:
    """Values as JSON has them: no NaN, no NumPy."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
