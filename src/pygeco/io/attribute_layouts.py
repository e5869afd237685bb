"""MovieLens' own files of users and films: their names, genres, and the years in titles."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Table = dict[str, NDArray[Any]]
GENRES = 19  # columns of u.item that say whether a film has a genre
ITEM_NAMES = ["movie_id", "title", "released", "released_on_video", "url"]


class Layout(NamedTuple):
    """The names of a file's columns, those that are texts, and what is made of the table.

    That may need other files of the folder, where there is one.
    """

    names: list[str]
    texts: tuple[str, ...]
    complete: Callable[[Table, Path | None], Table]


def find_layout(name: str, names: list[str] | None, width: int) -> Layout | None:
    """The layout of a file of MovieLens, by its name and its number of columns."""
    stem = name.lower()
    if names is not None:
        is_list_of_films = stem == "movies.csv" and names == ["movieId", "title", "genres"]
        return Layout(names, ("title", "genres"), _add_years) if is_list_of_films else None
    found = LAYOUTS.get(stem)
    return found if found is not None and len(found.names) == width else None


def parse_years(titles: NDArray[Any]) -> NDArray[np.float64]:
    """The last number of four digits in parentheses of each title, NaN where there is none."""
    found = [re.findall(r"\((\d{4})\)", title or "") for title in titles]
    return np.array([float(years[-1]) if years else np.nan for years in found])


def _add_years(table: Table, folder: Path | None) -> Table:
    return table | {"year": parse_years(table["title"])}


def _join_genres(table: Table, folder: Path | None) -> Table:
    """Texts like "Action|Comedy" for the columns of genres, whose names are in u.genre."""
    kept = {name: table[name] for name in ITEM_NAMES[:2]}
    names = _read_genres(folder)
    flags = np.stack([table[f"genre{k}"] == 1 for k in range(GENRES)], axis=1)
    words = [[names[k] for k in np.flatnonzero(row)] for row in flags]
    genres = np.array([*("|".join(row) or None for row in words), None], object)[:-1]
    return _add_years(kept | {"genres": genres}, None)


def _read_genres(folder: Path | None) -> list[str]:
    names = [f"genre{k}" for k in range(GENRES)]
    path = None if folder is None else folder / "u.genre"
    if path is None or not path.is_file():
        return names
    for line in path.read_text("latin-1").splitlines():
        word, _, number = line.partition("|")
        if number.isdecimal() and int(number) < GENRES:
            names[int(number)] = word
    return names


def _as_they_are(table: Table, folder: Path | None) -> Table:
    return table


# Occupations of users.dat are codes, and postcodes may begin with a zero.
LAYOUTS = {
    "users.dat": Layout(
        ["user_id", "gender", "age", "occupation", "zip_code"],
        ("gender", "occupation", "zip_code"),
        _as_they_are,
    ),
    "u.user": Layout(
        ["user_id", "age", "gender", "occupation", "zip_code"],
        ("gender", "occupation", "zip_code"),
        _as_they_are,
    ),
    "movies.dat": Layout(["movie_id", "title", "genres"], ("title", "genres"), _add_years),
    "u.item": Layout(
        [*ITEM_NAMES, *(f"genre{k}" for k in range(GENRES))],
        tuple(ITEM_NAMES[1:]),
        _join_genres,
    ),
}
