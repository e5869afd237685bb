"""`geco explain`: why an item is predicted as it is for a user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pygeco.cli.answers import TableOutput, add_titles, check_table_output, write_answer
from pygeco.cli.console import Voice, report_errors
from pygeco.cli.models import find_known_ids, is_of_clicks, open_model
from pygeco.cli.options import Count, Json, Model, Overwrite, Title, TitleItem, Titles
from pygeco.errors.visible_numbers import find_format

if TYPE_CHECKING:
    from pygeco.models.ranking import Reasons


def explain(
    model: Model,
    user: Annotated[str, typer.Option("--user", help="The user's id.")],
    item: Annotated[str, typer.Option("--item", help="The item's id.")],
    k: Count = 5,
    titles: Titles = None,
    title: Title = None,
    title_item: TitleItem = None,
    output: TableOutput = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Which of a user's own ratings, or clicks, drive a prediction, strongest first.

    The prediction is a sum: a base, which the item and the average user say, what each rating of
    the user adds, and what the user's attributes add where the fit was told some. Needs a model
    fitted with the evidence, which is the default. The score of a model of clicks is a sum of what
    each click adds.
    """
    with report_errors("explain"):
        import pyarrow as pa

        from pygeco.diagnostics import describe_scale

        check_table_output(output, model, titles, overwrite=overwrite)
        voice, fitted = Voice(as_json), open_model(model)
        row = find_known_ids(fitted.row_ids_, [user], "--user")
        column = find_known_ids(fitted.column_ids_, [item], "--item")
        clicks = is_of_clicks(fitted)
        if fitted.posterior_ is None and not clicks:
            raise ValueError(
                "MODEL: was fitted without the evidence, so its predictions are no sum over "
                "ratings; fit with --penalty evidence."
            )
        why = fitted.explain(row[0], column[0], k)
        predicted = float(fitted.predict(row, column)[0])
        table = pa.table({"item": pa.array(why.columns), "adds": pa.array(why.contributions)})
        table = add_titles(table, fitted, titles, title_item, title)
        if as_json and output is None:
            said = {
                "score" if clicks else "prediction": predicted,
                "base": why.base,
                "attributes": why.attributes,
                "time": why.time,
                "rows": table.to_pylist(),
            }
            voice.result(said, "")
            return
        scale = "" if fitted.loss_.regression else describe_scale(fitted.loss_)
        voice.note(
            describe_clicks(predicted, why) if clicks else describe_reasons(predicted, why, scale)
        )
        write_answer(table, output, voice)


def describe_clicks(score: float, why: Reasons) -> str:
    """The score, and what of it attributes add."""
    told, adds = find_format([score]), _list_attributes(why, score)
    more = f" and attributes. Of the attributes, {adds}" if adds else ""
    return f"score {score:{told}}, the sum over the user's clicks{more}."


def describe_reasons(predicted: float, why: Reasons, scale: str = "") -> str:
    """The prediction, and what it would be without ratings and attributes.

    Where the loss makes a prediction of a sum, that has a `scale` of its own.
    """
    told = find_format([predicted, why.base])
    said = f"prediction {predicted:{told}}; {why.base:{told}} without the user's ratings"
    if scale:
        said = (
            f"prediction {predicted:{told}}, of a sum {scale}: {why.base:{told}} without the "
            "user's ratings"
        )
    moved = f" The period adds {why.time:+{told}}." if why.time else ""
    if not why.attributes:
        return f"{said}.{moved}"
    adds = _list_attributes(why, predicted, why.base)
    return f"{said} and attributes. Of the attributes, {adds}.{moved}"


def _list_attributes(why: Reasons, *beside: float) -> str:
    """What each attribute adds, the strongest first, written as the numbers `beside` them."""
    told = find_format(beside)
    order = sorted(why.attributes.items(), key=lambda one: -abs(one[1]))
    return ", ".join(f"{name} {amount:+{told}}" for name, amount in order)
