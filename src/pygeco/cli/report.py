"""`geco report`: one HTML page about a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pygeco.cli.answers import read_titles_for
from pygeco.cli.click_reading import read_clicks_for
from pygeco.cli.console import Voice, explain_write_errors, report_errors
from pygeco.cli.models import is_of_clicks, open_model
from pygeco.cli.options import Item, Json, Model, Overwrite, Rating, Title, TitleItem, Titles, User
from pygeco.cli.outputs import check_output
from pygeco.cli.reading import read_for


def report(
    model: Model,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path(
        "report.html"
    ),
    ratings: Annotated[
        Path | None,
        typer.Option(help="Ratings that were not fitted; errors are measured on these."),
    ] = None,
    user: User = None,
    item: Item = None,
    rating: Rating = None,
    titles: Titles = None,
    title: Title = None,
    title_item: TitleItem = None,
    heading: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Write a self-contained HTML page: how good a model is beside simple rules, and what it holds.

    Of --ratings, those that were fitted are left out. Without it, those that `geco fit --holdout`
    kept are taken; if there are none, all is measured on the fitted ones, and the page says so.
    """
    with report_errors("report"):
        import pygeco
        from pygeco import diagnostics

        check_output(output, model, ratings, titles, kind="HTML", overwrite=overwrite)
        voice, fitted = Voice(as_json), open_model(model)
        held = diagnostics.find_held_out_cells(fitted)
        if ratings is not None:
            columns = {"user": user, "item": item, "rating": rating}
            read = read_clicks_for if is_of_clicks(fitted) else read_for
            held = diagnostics.find_unseen_cells(fitted, read(fitted, ratings, columns, voice))
            if not held.total:
                raise ValueError(
                    f"--ratings: the model was fitted to every rating of {ratings.name}; give "
                    "others, or hold some out with geco fit --holdout 0.1."
                )
        names = read_titles_for(fitted, titles, title_item, title)
        with voice.busy("looking at the model"), explain_write_errors(output):
            pygeco.report(fitted, held, output=output, titles=names, heading=heading)
        size = output.stat().st_size
        voice.result(
            {"output": str(output), "bytes": size, "held_out": held.total if held else 0},
            f"{output}: {size:,} bytes; open it in a browser.",
        )
