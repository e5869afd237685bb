"""MovieLens rating files in GroupLens' own layout."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.arrays.short_repr import show_fields
from pygeco.data.archives import get_folder
from pygeco.errors import ReadError
from pygeco.io.attributes import read_attributes
from pygeco.io.columns import explain_parse_errors

FILES = {"ml-100k": "u.data", "ml-1m": "ratings.dat", "ml-10m": "ratings.dat"}
ATTRIBUTE_FILES = {
    "ml-100k": ("u.user", "u.item"),
    "ml-1m": ("users.dat", "movies.dat"),
    "ml-10m": (None, "movies.dat"),
}
SPLITS = {"ml-100k": ("u1", "ua", "ub"), "ml-1m": (), "ml-10m": ("ra", "rb")}
# GroupLens' script allbut.pl: the test cells are these of each user's ratings, in file order.
PLACES = {"ra": (1, 10), "rb": (11, 20)}


class Ratings(NamedTuple):
    """Ratings with their ids: cell t is (users[rows[t]], items[cols[t]]).

    Attributes
    ----------
    rows, cols : int arrays
        Where the cells are.
    values : array
        The ratings.
    shape : tuple of two ints
        The shape of the matrix.
    users, items : arrays
        The ids of rows and columns.
    test : bool array
        Which cells are held out.
    times : array or None
        When each rating was given, in seconds since 1970.
    """

    rows: NDArray[np.int32]
    cols: NDArray[np.int32]
    values: Array
    shape: tuple[int, int]
    users: NDArray[Any]
    items: NDArray[Any]
    test: NDArray[np.bool_]
    times: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        return show_fields(self)

    def cells(self, mask: NDArray[np.bool_]) -> tuple[Any, Any, Array, tuple[int, int]]:
        """Return the triplets of the cells under a mask.

        Parameters
        ----------
        mask : bool array
            `~ratings.test` are the cells to fit.

        Returns
        -------
        tuple
            (rows, cols, values, shape), as `MatrixCompletion.fit` takes it.
        """
        return self.rows[mask], self.cols[mask], self.values[mask], self.shape


class MovieLensAttributes(NamedTuple):
    """Tables of users and of films, as dicts of columns; None if there is none.

    Parameters
    ----------
    users : dict of arrays or None
        user_id, age, gender, occupation and zip_code.
    items : dict of arrays or None
        movie_id, title, genres ("Action|Comedy") and year, from the title.
    """

    users: dict[str, NDArray[Any]] | None
    items: dict[str, NDArray[Any]] | None


def load_movielens_attributes(name: str, *, download: bool = True) -> MovieLensAttributes:
    """Read MovieLens' attributes of users and films.

    The files are found in the same places as by `load_movielens`.

    Parameters
    ----------
    name : "ml-100k", "ml-1m" or "ml-10m"
        ml-10m has no table of users.
    download : bool, default=True
        Whether to download files that are missing.

    Returns
    -------
    MovieLensAttributes
    """
    if name not in ATTRIBUTE_FILES:
        raise ValueError(f"name: unknown set {name!r}; use one of {sorted(ATTRIBUTE_FILES)}.")
    folder = get_folder(name, download=download)
    tables = []
    for file in ATTRIBUTE_FILES[name]:
        there = file is not None and (folder / file).is_file()
        tables.append(read_attributes(folder / str(file)) if there else None)
    if tables == [None, None]:
        missing = folder / ATTRIBUTE_FILES[name][1]
        raise FileNotFoundError(
            f"{missing} is missing; unpack GroupLens' archive so that it exists."
        )
    return MovieLensAttributes(*tables)


def load_movielens(name: str, split: str | None = None, *, download: bool = True) -> Ratings:
    """Read MovieLens' ratings.

    The files are read from the folder named by PYGECO_DATA, or else from the cache (pygeco/ in
    XDG_CACHE_HOME or ~/.cache), or else downloaded from GroupLens into the cache.

    Parameters
    ----------
    name : "ml-100k", "ml-1m" or "ml-10m"
    split : str or None, default=None
        An official split: "u1", "ua" or "ub" of ml-100k, "ra" or "rb" of ml-10m. Without it the
        test cells are a random tenth (seed 0) of the rows in file order.
    download : bool, default=True
        Whether to download files that are missing.

    Returns
    -------
    Ratings
    """
    if name not in FILES:
        raise ValueError(f"name: unknown set {name!r}; use one of {sorted(FILES)}.")
    if split is not None and split not in SPLITS[name]:
        known = f"has {SPLITS[name]}" if SPLITS[name] else "has none"
        raise ValueError(f"split: {split!r} is not a split of {name}, which {known}.")
    folder = get_folder(name, download=download)
    if split is None or split in PLACES:
        table = _read(folder / FILES[name])
        test = np.random.default_rng(0).random(len(table)) < 0.1
        if split is not None:
            test = _places(table[:, 0], *PLACES[split])
    else:
        base, held = (_read(folder / f"{split}.{part}") for part in ("base", "test"))
        table = np.concatenate([base, held])
        test = np.arange(len(table)) >= len(base)
    users, rows = np.unique(table[:, 0].astype(np.int64), return_inverse=True)
    items, cols = np.unique(table[:, 1].astype(np.int64), return_inverse=True)
    return Ratings(
        rows.astype(np.int32),
        cols.astype(np.int32),
        table[:, 2].astype(np.float32),
        (len(users), len(items)),
        users,
        items,
        test,
        table[:, 3].astype(np.int64),
    )


def _places(users: Array, first: int, last: int) -> NDArray[np.bool_]:
    """Whether a rating is the first-th to last-th of its user, counted from 1 in file order."""
    order = np.argsort(users, kind="stable")
    starts = np.flatnonzero(np.diff(users[order], prepend=-1))
    counts = np.diff(np.append(starts, len(users)))
    place = np.empty(len(users), np.int64)
    place[order] = np.arange(len(users)) - np.repeat(starts, counts) + 1
    return (first <= place) & (place <= last)


def _read(path: Path) -> Array:
    """The numbers of a file, four a line; fields are parted by tabs or by "::"."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; unpack GroupLens' archive so that it exists.")
    text = path.read_bytes().replace(b"::", b" ")
    with explain_parse_errors(str(path)), warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # of what is not a number
        table: Array = np.fromstring(text, sep=" ").reshape(-1, 4)
    if not len(table) or not np.all(np.abs(table) < 2**53):
        raise ReadError(f"{path}: expected lines of four numbers; unpack GroupLens' archive again.")
    return table
