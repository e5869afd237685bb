"""What the commands share: errors in one sentence, progress, and answers for machines."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

FAILED = 1  # the data or the machine; 2 is a wrong command line


@contextmanager
def sentences() -> Iterator[None]:
    """Errors that a user can mend end the command with one sentence, others with a traceback."""
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{error.strerror or error}.")
    except (ValueError, ModuleNotFoundError) as error:
        fail(str(error))


def fail(sentence: str) -> None:
    """Say it on standard error and leave."""
    typer.secho(f"geco: {sentence}", fg="red", err=True)
    raise typer.Exit(FAILED)


@contextmanager
def working(text: str) -> Iterator[Callable[[int, int], None]]:
    """A line that moves on standard error while the block runs; nothing where it is no terminal.

    What is yielded takes (done, of how many) and turns the line into a bar with the time left.
    """
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        Elapsed(),
        Remaining(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total or None)


@contextmanager
def told(lines: list[str]) -> Iterator[None]:
    """Warnings inside the block become lines."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    lines += sorted({str(one.message) for one in caught})


def answer(values: dict[str, Any], lines: list[str], as_json: bool) -> None:
    """The result: one JSON object for machines, sentences for people."""
    if as_json:
        print(json.dumps(values, indent=2))
    else:
        print("\n".join(lines))


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self.began = time.perf_counter()

    def __call__(self) -> float:
        return time.perf_counter() - self.began
