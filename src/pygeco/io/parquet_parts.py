"""Parquet files of ratings, here or at any fsspec address, in parts of some groups of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.errors import ColumnError, ReadError
from pygeco.io.columns import (
    choose_columns,
    convert_ratings,
    drop_incomplete_rows,
    explain_parse_errors,
)
from pygeco.io.plain_texts import with_plain_texts
from pygeco.io.tables import Column
from pygeco.io.value_scale import are_clicks, refuse_marks, tell_of_clicks

ROLES = ("user", "item", "rating")
ROWS_OF_PART = 1 << 20  # of a part, unless one group of rows of a file has more
MAX_HELD_ROWS = 1_000_000  # rows that are held out
SEED_FACTOR = 0xD1342543DE82EF95  # sets the seeds far apart
ENDINGS = (".parquet", ".parq", ".pq")


class Footer(NamedTuple):
    """What the end of a Parquet file says: the names of its columns, and the rows of each group."""

    names: list[str]
    rows: list[int]


class Rows(NamedTuple):
    """Some groups of rows of a file, the columns to read, and the number of the first row."""

    path: str
    groups: tuple[int, ...]
    names: tuple[str, ...]
    first: int


class Holdout(NamedTuple):
    """A share of the rows that are not fitted: by the number of a row, whatever the parts."""

    share: float
    seed: int

    def chosen(self, first: int, count: int) -> NDArray[np.bool_]:
        """Which of `count` rows from `first` on; by splitmix64 (Steele and others 2014)."""
        x = np.arange(first, first + count, dtype=np.uint64) + np.uint64(1)
        x = x * np.uint64(0x9E3779B97F4A7C15) + np.uint64((self.seed * SEED_FACTOR) % 2**64)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (x ^ (x >> np.uint64(31))) < np.uint64(self.share * 2.0**64)


def list_files(source: Any) -> list[str]:
    """The addresses of the Parquet files that a folder, a file or a list of files stands for."""
    if not isinstance(source, (str, os.PathLike)):
        return [os.fspath(one) for one in source]
    given = os.fspath(source)
    if "://" not in given:
        return _list_here(given)
    from fsspec.core import url_to_fs

    system, path = url_to_fs(given)
    if not system.exists(path):
        raise FileNotFoundError(2, "No such file or directory", given)
    if not system.isdir(path):
        return [given]
    found = [name for name in sorted(system.find(path)) if _is_data(name, path)]
    return [system.unstrip_protocol(name) for name in _expect_some(found, given)]


def _list_here(given: str) -> list[str]:
    """The same on this machine, which needs no other package."""
    place = Path(given).absolute()
    if not place.exists():
        raise FileNotFoundError(2, "No such file or directory", given)
    if not place.is_dir():
        return [str(place)]
    found = sorted(one.as_posix() for one in place.rglob("*") if one.is_file())
    return _expect_some([name for name in found if _is_data(name, place.as_posix())], given)


def _expect_some(found: list[str], given: str) -> list[str]:
    if not found:
        raise ReadError(
            f"{given} holds no Parquet file; give a folder with files that end in .parquet."
        )
    return found


def _is_data(name: str, folder: str) -> bool:
    """Whether a file holds rows: not one of notes, such as _SUCCESS or ._a.parquet."""
    parts = PurePosixPath(name).relative_to(PurePosixPath(folder)).parts
    return name.lower().endswith(ENDINGS) and not any(part[0] in "._" for part in parts)


def name_file(path: str) -> str:
    """The name of a file, as sentences call it."""
    return PurePosixPath(path).name


def read_footer(path: str) -> Footer:
    with _open_parquet(path) as file:
        about = file.metadata
        rows = [about.row_group(g).num_rows for g in range(about.num_row_groups)]
        return Footer(list(file.schema_arrow.names), rows)


def read_rows(rows: Rows, holdout: Holdout | None, *, held: bool) -> tuple[Any, int]:
    """User, item and rating of the rows in which nothing is missing, and how many are skipped.

    Those that are held out, or the others.
    """
    with _open_parquet(rows.path) as file:
        table = file.read_row_groups(rows.groups, columns=list(rows.names), use_threads=False)
        table = with_plain_texts(table.select(list(rows.names))).rename_columns(list(ROLES))
    if holdout is not None:
        table = table.filter(holdout.chosen(rows.first, table.num_rows) == held)
    return drop_incomplete_rows(convert_ratings(name_file(rows.path), table, rows.names[2]))


def read_held_rows(rows: Rows, holdout: Holdout) -> Any:
    """The rows that are held out, as a table."""
    return read_rows(rows, holdout, held=True)[0]


@contextmanager
def _open_parquet(path: str) -> Iterator[Any]:
    """A Parquet file of pyarrow's at any address; what goes wrong is one sentence."""
    from pyarrow.parquet import ParquetFile

    with _open_bytes(path) as file, explain_parse_errors(name_file(path)):
        yield ParquetFile(file)


