"""`geco impute --rank` or `--alpha`: columns of numbers from a low-rank matrix."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygeco.cli.console import Voice, explain_write_errors
from pygeco.cli.outputs import check_output

if TYPE_CHECKING:
    from pygeco.arrays.low_rank import Array
    from pygeco.estimators import LowRankImputer
    from pygeco.io.matrices import Table
    from pygeco.io.table_columns import Columns


def impute_numbers(
    source: Path,
    output: Path,
    settings: dict[str, Any],
    whole: bool,
    skip: list[str],
    overwrite: bool,
    voice: Voice,
) -> None:
    import numpy as np

    from pygeco.arrays.whole_file import whole_file
    from pygeco.io.matrices import TABLES, check_table, read_table, write_table
    from pygeco.io.table_columns import has_number_names, inspect_columns

    check_table(source)
    if output.suffix.lower() not in TABLES:
        raise ValueError(f"{output}: expected a table ending in {', '.join(TABLES)}.")
    check_output(output, source, overwrite=overwrite)
    began = time.perf_counter()
    with voice.busy(f"reading {source.name}"):
        table = read_table(source)
        columns = inspect_columns(table)
    part = _part(table, columns, skip, source)
    holes = int(np.isnan(table.values[:, part]).sum())
    rounded = [name in columns.whole for name in np.array(table.names)[part]] if whole else []
    with voice.busy(f"filling {holes:,} cells"):
        filled, found = _fill(table.values[:, part], settings, rounded)
    values = np.full(table.values.shape, np.nan)
    values[:, part] = filled
    with explain_write_errors(output), whole_file(output) as file:
        write_table(file, table.whole.keep_cells(table.filled(values), output), output, table.named)
    told = {
        "numbers_as_names": has_number_names(table.whole),
        "rows": len(values),
        "columns": len(table.names),
        "other_columns": table.others,
        "missing": int(np.isnan(table.values).sum()),
        "filled": holes,
        **_left(table, columns, skip),
        "row_number_columns": [name for name in columns.row_numbers if name not in skip],
        "rows_without_numbers": int(np.isnan(table.values[:, part]).all(axis=1).sum()),
        "strays": columns.strays,
        **found,
        "seconds": round(time.perf_counter() - began, 3),
        "output": str(output),
    }
    voice.result(told, _text(told, values.size))


def _part(table: Table, columns: Columns, skip: list[str], source: Path) -> list[int]:
    """The places of the columns that are filled; a sentence where there are none."""
    import numpy as np

    unknown = [name for name in skip if name not in table.arrow.column_names]
    if unknown:
        there = ", ".join(map(repr, table.arrow.column_names[:8]))
        raise ValueError(f"--skip: there is no column {unknown[0]!r} in {source}; it has {there}.")
    apart = {*skip, *columns.empty}
    part = [k for k, name in enumerate(table.names) if name not in apart]
    if not part:
        raise ValueError(f"{source} has no column with a known number to fill from.")
    for k in part:
        if np.isinf(table.values[:, k]).any():
            raise ValueError(
                f"{source}: column {table.names[k]!r} holds an infinite number; make the cell "
                "empty, or leave the column out with --skip."
            )
    return part


def _fill(
    X: Array, settings: dict[str, Any], rounded: list[bool]
) -> tuple[Array, dict[str, object]]:
    """The cells filled, and how, with the error at masked cells; a table without gaps as it is."""
    import numpy as np

    from pygeco.estimators import LowRankImputer
    from pygeco.estimators.masked_error import measure_masked_error

    model: LowRankImputer = LowRankImputer(**settings)

    def fill(X: Array) -> Array:
        found = np.asarray(model.fit_transform(X))
        found[:, rounded] = np.round(found[:, rounded])
        return found

    error, filled, gaps = None, X, bool(np.isnan(X).any())
    if gaps:
        error = measure_masked_error(fill, X, settings["random_state"])
        filled = fill(X)
    return filled, {
        "rank": model.n_components_ if gaps else None,
        "alpha": model.alpha_ if gaps else None,
        "masked_cells": error.cells if error else 0,
        "masked_error": error.error if error else None,
        "masked_error_of_means": error.means if error else None,
    }


def _left(table: Table, columns: Columns, skip: list[str]) -> dict[str, object]:
    """The missing cells that stay, by column, and the columns without a known cell."""
    import numpy as np

    counts = dict(columns.missing_elsewhere)
    for name in {*skip, *columns.empty} & {*table.names}:
        counts[name] = int(np.isnan(table.values[:, table.names.index(name)]).sum())
    order = [name for name in table.arrow.column_names if counts.get(name)]
    return {
        "skipped": skip,
        "empty_columns": columns.empty,
        "left": sum(counts.values()),
        "left_by_column": {name: counts[name] for name in order},
    }


def _text(found: dict[str, Any], cells: int) -> str:
    lines = [
        f"{found['rows']:,} rows, {found['columns']} columns of numbers; "
        f"{found['missing']:,} of {cells:,} cells were missing."
    ]
    apart = [
        *found["other_columns"],
        *(n for n in found["skipped"] if n not in found["other_columns"]),
    ]
    if apart:
        lines.append(f"left as they are: {', '.join(apart)}.")
    if found["rank"] is not None:
        how = "by the evidence" if found["alpha"] is None else f"ridge {found['alpha']:g}"
        lines.append(f"filled from {found['rank']} components, {how}: {found['filled']:,} cells.")
        lines.append(_error_text(found))
    lines += [*tell_left_cells(found), *tell_number_names(found)]
    return "\n".join(
        [*lines, *_warnings(found), f"written: {found['output']} ({found['seconds']} s)"]
    )


def _error_text(found: dict[str, Any]) -> str:
    if found["masked_error"] is None:
        return "error: not known, too few cells are known to mask some."
    return (
        f"error at {found['masked_cells']:,} known cells, masked: {found['masked_error']:.3f} "
        f"column deviations (the column means: {found['masked_error_of_means']:.3f})."
    )


def tell_number_names(found: dict[str, Any]) -> list[str]:
    """That a first line of numbers is none of data, if there is one."""
    if not found["numbers_as_names"]:
        return []
    return [
        "the numbers in the first line are taken for names of columns; if they are data, put a "
        "line of names above them."
    ]


def tell_left_cells(found: dict[str, Any]) -> list[str]:
    """Which cells no column could be filled at, if any."""
    if not found["left"]:
        return []
    counts = ", ".join(f"{name} {count:,}" for name, count in found["left_by_column"].items())
    cells = "cell" if found["left"] == 1 else "cells"
    return [f"still missing: {found['left']:,} {cells} ({counts})."]


def tell_strays(found: dict[str, Any]) -> list[str]:
    """Columns that are not filled because of a text among their numbers."""
    return [
        f"warning: {name!r} holds text such as {stray!r} among its numbers and is not filled; "
        "make such cells empty."
        for name, stray in found["strays"].items()
    ]


def _warnings(found: dict[str, Any]) -> list[str]:
    """A sentence for each thing that a reader may not expect."""
    lines = [
        f"warning: {name!r} has no known cell; it stays empty." for name in found["empty_columns"]
    ]
    lines += [
        f"warning: {name!r} counts the rows; if it is no measurement, pass --skip {name!r}."
        for name in found["row_number_columns"]
    ]
    lines += tell_strays(found)
    if found["rows_without_numbers"]:
        lines.append(
            f"warning: {found['rows_without_numbers']:,} rows have no known number; they get the "
            "same means."
        )
    return lines
