"""Times that are asked about on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OWN_NAME = "timestamp"  # of the column of times in what was read


def parse_moment(model: Any, text: str | None) -> float | None:
    """The time that --time says; None where it is the end of the ratings."""
    from pygeco.io.times import read_times

    if text is None:
        return None
    if model.drift_ is None:
        raise ValueError("--time: says nothing in this model; leave it out.")
    return float(read_times(text, "--time"))


def find_times_name(reading: Any) -> str | None:
    """What a file calls the times that were read of it; None where it has none."""
    return reading.columns[-1] if OWN_NAME in reading.table.column_names else None


def call_times(sentence: str, column: str | None) -> str:
    """A sentence of the library about a column of times, which is called as in its file."""
    if column is None:
        return sentence
    called = f"column {column}" if column.isdecimal() else repr(column)
    for start in (f"{OWN_NAME}: ", "times: "):
        if sentence.startswith(start):
            return f"the times in {called}: {sentence.removeprefix(start)}"
    return sentence.replace(f"the times in {OWN_NAME!r} ", f"the times in {called} ")


@contextmanager
def speak_of_times(column: str | None) -> Iterator[None]:
    """Errors of the library about a column of times, which is called as in its file."""
    try:
        yield
    except ValueError as error:
        told = call_times(str(error), column)
        if told == str(error):
            raise
        raise ValueError(told) from error


def check_times(name: str, reading: Any) -> None:
    """Refuse a file whose times are none."""
    from pygeco.errors import ReadError
    from pygeco.io.times import read_times

    if OWN_NAME not in reading.table.column_names:
        return
    try:
        read_times(reading.table.column(OWN_NAME), OWN_NAME)
    except ValueError as error:
        told = call_times(str(error), find_times_name(reading))
        raise ReadError(f"{name}: {told}") from error


def set_time(table: Any, time: float | None) -> Any:
    """The table with one time for all its pairs."""
    import numpy as np

    if time is None:
        return table
    if "timestamp" in table.column_names:
        table = table.drop_columns(["timestamp"])
    return table.append_column("timestamp", [np.full(table.num_rows, time)])
