"""Whether a file holds ratings or clicks, and its clicks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pygeco.cli.console import Voice
from pygeco.cli.fit_plan import Plan
from pygeco.cli.reading import ROLES, Ratings, find_text_roles, read_ratings

# Why these are clicks, by what is in the file.
REASONS = {
    "lists": "these are clicks: lists of items that users chose.",
    "pairs": "these are clicks: users and items without a rating.",
    "counts": "these are clicks, and counts are their weights; --explicit takes the counts for "
    "ratings.",
}
ASKED = "--implicit: each row is a click."
LABELS = ({0.0, 1.0}, {-1.0, 1.0})


def read_cells(plan: Plan, voice: Voice) -> Ratings:
    """The ratings of a file or its clicks, as the plan says or the file tells.

    A file of counts, or of ratings that are all equal, holds ratings where an option says something
    of ratings.
    """
    from pygeco.io.click_tables import find_click_form
    from pygeco.io.sources import open_source

    if plan.implicit is False or (plan.matrix and not plan.implicit):
        return _find_equal(plan, read_ratings(plan, voice))
    file = open_source(plan.ratings)
    form = None if plan.matrix else find_click_form(file, plan.columns)
    if form in ("lists", "pairs") or plan.implicit:
        refuse_for_clicks(plan)
    elif form is None or plan.for_ratings:
        return _find_equal(plan, read_ratings(plan, voice, file))
    return _read_clicks(plan, voice, file, REASONS[form] if form else ASKED)


def refuse_for_clicks(plan: Plan) -> None:
    """Fail where an option says something that clicks do not have."""
    if plan.for_ratings is not None:
        raise ValueError(
            f"{plan.for_ratings}: is for ratings, and these are clicks; leave it out, or fit "
            "ratings with --explicit."
        )
    for option, is_given in (("--resume", plan.resume), ("--restart", plan.restart)):
        if is_given:
            raise ValueError(f"{option}: a fit of clicks keeps no state; leave it out.")


def read_clicks_for(model: Any, path: Path, given: dict[str, str | None], voice: Voice) -> Any:
    """The clicks of a file as a table of users and items, read as those of the model were."""
    from pygeco.io.click_tables import read_click_table

    told = vars(model).get("file_columns_") or ()
    with voice.progress(f"reading {path.name}") as bar:
        reading = read_click_table(
            str(path),
            {role: given.get(role) for role in ("user", "item", "rating")},
            bar,
            texts=find_text_roles(model),
            remembered=dict(zip(ROLES, told, strict=False)),
        )
    voice.note(reading.found)
    return reading.table.select(["user", "item"])


def name_left_out(model: Any, left: Any) -> tuple[Any, Any]:
    """Clicks that were left out, and their negatives, by the ids of the model."""
    from pygeco.io.tables import pyarrow

    names = model.table_columns_[:2]
    texts = find_text_roles(model)
    rows, cols, negatives = (
        part.astype(str).astype(object) if role in texts else part
        for role, part in zip(("user", "item", "item"), left, strict=True)
    )
    table = pyarrow().table(dict(zip(names, (rows, cols), strict=True)))
    return table, negatives


def _read_clicks(plan: Plan, voice: Voice, file: Any, why: str) -> Ratings:
    from pygeco.io.click_tables import read_click_table
    from pygeco.io.ratings import read_matrix

    with voice.progress(f"reading {plan.name}") as bar:
        if plan.matrix:
            reading = read_matrix(file, dict(plan.columns), bar)
            table = reading.table.rename_columns(["user", "item", "count"])
            reading = reading._replace(table=table)
        else:
            reading = read_click_table(file, plan.columns, bar)
    return _hold_out(plan, Ratings(reading.table, None, reading.found, reading.columns, why))


def _find_equal(plan: Plan, ratings: Ratings) -> Ratings:
    """Ratings that are all the same as clicks, unless the plan says that they are ratings."""
    if plan.implicit is False or plan.for_ratings or plan.resume or plan.restart:
        return ratings
    parts = [part for part in (ratings.fitted, ratings.held) if part is not None]
    levels = {x for part in parts for x in part.column("rating").unique().to_pylist()}
    if levels in LABELS:
        return _hint_at_labels(ratings, levels)
    if len(levels) != 1 or sum(part.num_rows for part in parts) < 2:
        return _hint_at_counts(plan, ratings)
    why = f"these are clicks, for every rating is {levels.pop():g}; --explicit fits ratings."
    fitted, held = (
        None if part is None else part.select(["user", "item"])
        for part in (ratings.fitted, ratings.held)
    )
    return ratings._replace(fitted=fitted, held=held, columns=ratings.columns[:2], clicks=why)


def _hint_at_labels(ratings: Ratings, levels: set[float]) -> Ratings:
    """The same ratings, with a word about the loss that takes them for no and yes."""
    least, most = sorted(levels)
    hint = f"the ratings are {least:g} and {most:g}; --loss logistic takes them for no and yes."
    return ratings._replace(found=f"{ratings.found}\n{hint}")


def _hint_at_counts(plan: Plan, ratings: Ratings) -> Ratings:
    """The same ratings, with a word about --implicit where they look like counts."""
    from pygeco.io.value_scale import look_like_counts, sample_values

    values = ratings.fitted.column("rating").to_numpy()
    if plan.implicit is not None or not look_like_counts(sample_values(values)):
        return ratings
    hint = (
        f"the ratings are whole numbers up to {values.max():,.0f}, as counts are; --implicit takes "
        "them for weights of clicks."
    )
    return ratings._replace(found=f"{ratings.found}\n{hint}")


def _hold_out(plan: Plan, clicks: Ratings) -> Ratings:
    from pygeco.data.split import split_cells

    if not plan.holdout:
        return clicks
    out = split_cells(clicks.fitted.num_rows, plan.holdout, plan.seed)
    return clicks._replace(fitted=clicks.fitted.filter(~out), held=clicks.fitted.filter(out))
