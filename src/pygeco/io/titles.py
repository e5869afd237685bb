"""Titles of items, from a file such as MovieLens' movies.dat."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray

from pygeco.errors import ReadError
from pygeco.io.ratings import read_columns
from pygeco.io.tables import Column, pyarrow
from pygeco.io.text_ids import id_texts


def read_titles(
    path: str | os.PathLike[str],
    ids: NDArray[Any],
    *,
    item: Column | None = None,
    title: Column | None = None,
) -> list[str]:
    """A title for each of these ids; the id itself where the file has none.

    Ids are compared as text, without white space around it. A file that has none of them is
    refused: it is of other items, or another column holds their ids.
    """
    reading = read_columns(path, {"item": item, "title": title}, texts=("item",))
    first: dict[str, str] = {}
    listed, titles = (reading.table.column(role).to_pylist() for role in ("item", "title"))
    for one, called in zip(listed, titles, strict=True):
        first.setdefault(one.strip(), called)
    wanted = _write_ids(ids)
    if len(wanted) and not any(one.strip() in first for one in wanted):
        raise ReadError(
            f"{reading.found} None of its items, such as {listed[0]!r}, is one of the model's, "
            f"such as {wanted[0]!r}; give the file of these items, or name its columns with item= "
            "and title= (on the command line --title-item and --title)."
        )
    return [first.get(text.strip(), text) for text in wanted]


def _write_ids(ids: NDArray[Any]) -> list[str]:
    """Ids as text; whole numbers and texts without Arrow, which would import pandas for them."""
    if ids.dtype.kind in "iuU" or all(type(one) is str for one in ids.tolist()):
        return list(map(str, ids.tolist()))
    column = pyarrow().chunked_array([pyarrow().array(ids)])
    return list(id_texts(column, "id").to_pylist())
