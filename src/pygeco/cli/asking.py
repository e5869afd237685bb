"""`geco predict`, `geco recommend`, `geco similar`: questions to a model file."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pygeco.cli.answers import TableOutput, add_titles, check_table_output, write_answer
from pygeco.cli.console import Voice, report_errors
from pygeco.cli.models import (
    find_known_ids,
    is_of_clicks,
    open_model,
    parse_user_ids,
    read_listed_ids,
)
from pygeco.cli.newcomers import (
    Newcomers,
    parse_newcomers,
    predict_with,
    read_new_sides,
    read_newcomers,
    speak_of,
)
from pygeco.cli.options import (
    Count,
    Item,
    Json,
    Model,
    Moment,
    Overwrite,
    Title,
    TitleItem,
    Titles,
    User,
)
from pygeco.cli.reading import read_for
from pygeco.cli.times import parse_moment, set_time

ROWS_AT_ONCE = 1 << 20  # pairs predicted at once
USERS_AT_ONCE = 4096  # users ranked at once

Unknown = Annotated[
    Literal["mean", "nan", "error"], typer.Option(help="What to do with ids not fitted.")
]

UserTable = Annotated[
    Path | None,
    typer.Option("--users", help="Table of attributes, with ids, of users that may be new."),
]
ItemTable = Annotated[
    Path | None, typer.Option("--items", help="The same of items that may be new.")
]
NewUser = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE,…",
        help="What is known of a new user, such as age=25,occupation=student; may be given again. "
        "Put values with commas in double quotes; what is not said is missing.",
    ),
]
NewUsers = Annotated[
    Path | None,
    typer.Option(help="Table of users by their attributes, as `geco fit --users` takes it."),
]
Candidates = Annotated[
    Path | None,
    typer.Option(help="File with the items to choose from, one a line; others stay out."),
]
Excluded = Annotated[
    Path | None, typer.Option(help="File with items that are in no list, one a line.")
]
UserIds = Annotated[list[str] | None, typer.Argument(metavar="[USER]", help="Ids of users.")]
By = Annotated[
    str,
    typer.Option(
        help="By predicted rating alone (value), by how likely it is chosen (choice), or both."
    ),
]


def predict(
    model: Model,
    pairs: Annotated[Path, typer.Argument(help="File with users and items; - is standard input.")],
    output: TableOutput = None,
    user: User = None,
    item: Item = None,
    std: Annotated[
        bool, typer.Option("--std", help="Add the standard deviation of a new rating.")
    ] = False,
    users: UserTable = None,
    items: ItemTable = None,
    time: Moment = None,
    unknown: Unknown = "mean",
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Predict the rating of each pair of user and item in a file; the score of a model of clicks.

    An id that was not fitted is predicted by its attributes in --users or --items, if the model
    was fitted with some. Without, it counts as the average user or item, unless --unknown says
    otherwise; the column `known` is false there. Where time says something, it is that of the
    file's column of times, or of --time.
    """
    with report_errors("predict"):
        check_table_output(output, model, pairs, users, items, overwrite=overwrite)
        voice, fitted = Voice(as_json), open_model(model)
        new = read_new_sides(fitted, (users, items), voice)
        asked = read_for(fitted, pairs, {"user": user, "item": item}, voice)
        asked = set_time(asked, parse_moment(fitted, time))
        called = "--items" if users is None else "--users"
        parts = []
        with speak_of("predict", called), voice.progress("predicting") as bar:
            for block in _blocks(asked.num_rows, ROWS_AT_ONCE, bar):
                some = asked.slice(block.start, ROWS_AT_ONCE)
                parts.append(predict_with(fitted, some, new, return_std=std, unknown=unknown))
        import pyarrow as pa

        table = pa.concat_tables(parts)
        if is_of_clicks(fitted):
            names = ["score" if name == "prediction" else name for name in table.column_names]
            table = table.rename_columns(names)
        write_answer(table, output, voice)


