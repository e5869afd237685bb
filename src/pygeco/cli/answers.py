"""Tables that commands answer with: titles of items, a file, JSON, CSV, or aligned columns."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from pygeco.cli.console import Voice, explain_write_errors
from pygeco.cli.outputs import check_output
from pygeco.errors.visible_numbers import find_format
from pygeco.errors.visible_text import escape_controls

MAX_LINE_WIDTH = 1 << 16  # columns of a terminal, to measure a table by

TableOutput = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="File to write: .csv, .tsv, .parquet, .arrow or .jsonl; else CSV."
    ),
]


def check_table_output(output: Path | None, *inputs: Path | None, overwrite: bool) -> None:
    from pygeco.io.writers import check_ending

    if output is not None:
        check_ending(output)
    check_output(output, *inputs, overwrite=overwrite)


def read_titles_for(
    model: Any, path: Path | None, item: str | None, title: str | None
) -> list[str] | None:
    """A title for each item of the model; None without a file of titles."""
    from pygeco.io.titles import read_titles

    if path is not None:
        return read_titles(path, model.column_ids_, item=item, title=title)
    if item is not None or title is not None:
        raise ValueError("--title: names a column of the file of titles; give it with --titles.")
    return None


def add_titles(
    table: Any, model: Any, path: Path | None, item: str | None, title: str | None
) -> Any:
    """The table with a column of titles."""
    names = read_titles_for(model, path, item, title)
    if names is None:
        return table
    import pyarrow as pa

    from pygeco.io.tables import find_positions

    titles = np.array([*names, None], dtype=object)[:-1]
    at = find_positions(model.column_ids_, table.column("item").to_numpy(zero_copy_only=False))
    return table.append_column("title", pa.array(titles[at]))


def write_answer(table: Any, output: Path | None, voice: Voice) -> None:
    """The table to a file, or to standard output: JSON, CSV, or aligned on a terminal."""
    from pygeco.io.writers import write_table

    if output is not None:
        with explain_write_errors(output):
            write_table(table, output)
        if voice.as_json:
            voice.result({"output": str(output), "rows": table.num_rows}, "")
        voice.note(f"{table.num_rows:,} rows in {output}.")
    elif voice.as_json:
        voice.result({"rows": table.to_pylist()}, "")
    elif voice.live and table.num_rows <= 1000:
        _show(table)
    else:
        _print_csv(table)


def _print_csv(table: Any) -> None:
    """As it is into a pipe or a file; on a terminal with control characters written out."""
    from pygeco.io.writers import write_format

    sys.stdout.flush()
    if sys.stdout.isatty():
        whole = io.BytesIO()
        write_format(table, whole, ".csv")
        print(escape_controls(whole.getvalue().decode(), keep="\n"), end="", flush=True)
        return
    write_format(table, sys.stdout.buffer, ".csv")
    sys.stdout.buffer.flush()


def _write_column(values: list[Any]) -> list[str]:
    told = find_format(it for it in values if isinstance(it, float))
    return [format(it, told) if isinstance(it, float) else str(it) for it in values]


def _show(table: Any) -> None:
    """Aligned, or as CSV where the terminal is too narrow for the columns."""
    from rich.console import Console
    from rich.table import Table

    from pygeco.io.writers import spell_ids

    shown = Table(box=None)
    for name in table.column_names:
        shown.add_column(
            escape_controls(name), justify="left" if name == "title" else "right", no_wrap=True
        )
    columns = [_write_column(column) for column in spell_ids(table).to_pydict().values()]
    for cells in zip(*columns, strict=True):
        shown.add_row(*map(escape_controls, cells))
    console = Console(markup=False, highlight=False)
    if (
        console.measure(shown, options=console.options.update(width=MAX_LINE_WIDTH)).maximum
        > console.width
    ):
        _print_csv(table)
    else:
        console.print(shown)
