"""Files of ratings: those of a fit, and those for a model, read as its own were."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from pygeco.cli.console import Voice
from pygeco.cli.fit_plan import Plan
from pygeco.cli.times import check_times, find_times_name

ROLES = ("user", "item", "rating", "timestamp")


class Ratings(NamedTuple):
    """What to fit, what to predict, and what was found, in words."""

    fitted: Any
    held: Any
    found: str
    columns: tuple[str, ...] = ()
    clicks: str = ""  # why these are clicks; empty for ratings
    times: str | None = None  # what the file calls its times
    held_times: str | None = None  # and the file of what is to be predicted


def is_in_parts(ratings: str) -> bool:
    """Whether the workers read it: a folder, an address, or a Parquet file."""
    path = Path(ratings)
    if "://" in ratings or path.is_dir():
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def read_ratings(plan: Plan, voice: Voice, file: Any = None) -> Ratings:
    """The ratings of the plan; `file` is that of the plan where it was opened already."""
    from pygeco.data.split import split_cells
    from pygeco.io.ratings import read_columns, read_matrix

    with voice.progress(f"reading {plan.name}") as bar:
        source = plan.ratings if file is None else file
        columns: dict[str, str | int | None] = {**plan.columns}
        reading = (
            read_matrix(source, columns, bar)
            if plan.matrix
            else read_columns(source, columns, bar, times=plan.wanted_times)
        )
    table, found = drop_marked(reading, plan.settings["missing_values"])
    called = find_times_name(reading)
    known = Ratings(table, None, found, reading.columns, times=called, held_times=called)
    if not plan.holdout:
        return known
    out = split_cells(table.num_rows, plan.holdout, plan.seed)
    return known._replace(fitted=table.filter(~out), held=table.filter(out))


def read_parts(plan: Plan, voice: Voice, client: Any) -> Ratings:
    """Parquet files, by the workers."""
    from pygeco.io.partitioned import read_partitioned

    with voice.progress(f"reading {plan.name}") as bar:
        found = read_partitioned(plan.ratings, client, **_say_how(plan), progress=bar)
    return Ratings(found, found.held, found.found, found.names)


def read_folder(plan: Plan, voice: Voice) -> Ratings:
    """Parquet files of a folder, part by part, on this machine."""
    from pygeco.io.streamed import read_streamed

    for option, is_given in (
        ("--implicit", plan.implicit),
        ("--matrix", plan.matrix),
        ("--times", plan.times is not None),
    ):
        if is_given:
            raise ValueError(f"{option}: is for a file, and {plan.name} is a folder; leave it out.")
    with voice.progress(f"reading {plan.name}") as bar:
        found = read_streamed(plan.ratings, **_say_how(plan), progress=bar)
    return Ratings(found, found.held, found.found, found.names)


def _say_how(plan: Plan) -> dict[str, Any]:
    """What readers of Parquet files are told."""
    return {
        "columns": list(plan.columns.values()),
        "duplicates": plan.settings["duplicates"],
        "holdout": (plan.holdout, plan.seed) if plan.holdout else None,
        "missing_values": plan.settings["missing_values"],
    }


def read_test(plan: Plan, voice: Voice, ratings: Ratings) -> Ratings:
    """With those of the file to predict, if there is one, ids of the kind of the fitted ones."""
    from pygeco.io.ratings import read_columns

    if plan.test is None:
        return ratings
    kinds = {field.name: str(field.type) for field in getattr(ratings.fitted, "schema", ())}
    texts = [role for role in ("user", "item") if kinds.get(role) == "string"]
    with voice.progress(f"reading {plan.test.name}") as bar:
        times = plan.wanted_times
        reading = read_columns(str(plan.test), dict(plan.columns), bar, texts=texts, times=times)
    table, found = drop_marked(reading, plan.settings["missing_values"])
    voice.note(found)
    return ratings._replace(held=table, held_times=find_times_name(reading))


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
            texts=find_text_roles(model),
            remembered=dict(zip(ROLES, told, strict=False)),
            times=None if model.drift_ is not None else False,
        )
    check_times(path.name, reading)
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


def find_text_roles(model: Any) -> list[str]:
    """The roles whose ids are text in the model, and so in every file that speaks of them."""
    ids = {"user": model.row_ids_, "item": model.column_ids_}
    return [role for role, known in ids.items() if known.dtype.kind == "O"]
