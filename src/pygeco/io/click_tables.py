"""Files of clicks: pairs of ids, with or without counts, and lists `user item item …`."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, BinaryIO, Literal

from pygeco.io.click_lists import read_click_lists
from pygeco.io.column_names import COUNT_NAMES, find_role, plain_name
from pygeco.io.ratings import Reading, find_layout, read_columns
from pygeco.io.shapes import find_moments, is_list_of_clicks
from pygeco.io.sources import Progress, Source, open_source
from pygeco.io.tables import Column, pyarrow
from pygeco.io.text_ids import id_texts

Form = Literal["lists", "pairs", "counts"]
UNSURE_NAMES = frozenset(("weight", "strength"))  # of counts, or of something that is no count


def find_click_form(file: Source, given: Mapping[str, Column | None]) -> Form | None:
    """How a file holds clicks, as far as names and shape tell; None for ratings.

    Pairs are two columns of ids, alone or beside times, or names of users and items beside which
    there are only times and titles. Counts have a name that says so, such as "plays".
    """
    if not file.head.strip():
        return None
    layout = find_layout(file, {role: given.get(role) for role in ("user", "item")}, {})
    if layout.text is not None and is_list_of_clicks(layout.text):
        return "lists"
    names = layout.names
    if given.get("rating") is not None:
        return "counts" if plain_name(str(given["rating"])) in COUNT_NAMES else None
    if len(names) == 2:
        return "pairs"
    if not layout.named:
        return "pairs" if len(names) == 2 + len(find_moments(layout.text)) else None
    if find_counts(names) is not None:
        return "counts"
    ids = [find_role(names, role) for role in ("user", "item")]
    others = [name for k, name in enumerate(names) if k not in ids]
    is_pairs = None not in ids and all(map(_says_nothing, others))
    return "pairs" if is_pairs else None


def find_counts(names: Sequence[str]) -> str | None:
    """The column whose name says that it has counts; None where another has ratings."""
    value = find_role(names, "rating")
    some = names if value is None else [names[value]]
    return next((name for name in some if plain_name(name) in COUNT_NAMES - UNSURE_NAMES), None)


def _says_nothing(name: str) -> bool:
    return any(find_role([name], role) is not None for role in ("time", "title"))


def read_click_table(
    source: str | os.PathLike[str] | BinaryIO | Source,
    given: Mapping[str, Column | None],
    progress: Progress | None = None,
    *,
    texts: Collection[str] = (),
    remembered: Mapping[str, str] | None = None,
) -> Reading:
    """The clicks of a file: columns user and item, and count where there are counts.

    Rows with a count of zero are left out. Counts are read where `given` has the role "rating":
    from the column that it names, or from one whose name says that it has counts. The ids of
    `texts` are read as text.
    """
    file = open_source(source, progress)
    form = find_click_form(file, given)
    if form == "lists":
        return _read_lists(file, texts)
    roles = {role: given.get(role) for role in ("user", "item")}
    if "rating" in given and given["rating"] is not None:
        roles["rating"] = given["rating"]
    elif "rating" in given and form == "counts":
        roles["rating"] = find_counts(find_layout(file, roles, {}).names)
    found = read_columns(file, roles, progress, texts=texts, remembered=remembered)
    table = found.table.rename_columns(["user", "item", "count"][: len(roles)])
    said = found.found.replace(", rating = ", ", count = ")
    if "count" in table.column_names:
        table, said = _drop_zeros(table, said)
    return found._replace(table=table, found=said)


def _drop_zeros(table: Any, said: str) -> tuple[Any, str]:
    """Rows whose count is zero are no clicks, in a fit or held out."""
    import pyarrow.compute as pc

    kept = table.filter(pc.fill_null(pc.not_equal(table.column("count"), 0), True))
    zeros = table.num_rows - kept.num_rows
    if not zeros:
        return table, said
    return kept, f"{said.removesuffix('.')}, {zeros:,} of them with a count of 0: no clicks."


def _read_lists(file: Source, texts: Collection[str]) -> Reading:
    rows, cols = read_click_lists(file)
    table = pyarrow().table({"user": rows, "item": cols})
    for k, role in enumerate(table.column_names):
        if role in texts:
            table = table.set_column(k, role, id_texts(table.column(k), role))
    packed = f", {file.compression}" if file.compression else ""
    return Reading(
        table, f"{file.name} (lists of items, a line a user{packed}): {table.num_rows:,} clicks."
    )
