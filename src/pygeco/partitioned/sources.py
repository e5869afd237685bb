"""Where parts come from: files of Parquet, here or at any fsspec address, or a Dask DataFrame."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from pygeco.columns import ReadError, chosen_columns, whole_rows, with_numbers
from pygeco.partitioned.parts import Part, part_of
from pygeco.tables import Column, ColumnError, as_arrow, pyarrow

ROLES = ("user", "item", "rating")
ROWS = 1 << 20  # of a part, unless one group of rows of a file has more
ENDINGS = (".parquet", ".parq", ".pq")


class Footer(NamedTuple):
    """What the end of a Parquet file says: the names of its columns, and the rows of each group."""

    names: list[str]
    rows: list[int]


class Rows(NamedTuple):
    """Some groups of rows of a file, and the columns to read."""

    path: str
    groups: tuple[int, ...]
    names: tuple[str, ...]


def listed(source: Any) -> list[str]:
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


def called(path: str) -> str:
    """The name of a file, as sentences call it."""
    return PurePosixPath(path).name


def footer(path: str) -> Footer:
    with _Opened(path) as file:
        about = file.metadata
        rows = [about.row_group(g).num_rows for g in range(about.num_row_groups)]
        return Footer(list(file.schema_arrow.names), rows)


def table_of_rows(rows: Rows) -> tuple[Any, int]:
    """User, item and rating of the rows in which nothing is missing, and how many are skipped."""
    with _Opened(rows.path) as file:
        table = file.read_row_groups(rows.groups, columns=list(rows.names), use_threads=False)
    table = table.select(list(rows.names)).rename_columns(list(ROLES))
    return whole_rows(with_numbers(called(rows.path), table, rows.names[2]))


def part_of_rows(rows: Rows) -> Part:
    table, skipped = table_of_rows(rows)
    return part_of(table, rows.names, skipped)


def part_of_frame(frame: Any, at: Sequence[int], number: int) -> Part:
    """A partition of a Dask DataFrame, held to what `fit` asks of any table."""
    try:
        table = as_arrow(frame.iloc[:, list(at)])
        table = table.select(table.column_names[:3])  # without an index
        return part_of(table, table.column_names)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error


class _Opened:
    """A Parquet file of pyarrow's at any address; what goes wrong is one sentence."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> Any:
        import fsspec
        from pyarrow.parquet import ParquetFile

        self.file = fsspec.open(self.path, "rb").open()
        try:
            return ParquetFile(self.file)
        except pyarrow().ArrowException as error:
            self.file.close()
            raise _unreadable(self.path, error) from error

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.file.close()
        if isinstance(error, (pyarrow().ArrowException, EOFError)):
            raise _unreadable(self.path, error) from error


def _unreadable(path: str, error: BaseException) -> ReadError:
    first = str(error).strip().splitlines()[0].rstrip(".")
    return ReadError(f"{called(path)} cannot be read: {first}.")


def parts_of_files(
    paths: Sequence[str], footers: Sequence[Footer], given: dict[str, Column | None]
) -> list[Rows]:
    """The parts of the files, of about ROWS rows, their columns found by the first file's names."""
    try:
        at = chosen_columns(footers[0].names, given)
    except ColumnError as error:
        raise ColumnError(f"{called(paths[0])}: {error}") from None
    names = tuple(footers[0].names[k] for k in at)
    found: list[Rows] = []
    for path, about in zip(paths, footers, strict=True):
        lost = [name for name in names if name not in about.names]
        if lost:
            raise ColumnError(
                f"{called(path)}: there is no column {lost[0]!r}, which {called(paths[0])} has; "
                "give files with the same columns."
            )
        found += [Rows(path, groups, names) for groups in _grouped(about.rows)]
    return found


def _grouped(rows: Sequence[int]) -> list[tuple[int, ...]]:
    """Numbers of neighbouring groups with at most ROWS rows together, or of one group."""
    runs: list[tuple[int, ...]] = []
    size = 0
    for group, count in enumerate(rows):
        if runs and size + count <= ROWS:
            runs[-1] = (*runs[-1], group)
            size += count
        else:
            runs.append((group,))
            size = count
    return runs
