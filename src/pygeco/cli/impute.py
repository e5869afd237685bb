"""`geco impute`: a table with its missing cells filled."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pygeco.cli.console import Voice, explain_write_errors, report_errors
from pygeco.cli.impute_numbers import (
    impute_numbers,
    tell_left_cells,
    tell_number_names,
    tell_strays,
)
from pygeco.cli.options import Json, Overwrite
from pygeco.cli.outputs import check_output

if TYPE_CHECKING:
    from pygeco.diagnostics.imputation import FilledColumn

MAX_TOLD, MAX_NAME_WIDTH = 60, 60  # columns on a terminal, and places for a name

Column = Annotated[
    list[str] | None,
    typer.Option(
        help="A column's kind, such as 'grade=levels': number, heavy, positive, count, yes/no, "
        "levels, category or skip; may be given again."
    ),
]
Fill = Annotated[
    str,
    typer.Option(
        help="auto, mean (best by squares) or median (best by absolute errors); auto is the mean "
        "of numbers, the median of levels, the most probable category."
    ),
]
Skip = Annotated[
    list[str] | None,
    typer.Option(
        help="Column that takes no part and stays as it is, such as a row number; may be given "
        "again."
    ),
]
Whole = Annotated[
    bool,
    typer.Option("--whole", help="With --rank or --alpha, fill whole numbers with whole numbers."),
]


def impute(
    table: Annotated[
        Path, typer.Argument(help="CSV, TSV or Parquet, with missing cells; also compressed.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The table to write.")],
    column: Column = None,
    fill: Fill = "auto",
    picture: Annotated[
        Path | None, typer.Option(help="A picture of how well each column is known (png, svg).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="A page about the columns and their errors (html).")
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(min=0, help="Components of a low-rank matrix; fills columns of numbers."),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(min=0, help="Ridge of a low-rank matrix; fills columns of numbers."),
    ] = None,
    whole: Whole = False,
    skip: Skip = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the masked cells.")] = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Fill the missing cells of a table from the relations between its columns, of any kind.

    Kinds of columns are found and said; known cells and types stay as they are, those of text to
    the letter. Errors are measured at a tenth of the known cells, masked for it.
    """
    with report_errors("impute"):
        voice = Voice(as_json)
        check_output(output, table, overwrite=overwrite)
        is_low_rank = rank is not None or alpha is not None
        others = column or picture or report or fill != "auto"
        _check_ways(is_low_rank, whole, bool(others))
        if is_low_rank:
            settings = {"n_components": rank, "alpha": alpha, "random_state": seed}
            impute_numbers(table, output, settings, whole, skip or [], overwrite, voice)
            return
        kinds = _read_kinds(column or [], skip or [])
        extras = {"--picture": picture, "--report": report}
        for path in extras.values():
            check_output(path, table, output, kind="HTML" if path == report else "a picture")
        _run(table, output, {"columns": kinds, "fill": fill, "random_state": seed}, extras, voice)


def _check_ways(is_low_rank: bool, whole: bool, others: bool) -> None:
    """Refuse options of the one way to fill a table beside those of the other."""
    if is_low_rank and others:
        raise ValueError(
            "--rank and --alpha go without --column, --fill, --picture and --report; leave out "
            "the ones or the others."
        )
    if whole and not is_low_rank:
        raise ValueError(
            "--whole goes with --rank or --alpha; without them whole numbers are filled with whole "
            "numbers anyway."
        )


def _read_kinds(given: list[str], skip: list[str]) -> dict[str, str]:
    """Kinds by column, from 'name=kind'."""
    kinds = dict.fromkeys(skip, "skip")
    for wish in given:
        name, sign, kind = wish.rpartition("=")
        if not sign or not name:
            raise ValueError(
                f"--column: expected 'name=kind', such as 'grade=levels', not {wish!r}."
            )
        kinds[name] = kind
    return kinds


def _run(
    source: Path,
    output: Path,
    settings: dict[str, Any],
    extras: dict[str, Path | None],
    voice: Voice,
) -> None:
    from pygeco.arrays.whole_file import whole_file
    from pygeco.diagnostics.imputation import summarize_columns
    from pygeco.estimators import LowRankImputer
    from pygeco.estimators._imputer_answers import find_missing
    from pygeco.io.matrices import TABLES, check_table, read_any_columns, write_table
    from pygeco.io.table_columns import clear_missing, has_number_names

    check_table(source)
    if output.suffix.lower() not in TABLES:
        raise ValueError(f"{output}: expected a table ending in {', '.join(TABLES)}.")
    began = time.perf_counter()
    with voice.busy(f"reading {source.name}"):
        given = read_any_columns(source)
        table = clear_missing(given.arrow)
    _check_columns(settings["columns"], table.column_names, source)
    missing = find_missing(table)
    with voice.busy(f"filling {int(missing.sum()):,} cells"):
        model = LowRankImputer(**settings).fit(table)
        filled = given.keep_cells(model.transform(table), output, table)
    with explain_write_errors(output), whole_file(output) as file:
        write_table(file, filled, output, given.named)
    columns = summarize_columns(model, missing.sum(axis=0))
    written = _write_extras(model, columns, table.num_rows, source, extras)
    told = _tell(columns, table, model.shape_) | {
        "numbers_as_names": has_number_names(given),
        "rows_without_cells": int(missing.all(axis=1).sum()),
        "seconds": round(time.perf_counter() - began, 3),
        "output": str(output),
        **written,
    }
    voice.result(told, _text(told, columns, written))


