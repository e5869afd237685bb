"""`geco impute`: a table with its missing cells filled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pygeco.cli.console import Voice, told, writing
from pygeco.cli.options import Json, Overwrite
from pygeco.cli.outputs import check_output


def impute(
    table: Annotated[Path, typer.Argument(help="CSV, TSV or Parquet, with missing cells.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The table to write.")],
    rank: Annotated[
        int | None, typer.Option(min=0, help="Components; chosen by held-out cells if not given.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(min=0, help="Ridge; chosen by held-out cells if not given.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the held-out cells.")] = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Fill the missing cells of a table from a low-rank model of its columns of numbers.

    Known cells stay as they are, and so do columns of other kinds.
    """
    with told("impute"):
        _run(table, output, rank, alpha, seed, overwrite, Voice(as_json))


def _run(
    source: Path,
    output: Path,
    rank: int | None,
    alpha: float | None,
    seed: int,
    overwrite: bool,
    voice: Voice,
) -> None:
    import time

    import numpy as np

    from pygeco.arrays.whole_file import whole_file
    from pygeco.estimators import LowRankImputer
    from pygeco.io.matrices import TABLES, read_table, write_table

    for path in (source, output):
        if path.suffix.lower() not in TABLES:
            raise ValueError(f"{path}: expected a table ending in {', '.join(TABLES)}.")
    check_output(output, source, overwrite=overwrite)
    began = time.perf_counter()
    with voice.busy(f"reading {source.name}"):
        table = read_table(source)
    holes = np.isnan(table.values)
    model = LowRankImputer(rank, alpha=alpha, random_state=seed)
    with voice.busy(f"filling {int(holes.sum()):,} cells"):
        filled = model.fit_transform(table.values) if holes.any() else table.values
    with writing(output), whole_file(output) as file:
        write_table(file, table.filled(filled), output, table.named)
    values = {
        "rows": len(holes),
        "columns": len(table.names),
        "other_columns": table.others,
        "filled": int(holes.sum()),
        "rank": model.n_components_ if holes.any() else None,
        "alpha": model.alpha_ if holes.any() else None,
        "seconds": round(time.perf_counter() - began, 3),
        "output": str(output),
    }
    voice.result(values, _text(values, holes.size))


def _text(found: dict[str, object], cells: int) -> str:
    lines = [
        f"{found['rows']:,} rows, {found['columns']} columns of numbers; "
        f"{found['filled']:,} of {cells:,} cells were missing."
    ]
    others = found["other_columns"]
    if isinstance(others, list) and others:
        lines.append(f"left as they are: {', '.join(others)}.")
    if found["rank"] is not None:
        lines.append(f"filled from {found['rank']} components, ridge {found['alpha']:g}.")
    return "\n".join([*lines, f"written: {found['output']} ({found['seconds']} s)"])
