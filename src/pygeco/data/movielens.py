"""MovieLens rating files in GroupLens' own layout, found through PYGECO_DATA."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.factors import Array

FILES = {
    "ml-100k": ("ml-100k/u.data", "\t"),
    "ml-1m": ("ml-1m/ratings.dat", "::"),
    "ml-10m": ("ml-10M100K/ratings.dat", "::"),
}
SPLITS = ("u1", "ua", "ub")


class Ratings(NamedTuple):
    """Ratings with their ids: cell t is (users[rows[t]], items[cols[t]])."""

    rows: NDArray[np.int32]
    cols: NDArray[np.int32]
    values: Array
    shape: tuple[int, int]
    users: NDArray[Any]
    items: NDArray[Any]
    test: NDArray[np.bool_]

    def cells(self, mask: NDArray[np.bool_]) -> tuple[Any, Any, Array, tuple[int, int]]:
        """The triplets of the cells under a mask."""
        return self.rows[mask], self.cols[mask], self.values[mask], self.shape


def data_folder() -> Path:
    """The folder that PYGECO_DATA names."""
    given = os.environ.get("PYGECO_DATA")
    if not given:
        raise FileNotFoundError(
            "PYGECO_DATA is not set; point it at the folder that holds ml-100k/ or ml-1m/ "
            "as unpacked from GroupLens' archives (grouplens.org/datasets/movielens)."
        )
    return Path(given)


def load_movielens(name: str, split: str | None = None) -> Ratings:
    """MovieLens by name: "ml-100k", "ml-1m" or "ml-10m".

    `split` is one of the official splits of ml-100k ("u1", "ua", "ub"); without it the test
    cells are a random tenth (seed 0) of the rows in file order.
    """
    if name not in FILES:
        raise ValueError(f"name: unknown set {name!r}; use one of {sorted(FILES)}.")
    path, separator = FILES[name]
    folder = data_folder()
    if split is None:
        table = _read(folder / path, separator)
        test = np.random.default_rng(0).random(len(table)) < 0.1
    else:
        if name != "ml-100k" or split not in SPLITS:
            raise ValueError(f"split: {split!r} is not a split of {name}; ml-100k has {SPLITS}.")
        base = _read(folder / f"ml-100k/{split}.base", separator)
        held = _read(folder / f"ml-100k/{split}.test", separator)
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
    )


def _read(path: Path, separator: str) -> Array:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; unpack GroupLens' archive so that it exists.")
    text = path.read_text(encoding="ascii").replace(separator, " ")
    table: Array = np.array(text.split(), dtype=float).reshape(-1, 4)
    return table
