"""Files of ratings or pairs for a model, read as `geco fit` was told to read its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pygeco.cli.console import Voice

ROLES = ("user", "item", "rating")


def read_for(model: Any, path: Path, given: dict[str, str | None], voice: Voice) -> Any:
    """The table of a file with the columns of `given`, a column for each role.

    A column that is not given is the one that the model was fitted to, if the file has it; ratings
    that the fit took for missing are left out.
    """
    from pygeco.io.ratings import read_columns

    columns: dict[str, str | int | None] = {**given}
    told = vars(model).get("file_columns_") or ()
    with voice.progress(f"reading {path.name}") as bar:
        reading = read_columns(
            str(path),
            columns,
            bar,
            texts=text_roles(model),
            remembered=dict(zip(ROLES, told, strict=False)),
        )
    table, found = drop_marked(reading, model.missing_values)
    voice.note(found)
    return table


def drop_marked(reading: Any, missing_values: Any) -> tuple[Any, str]:
    """The table without ratings that mean "no rating", and what was found, with their number."""
    from pygeco.io.value_scale import are_marks, parse_marks

    marks = parse_marks(missing_values)
    if not marks or "rating" not in reading.table.column_names:
        return reading.table, reading.found
    lost = are_marks(reading.table.column("rating").to_numpy(), marks)
    shown = " or ".join(f"{mark:g}" for mark in marks)
    said = f"{reading.found[:-1]}; {int(lost.sum()):,} ratings of {shown} are left out."
    return reading.table.filter(~lost), said


def text_roles(model: Any) -> list[str]:
    """The roles whose ids are text in the model, and so in every file that speaks of them."""
    ids = {"user": model.row_ids_, "item": model.column_ids_}
    return [role for role, known in ids.items() if known.dtype.kind == "O"]
