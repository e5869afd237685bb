"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[Path, typer.Argument(help="A model file that `geco fit` wrote.")]
User = Annotated[
    str | None,
    typer.Option("--user", help="Column of the users: its name, or its number from 1."),
]
Item = Annotated[
    str | None,
    typer.Option("--item", help="Column of the items: its name, or its number from 1."),
]
Rating = Annotated[
    str | None,
    typer.Option("--rating", help="Column of the ratings: its name, or its number from 1."),
]
Times = Annotated[
    str | None,
    typer.Option(
        "--times",
        help="Column of when a rating was given: its name, or its number from 1; by default one "
        "called timestamp, date, rated_at or the like, or, without names, one of times.",
    ),
]
Moment = Annotated[
    str | None,
    typer.Option(
        "--time",
        help="When: a date, a time such as 2024-05-01T12:30, or seconds since 1970; by default "
        "the end of the ratings.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        help="A rating that means 'no rating', such as -1; may be given again. none keeps all.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Write over a file of another kind that is there already."),
]
Titles = Annotated[
    Path | None,
    typer.Option(help="File with the titles of the items, such as MovieLens' movies.dat."),
]
Title = Annotated[
    str | None,
    typer.Option("--title", help="Column of the titles in --titles: its name, or its number."),
]
TitleItem = Annotated[
    str | None,
    typer.Option("--title-item", help="Column of the items in --titles: its name, or its number."),
]
Count = Annotated[int, typer.Option("-k", "--count", min=1, help="How many items.")]