def _check_columns(kinds: dict[str, str], names: list[str], source: Path) -> None:
    unknown = [name for name in kinds if name not in names]
    if unknown:
        there = ", ".join(map(repr, names[:8]))
        raise ValueError(f"there is no column {unknown[0]!r} in {source}; it has {there}.")


def _write_extras(
    model: Any,
    columns: list[FilledColumn],
    rows: int,
    source: Path,
    extras: dict[str, Path | None],
) -> dict[str, str]:
    """The picture and the page, where they are asked for."""
    picture, page = extras["--picture"], extras["--report"]
    if picture is not None:
        from pygeco import plot

        with explain_write_errors(picture), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # the picture shows boxes there
            plot.imputation(columns).figure.savefig(picture, dpi=150)
    if page is not None:
        from pygeco.reports.imputation import report_imputation

        with explain_write_errors(page):
            report_imputation(model, columns, rows, page, f"{source.name}, filled")
    found = {"picture": picture, "report": page}
    return {name: str(path) for name, path in found.items() if path is not None}


def _tell(columns: list[FilledColumn], table: Any, shape: str) -> dict[str, Any]:
    """What a machine is told."""
    from pygeco.io.table_columns import find_stray

    left = {c.name: c.missing for c in columns if c.kind == "skip" and c.missing}
    strays = {c.name: find_stray(table.column(c.name)) for c in columns if c.kind == "skip"}
    masked = [c for c in columns if c.relative is not None]
    numbers = [c for c in masked if not c.is_category]
    cells = sum(c.masked for c in numbers)
    squares = sum(c.masked * (c.relative or 0.0) ** 2 for c in numbers)
    return {
        "rows": table.num_rows,
        "columns": [c._asdict() | {"relative_error": c.relative} for c in columns],
        "missing": sum(c.missing for c in columns),
        "filled": sum(c.missing for c in columns if c.kind != "skip"),
        "left": sum(left.values()),
        "left_by_column": left,
        "strays": {name: stray for name, stray in strays.items() if stray is not None},
        "shape": shape,
        "masked_cells": sum(c.masked for c in masked),
        "relative_error_of_numbers": (squares / cells) ** 0.5 if cells else None,
    }


def _text(told: dict[str, Any], columns: list[FilledColumn], written: dict[str, str]) -> str:
    from rich.cells import cell_len, set_cell_size

    lines = [
        f"{told['rows']:,} rows, {len(columns):,} columns; {told['missing']:,} of "
        f"{told['rows'] * len(columns):,} cells were missing, {told['filled']:,} are filled."
    ]
    shown = columns[:MAX_TOLD]
    names = [c.name or '""' for c in shown]
    wide = min(MAX_NAME_WIDTH, max(map(cell_len, names)))  # places, of which some letters take two
    for name, c in zip(names, shown, strict=True):
        label = name if cell_len(name) <= wide else f"{set_cell_size(name, wide - 1).rstrip()}…"
        lines.append(f"  {set_cell_size(label, wide)}  {c.kind:8}  {_describe(c)}")
    if len(columns) > len(shown):
        rest = f"{len(columns) - len(shown):,} more column{'s' * (len(columns) - len(shown) > 1)}"
        lines.append(f"  … and {rest}; --json and --report tell of all.")
    if told["masked_cells"]:
        lines.append(f"errors are those of {told['masked_cells']:,} known cells, masked.")
    else:
        lines.append("errors: not known, too few cells are known to mask some.")
    lines += [*tell_left_cells(told), *tell_strays(told), *tell_number_names(told)]
    if told["rows_without_cells"]:
        lines.append(
            f"warning: {told['rows_without_cells']:,} rows have no known cell; they get the same "
            "means."
        )
    lines += [f"{name}: {path}" for name, path in written.items()]
    return "\n".join([*lines, f"written: {told['output']} ({told['seconds']} s)"])


def _describe(column: FilledColumn) -> str:
    if column.kind == "skip":
        return f"left as it is: {column.note}."
    parts = [column.note, f"{column.missing:,} filled"]
    if column.relative is not None:
        null = column.show(column.null).removesuffix(" wrong")
        what = "the most frequent" if column.is_category else "the mean"
        parts.append(f"{column.show(column.error)} ({what}: {null})")
    return "; ".join(parts) + "."
