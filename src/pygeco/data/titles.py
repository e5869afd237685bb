"""Titles of items, from a file such as MovieLens' movies.dat."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.data.files import read_columns
from pygeco.tables import coded, positions


def read_titles(path: str | os.PathLike[str], ids: NDArray[Any]) -> list[str]:
    """A title for each of these ids; the id itself where the file has none."""
    table = read_columns(path, {"item": None, "title": None}).table
    found = coded(table.column("item"), "item")
    first = np.unique(found.codes, return_index=True)[1]
    titles = table.column("title").take(first).to_pylist()
    at = positions(found.ids, ids)
    return [str(titles[k]) if k >= 0 else str(one) for k, one in zip(at, ids, strict=True)]