def recommend(
    model: Model,
    named: UserIds = None,
    user: Annotated[
        list[str] | None, typer.Option("--user", help="The same; may be given again.")
    ] = None,
    everyone: Annotated[bool, typer.Option("--all", help="Every user that was fitted.")] = False,
    new_user: NewUser = None,
    new_users: NewUsers = None,
    k: Count = 10,
    by: By = "auto",
    titles: Titles = None,
    title: Title = None,
    title_item: TitleItem = None,
    include_seen: Annotated[
        bool, typer.Option("--include-seen", help="Also items that the user has rated.")
    ] = False,
    items: Candidates = None,
    exclude: Excluded = None,
    time: Moment = None,
    unknown: Unknown = "mean",
    output: TableOutput = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """The k items to recommend to a user, best first.

    Lists count how likely the user is to choose an item and how likely they are to like it.

    A user that the model does not know gets the list of the average user, and a column `known` then
    says which users those are, unless --unknown says otherwise. A model that was fitted with
    attributes of users has lists for new ones by --new-user and --new-users.
    """
    with report_errors("recommend"):
        users = [*(named or []), *(user or [])]
        _check_choice(users, everyone, new_user, new_users)
        inputs = model, titles, items, exclude, new_users
        check_table_output(output, *inputs, overwrite=overwrite)
        voice, fitted = Voice(as_json), open_model(model)
        new = _find_newcomers(fitted, new_user, new_users, voice)
        if new is not None:
            ids = new.names
        elif everyone:
            ids = fitted.row_ids_
        else:
            ids = parse_user_ids(fitted.row_ids_, users, unknown)
        limits: dict[str, Any] = {
            "items": read_listed_ids(fitted, items, "--items"),
            "exclude": read_listed_ids(fitted, exclude, "--exclude"),
        }
        limits |= {"exclude_seen": not include_seen, "unknown": unknown, "by": by}
        limits["time"] = parse_moment(fitted, time)
        table = _rank_for(ids, fitted, voice, k, new, **limits)
        _tell_of_empty_lists(table, len(ids), voice)
        _tell_order(fitted, by, voice)
        table = add_titles(table, fitted, titles, title_item, title)
        table = table if new is not None else _mark_unknown(table, fitted, ids, voice)
        write_answer(table, output, voice)


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
    output: TableOutput = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """The k items most like one, or users like a user: the cosine of their vectors."""
    with report_errors("similar"):
        if users and (titles, title, title_item) != (None, None, None):
            raise ValueError("--titles: items have titles, users do not; leave it out.")
        check_table_output(output, model, titles, overwrite=overwrite)
        fitted = open_model(model)
        if users:
            ids = find_known_ids(fitted.row_ids_, [which], "ID")
            best, kind = fitted.similar_rows(ids, k), "user"
        else:
            ids = find_known_ids(fitted.column_ids_, [which], "ID")
            best, kind = fitted.similar(ids, k), "item"
        table = _named(best, "to", kind, "similarity").drop_columns(["to"])
        write_answer(add_titles(table, fitted, titles, title_item, title), output, Voice(as_json))


def _check_choice(*given: object) -> None:
    """Fail unless users are named in one way."""
    if sum(map(bool, given)) != 1:
        raise ValueError(
            "--user: name one or more users, or give --all; or describe new ones by --new-user or "
            "--new-users; one of these."
        )


def _find_newcomers(
    model: Any, described: list[str] | None, path: Path | None, voice: Voice
) -> Newcomers | None:
    """The new users that lists are asked for, if any."""
    if described:
        return parse_newcomers(model, described)
    return None if path is None else read_newcomers(model, path, 0, "--new-users", voice)


def _rank_for(
    users: Any, model: Any, voice: Voice, k: int, new: Newcomers | None, **limits: Any
) -> Any:
    """The lists of these users, one below the other."""
    import pyarrow as pa

    from pygeco.errors import UnknownIdWarning

    parts, called = [], "score" if is_of_clicks(model) else "prediction"
    with (
        speak_of("recommend", "--user" if new is None else new.option),
        voice.progress("ranking") as bar,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", UnknownIdWarning)  # the table marks them
        for block in _blocks(len(users), USERS_AT_ONCE, bar):
            rows, told = (users[block], None) if new is None else new.ask(block)
            best = model.recommend(rows, k, new_rows=told, **limits)
            best.rows = users[block]
            parts.append(_named(best, "user", "item", called))
    return pa.concat_tables(parts)


def _tell_order(fitted: Any, by: str, voice: Voice) -> None:
    lists = getattr(fitted.model_, "lists", None)
    if by == "auto" and lists is not None and math.isfinite(lists.power):
        voice.note("ordered by what is likely chosen and liked; --by value: by the prediction.")


def _tell_of_empty_lists(table: Any, asked: int, voice: Voice) -> None:
    """Say that users have no list, where an empty table would look like a fault."""
    empty = asked - len(table.column("user").unique())
    if empty > 0:
        voice.note(
            f"{empty:,} of {asked:,} users have no list: none of the items to choose from is new "
            "to them; --include-seen lists those too."
        )


def _blocks(count: int, size: int, bar: Callable[[float], object]) -> Iterator[slice]:
    """Places 0 … count − 1 in blocks, the bar told after each."""
    for at in range(0, count, size):
        yield slice(at, at + size)
        bar(min(1.0, (at + size) / count))


def _mark_unknown(table: Any, model: Any, users: Any, voice: Voice) -> Any:
    """The table with a column `known`, where some of the users that were asked for are not."""
    from pygeco.io.tables import find_positions

    lost = find_positions(model.row_ids_, users) < 0
    if not lost.any():
        return table
    voice.note(f"{lost.sum():,} of {len(lost):,} users are unknown to the model.")
    listed = table.column("user").to_numpy(zero_copy_only=False)
    return table.append_column("known", [find_positions(model.row_ids_, listed) >= 0])


def _named(best: Any, *names: str) -> Any:
    """The ranking as a table, in the words of the command line."""
    best.names = names
    return best.to_arrow()
