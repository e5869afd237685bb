"""`geco predict`, `geco recommend`, `geco similar`: questions to a model file."""

from __future__ import annotations

import io
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from pygeco.cli.console import Voice, told, writing
from pygeco.cli.options import Count, Item, Json, Model, Overwrite, Title, TitleItem, Titles, User
from pygeco.cli.outputs import check_output
from pygeco.cli.reading import read_for
from pygeco.errors.visible_text import escape_controls

BLOCK = 1 << 20  # pairs predicted at once
USERS = 4096  # users ranked at once
WIDEST = 1 << 16  # columns of a terminal, to measure a table by
UNCHECKED = 1 << 26  # bytes of a model file from which its arrays stay in it, checksums or not

Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="File to write: .csv, .tsv, .parquet, .arrow or .jsonl; else CSV."
    ),
]
Unknown = Annotated[
    Literal["mean", "nan", "error"], typer.Option(help="What to do with ids not fitted.")
]


def predict(
    model: Model,
    pairs: Annotated[Path, typer.Argument(help="File with users and items; - is standard input.")],
    output: Output = None,
    user: User = None,
    item: Item = None,
    std: Annotated[
        bool, typer.Option("--std", help="Add the standard deviation of a new rating.")
    ] = False,
    unknown: Unknown = "mean",
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Predict the rating of each pair of user and item in a file.

    An id that the model does not know counts as the average user or item, unless --unknown says
    otherwise.
    """
    with told("predict"):
        check_table_output(output, model, pairs, overwrite=overwrite)
        voice, fitted = Voice(as_json), opened(model)
        asked = read_for(fitted, pairs, {"user": user, "item": item}, voice)
        parts = []
        with voice.progress("predicting") as bar:
            for at in range(0, asked.num_rows, BLOCK):
                part = asked.slice(at, BLOCK)
                parts.append(fitted.predict(part, return_std=std, unknown=unknown))
                bar(min(1.0, (at + BLOCK) / asked.num_rows))
        import pyarrow as pa

        give(pa.concat_tables(parts), output, voice)


def recommend(
    model: Model,
    user: Annotated[
        list[str] | None, typer.Option("--user", help="A user's id; may be given again.")
    ] = None,
    everyone: Annotated[bool, typer.Option("--all", help="Every user that was fitted.")] = False,
    k: Count = 10,
    titles: Titles = None,
    title: Title = None,
    title_item: TitleItem = None,
    include_seen: Annotated[
        bool, typer.Option("--include-seen", help="Also items that the user has rated.")
    ] = False,
    items: Annotated[
        Path | None,
        typer.Option(help="File with the items to choose from, one a line; others stay out."),
    ] = None,
    exclude: Annotated[
        Path | None, typer.Option(help="File with items that are in no list, one a line.")
    ] = None,
    unknown: Unknown = "mean",
    output: Output = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """The k items with the highest predicted rating for a user, best first.

    A user that the model does not know gets the list of the average user, and a column `known` then
    says which users those are, unless --unknown says otherwise.
    """
    with told("recommend"):
        if bool(user) == everyone:
            raise ValueError("--user: name one or more users, or give --all.")
        check_table_output(output, model, titles, items, exclude, overwrite=overwrite)
        from pygeco.errors import UnknownIdWarning

        voice, fitted = Voice(as_json), opened(model)
        ids = fitted.row_ids_ if everyone else _users(fitted.row_ids_, user or [], unknown)
        limits: dict[str, Any] = {
            "items": _listed_ids(fitted, items, "--items"),
            "exclude": _listed_ids(fitted, exclude, "--exclude"),
        }
        limits |= {"exclude_seen": not include_seen, "unknown": unknown}
        parts = []
        with voice.progress("ranking") as bar, warnings.catch_warnings():
            warnings.simplefilter("ignore", UnknownIdWarning)  # the table marks them
            for at in range(0, len(ids), USERS):
                best = fitted.recommend(ids[at : at + USERS], k, **limits)
                parts.append(_named(best, "user", "item", "prediction"))
                bar(min(1.0, (at + USERS) / len(ids)))
        import pyarrow as pa

        table = with_titles(pa.concat_tables(parts), fitted, titles, title_item, title)
        give(_mark_unknown(table, fitted, ids, voice), output, voice)


def similar(
    model: Model,
    which: Annotated[
        str, typer.Argument(metavar="ID", help="The item's id; a user's with --users.")
    ],
    users: Annotated[bool, typer.Option("--users", help="Users like a user.")] = False,
    k: Count = 10,
    titles: Titles = None,
    title: Title = None,
    title_item: TitleItem = None,
    output: Output = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """The k items most like one, or users like a user: the cosine of their vectors."""
    with told("similar"):
        if users and (titles, title, title_item) != (None, None, None):
            raise ValueError("--titles: items have titles, users do not; leave it out.")
        check_table_output(output, model, titles, overwrite=overwrite)
        fitted = opened(model)
        if users:
            ids = known_ids(fitted.row_ids_, [which], "ID")
            best, kind = fitted.similar_rows(ids, k), "user"
        else:
            ids = known_ids(fitted.column_ids_, [which], "ID")
            best, kind = fitted.similar(ids, k), "item"
        table = _named(best, "to", kind, "similarity").drop_columns(["to"])
        give(with_titles(table, fitted, titles, title_item, title), output, Voice(as_json))


def opened(path: Path) -> Any:
    """The model, of the kind that knows users and items."""
    from pygeco import load
    from pygeco.errors import ModelFileError

    model = load(path, mmap=path.stat().st_size > UNCHECKED)
    if getattr(model, "row_ids_", None) is None:
        raise ModelFileError(
            f"{path} holds a {type(model).__name__} without users and items; use one that "
            "`geco fit` wrote."
        )
    return model


def check_table_output(output: Path | None, *inputs: Path | None, overwrite: bool) -> None:
    from pygeco.io.writers import check_ending

    if output is not None:
        check_ending(output)
    check_output(output, *inputs, overwrite=overwrite)


def _listed_ids(model: Any, path: Path | None, option: str) -> Any:
    """The ids in a file, one a line."""
    if path is None:
        return None
    lines = path.read_text(encoding="utf-8").splitlines()
    texts = [line.strip() for line in lines if line.strip()]
    return known_ids(model.column_ids_, texts, option)


def _users(known: Any, texts: list[str], unknown: str) -> Any:
    """Ids of users, of whom the model may not know all; text that can be no id is refused."""
    from pygeco.io.tables import parsed_ids

    ids = parsed_ids(known, texts)
    if unknown == "error" or ids.dtype.kind != known.dtype.kind:
        return known_ids(known, texts, "--user")
    return ids


def _mark_unknown(table: Any, model: Any, users: Any, voice: Voice) -> Any:
    """The table with a column `known`, where some of the users that were asked for are not."""
    from pygeco.io.tables import positions

    lost = positions(model.row_ids_, users) < 0
    if not lost.any():
        return table
    voice.note(f"{lost.sum():,} of {len(lost):,} users are unknown to the model.")
    listed = table.column("user").to_numpy(zero_copy_only=False)
    return table.append_column("known", [positions(model.row_ids_, listed) >= 0])


def known_ids(known: Any, texts: list[str], option: str) -> Any:
    from pygeco.io.tables import parsed_ids, positions

    wanted = parsed_ids(known, texts)
    if np.any(positions(known, wanted) < 0):
        # One by one: beside text that can be no id, all are taken for text.
        wrong = next(one for one in texts if positions(known, parsed_ids(known, [one]))[0] < 0)
        raise ValueError(
            f"{option}: the model does not know {wrong!r}; it has {len(known):,} ids from "
            f"{known[0]!s} to {known[-1]!s}."
        )
    return wanted


def _named(best: Any, *names: str) -> Any:
    """The ranking as a table, in the words of the command line."""
    best.names = names
    return best.to_arrow()


def titles_for(
    model: Any, path: Path | None, item: str | None, title: str | None
) -> list[str] | None:
    """A title for each item of the model; None without a file of titles."""
    from pygeco.io.titles import read_titles

    if path is not None:
        return read_titles(path, model.column_ids_, item=item, title=title)
    if item is not None or title is not None:
        raise ValueError("--title: names a column of the file of titles; give it with --titles.")
    return None


def with_titles(
    table: Any, model: Any, path: Path | None, item: str | None, title: str | None
) -> Any:
    """The table with a column of titles."""
    names = titles_for(model, path, item, title)
    if names is None:
        return table
    import pyarrow as pa

    from pygeco.io.tables import positions

    titles = np.array([*names, None], dtype=object)[:-1]
    at = positions(model.column_ids_, table.column("item").to_numpy(zero_copy_only=False))
    return table.append_column("title", pa.array(titles[at]))


def give(table: Any, output: Path | None, voice: Voice) -> None:
    """The table to a file, or to standard output: JSON, CSV, or aligned on a terminal."""
    from pygeco.io.writers import write_table

    if output is not None:
        with writing(output):
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


def _show(table: Any) -> None:
    """Aligned, or as CSV where the terminal is too narrow for the columns."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None)
    for name in table.column_names:
        shown.add_column(
            escape_controls(name), justify="left" if name == "title" else "right", no_wrap=True
        )
    for row in table.to_pylist():
        cells = (f"{it:.3f}" if isinstance(it, float) else str(it) for it in row.values())
        shown.add_row(*map(escape_controls, cells))
    console = Console(markup=False, highlight=False)
    if console.measure(shown, options=console.options.update(width=WIDEST)).maximum > console.width:
        _print_csv(table)
    else:
        console.print(shown)
