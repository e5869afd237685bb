"""Times that are asked about on the command line."""

from __future__ import annotations

from typing import Any


def parse_moment(model: Any, text: str | None) -> float | None:
    """The time that --time says; None where it is the end of the ratings."""
    from pygeco.io.times import read_times

    if text is None:
        return None
    if model.drift_ is None:
        raise ValueError("--time: says nothing in this model; leave it out.")
    return float(read_times(text, "--time"))


def set_time(table: Any, time: float | None) -> Any:
    """The table with one time for all its pairs."""
    import numpy as np

    if time is None:
        return table
    if "timestamp" in table.column_names:
        table = table.drop_columns(["timestamp"])
    return table.append_column("timestamp", [np.full(table.num_rows, time)])
