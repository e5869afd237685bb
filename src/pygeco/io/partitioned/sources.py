"""Where parts come from on a cluster: files of Parquet, or a Dask DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygeco.io.parquet_parts import Holdout, Rows, read_rows
from pygeco.io.partitioned.parts import Part, make_part
from pygeco.io.tables import as_arrow


def read_part(rows: Rows, holdout: Holdout | None = None, marks: tuple[float, ...] = ()) -> Part:
    table, skipped = read_rows(rows, holdout, held=False)
    return make_part(table, rows.names, marks, skipped)


def make_part_of_frame(
    frame: Any, at: Sequence[int], number: int, marks: tuple[float, ...] = ()
) -> Part:
    """A partition of a Dask DataFrame, held to what `fit` asks of any table."""
    try:
        table = as_arrow(frame.iloc[:, list(at)])
        table = table.select(table.column_names[:3])  # without an index
        return make_part(table, table.column_names, marks)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error
