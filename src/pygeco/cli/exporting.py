"""`geco export`: factors for other programs, and an index for approximate search."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pygeco.cli.console import OutputError, Voice, explain_write_errors, report_errors
from pygeco.cli.models import open_model
from pygeco.cli.options import Json, Model, Overwrite
from pygeco.cli.outputs import check_output


def export(
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .npz or .parquet file, or a folder.")
    ],
    side: Annotated[
        Literal["items", "users"], typer.Option(help="Whose vectors go into a .parquet file.")
    ] = "items",
    index: Annotated[
        Literal["hnswlib", "faiss"] | None,
        typer.Option(help="With a folder: an index of the items by this package, and its recall."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Write the factors for other programs.

    .npz holds everything. .parquet has id, offset and vector of one side, the vectors so that the
    inner product of a user's with an item's ranks items: the last coordinate is the item's offset.
    A folder, which is a name without an ending, gets each array as a .npy file and both sides as
    .parquet. --index adds an index for approximate search, with the share of the ten best items
    that it finds; it is asked for a user's vector with a zero at its end.
    """
    with report_errors("export"):
        if output.suffix not in (".npz", ".parquet", ""):
            raise ValueError(
                f"--output: must end in .npz or .parquet, or be a folder, unlike {output.name!r}."
            )
        if index is not None and output.suffix:
            raise ValueError("--index: is written into a folder; give -o a name without an ending.")
        if index is not None:
            from pygeco.io.vector_index import import_package

            import_package(index)  # before the work
        fitted = _write_factors(model, output, side, overwrite)
        m, n = fitted.factors_.shape
        values = {"output": str(output), "users": m, "items": n, "rank": fitted.rank_}
        what = {".parquet": f"vectors of the {side}"}.get(output.suffix, "factors")
        text = f"{what}, rank {fitted.rank_}: {output}"
        if index is not None:
            found = _write_index(fitted, output, index)
            values |= {"index": found._asdict()}
            text += (
                f"\nitems.{index}: {found.recall:.1%} of the {found.k} best items are found, with "
                f"{found.width} candidates while searching, over {found.rows:,} users"
            )
        Voice(as_json).result(values, text)


def _write_factors(model: Path, output: Path, side: str, overwrite: bool) -> Any:
    """Write what was asked for, and give the model."""
    is_folder = not output.suffix
    if is_folder and output.exists() and not output.is_dir():
        raise OutputError(
            f"cannot write {output}: it is a file; give the name of a folder with -o."
        )
    if not is_folder:
        check_output(output, model, overwrite=overwrite)
    fitted = open_model(model)
    with explain_write_errors(output):
        target = f"{output}/" if is_folder else output
        fitted.export(target, "columns" if side == "items" else "rows")
    return fitted


def _write_index(fitted: Any, folder: Path, kind: str) -> Any:
    from pygeco.io.vector_index import write_index

    vectors, file = fitted.vectors(), folder / f"items.{kind}"
    with explain_write_errors(file):
        return write_index(vectors.columns, vectors.rows, file, kind)
