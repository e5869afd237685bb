"""Where parts come from: files of Parquet, here or at any fsspec address, or a Dask DataFrame."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.errors import ColumnError, ReadError
from pygeco.io.columns import (
    choose_columns,
    convert_ratings,
    drop_incomplete_rows,
    explain_parse_errors,
)
from pygeco.io.partitioned.parts import Part, make_part
from pygeco.io.tables import Column, as_arrow

ROLES = ("user", "item", "rating")
ROWS_OF_PART = 1 << 20  # of a part, unless one group of rows of a file has more
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
    from fsspec.core import url_to_fs

    if not isinstance(source, (str, os.PathLike)):
        return [os.fspath(one) for one in source]
    given = os.fspath(source)
    system, path = url_to_fs(given)
    if not system.exists(path):
        raise FileNotFoundError(2, "No such file or directory", given)
    if not system.isdir(path):
        return [given]
    found = [name for name in sorted(system.find(path)) if _is_data(name, path)]
    if not found:
        raise ReadError(
            f"{given} holds no Parquet file; give a folder with files that end in .parquet."
        )
    return [system.unstrip_protocol(name) for name in found]


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
        table = table.select(list(rows.names)).rename_columns(list(ROLES))
    if holdout is not None:
        table = table.filter(holdout.chosen(rows.first, table.num_rows) == held)
    return drop_incomplete_rows(convert_ratings(name_file(rows.path), table, rows.names[2]))


def read_part(rows: Rows, holdout: Holdout | None = None, marks: tuple[float, ...] = ()) -> Part:
    table, skipped = read_rows(rows, holdout, held=False)
    return make_part(table, rows.names, marks, skipped)


def read_held_rows(rows: Rows, holdout: Holdout) -> Any:
    """The rows that are held out, as a table."""
    return read_rows(rows, holdout, held=True)[0]


def make_part_of_frame(
    frame: Any, at: Sequence[int], number: int, marks: tuple[float, ...] = ()
) -> Part:
    """A partition of a Dask DataFrame, held to what `fit` asks of any table."""
    try:
        table = as_arrow(frame.iloc[:, list(at)])
        table = table.select(table.column_names[:3])  # without an index
        return make_part(table, table.column_names, marks)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error


@contextmanager
def _open_parquet(path: str) -> Iterator[Any]:
    """A Parquet file of pyarrow's at any address; what goes wrong is one sentence."""
    import fsspec
    from pyarrow.parquet import ParquetFile

    with fsspec.open(path, "rb").open() as file, explain_parse_errors(name_file(path)):
        yield ParquetFile(file)


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