def _open_bytes(path: str) -> BinaryIO:
    if "://" not in path:
        return Path(path).open("rb")
    import fsspec

    file: BinaryIO = fsspec.open(path, "rb").open()
    return file


def plan_parts(
    paths: Sequence[str], footers: Sequence[Footer], given: dict[str, Column | None]
) -> list[Rows]:
    """The parts of the files, of about ROWS rows, their columns found by the first file's names."""
    try:
        at = choose_columns(footers[0].names, given)
    except ColumnError as error:
        raise ColumnError(f"{name_file(paths[0])}: {error}") from None
    names = tuple(footers[0].names[k] for k in at)
    found: list[Rows] = []
    before = 0
    for path, about in zip(paths, footers, strict=True):
        lost = [name for name in names if name not in about.names]
        if lost:
            raise ColumnError(
                f"{name_file(path)}: there is no column {lost[0]!r}, which {name_file(paths[0])} "
                "has; give files with the same columns."
            )
        for groups in _group_rows(about.rows):
            found.append(Rows(path, groups, names, before))
            before += sum(about.rows[group] for group in groups)
    return found


def _group_rows(rows: Sequence[int]) -> list[tuple[int, ...]]:
    """Numbers of neighboring groups with at most ROWS rows together, or of one group."""
    runs: list[tuple[int, ...]] = []
    size = 0
    for group, count in enumerate(rows):
        if runs and size + count <= ROWS_OF_PART:
            runs[-1] = (*runs[-1], group)
            size += count
        else:
            runs.append((group,))
            size = count
    return runs


def check_three(columns: Sequence[Column | None] | None) -> dict[str, Column | None]:
    """The columns that were given for user, item and rating; None for those to be found."""
    if columns is None:
        return dict.fromkeys(ROLES)
    if isinstance(columns, str) or len(columns) != len(ROLES):
        raise ValueError(f"columns: expected three, for rows, columns and values, not {columns!r}.")
    return dict(zip(ROLES, columns, strict=True))


def choose_rows(holdout: tuple[float, int] | None, footers: Sequence[Footer]) -> Holdout | None:
    """The rows to hold out, at most a million."""
    if holdout is None:
        return None
    total = sum(sum(about.rows) for about in footers)
    return Holdout(min(holdout[0], MAX_HELD_ROWS / max(1, total)), holdout[1])


def name_files(source: Any, count: int) -> str:
    """The files in words."""
    name = name_file(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else "the list"
    return f"{name} ({'a Parquet file' if count == 1 else f'{count:,} Parquet files'})"


def tell_rows(words: str, names: Sequence[str], cells: int, skipped: int) -> str:
    """What was read, in a sentence."""
    roles = ", ".join(f"{role} = {name!r}" for role, name in zip(ROLES, names, strict=True))
    left = f"; {skipped:,} rows with a missing value are left out" if skipped else ""
    return f"{words}: {roles}; {cells:,} rows{left}."


def check_rows(
    words: str, cells: int, bad: int, first: int, some: NDArray[Any], missing_values: Any
) -> None:
    """Refuse what no model can be fitted to; `some` are some of the values."""
    if not cells:
        raise ReadError(f"{words} has no row with user and item and rating; give another.")
    if bad:
        raise ValueError(
            f"values: {bad} of {cells} observed values are NaN or infinity (the first at position "
            f"{first}); drop those cells."
        )
    refuse_marks(some, missing_values)
    if are_clicks(some):
        raise ValueError(tell_of_clicks(float(some[0])))
