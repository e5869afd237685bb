"""The page about an imputation: what each column is, how much was missing, how sure the fill is."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pygeco.arrays.whole_file import whole_file
from pygeco.diagnostics.imputation import FilledColumn
from pygeco.reports.content import list_versions
from pygeco.reports.html import render


def report_imputation(
    model: Any,
    columns: Sequence[FilledColumn],
    rows: int,
    output: str | os.PathLike[str],
    heading: str | None = None,
) -> Path:
    """Write a page about a filled table to one HTML file.

    Parameters
    ----------
    model : LowRankImputer
        Fitted to the table.
    columns : sequence of FilledColumn
        What `diagnostics.summarize_columns` tells.
    rows : int
        Of the table.
    output : path
        Written whole or not at all.
    heading : str or None, default=None
        The title of the page.

    Returns
    -------
    pathlib.Path
        Of the file.
    """
    page = render(gather_imputation(model, columns, rows, heading or "A table, filled"))
    with whole_file(Path(output)) as file:
        file.write(page.encode())
    return Path(output)


def gather_imputation(
    model: Any, columns: Sequence[FilledColumn], rows: int, heading: str
) -> dict[str, Any]:
    """The values that the template asks for."""
    missing = sum(column.missing for column in columns)
    cells = rows * len(columns)
    settings = model.get_params(deep=False)
    given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    left = [column for column in columns if column.kind == "skip"]
    tiles = [
        ("rows", f"{rows:,}", f"{len(columns):,} columns"),
        ("missing cells", f"{missing:,}", f"{missing / max(1, cells):.1%} of all"),
        ("numbers taken", model.shape_, "as plain numbers, powers or ranks"),
        ("masked cells", f"{sum(column.masked for column in columns):,}", "errors are from these"),
    ]
    return {
        "template": "imputation.html.j2",
        "heading": heading,
        "summary": f"{missing:,} missing cells of {rows:,} rows, each filled from its own row.",
        "tiles": [{"label": a, "value": b, "note": c} for a, b, c in tiles],
        "held_out": True,
        "columns": [_show(column) for column in columns],
        "left": [(column.name or '""', column.note, f"{column.missing:,}") for column in left],
        "charts": {},
        "settings": [(name, repr(value)) for name, value in settings.items()],
        "code": f"LowRankImputer({given}).fit_transform(table)",
        "versions": [("Python", platform.python_version()), *list_versions()],
        "machine": f"{platform.system()} {platform.machine()}, {sys.byteorder}-endian",
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _show(column: FilledColumn) -> tuple[str, tuple[str, ...]]:
    errors = ["not measured", ""]
    if column.relative is not None:
        errors = [column.show(error, 4) for error in (column.error, column.null)]
    return column.name or '""', (column.kind, column.note, f"{column.missing:,}", *errors)
