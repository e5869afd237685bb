"""Ratings in Parquet files that are larger than memory, read on one machine in two passes.

The first pass counts: which ids there are, how many cells each has, which values. The second puts
each cell in its place. What is held is the cells in both orders, the ids, and a part of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.engines import Cells, choose_engine
from pygeco.errors import ReadError, RepeatedCellError
from pygeco.io import parquet_parts as files
from pygeco.io.tables import Column, arrange_ids, id_array, join_ids, pyarrow, take_numbers
from pygeco.io.value_scale import are_marks, parse_marks
from pygeco.objectives.entries import observed

MIN_MERGED_IDS = 1 << 20  # of parts that wait, before they are merged with those known
MAX_LEVELS = 256  # of values that one byte tells apart
MAX_SHOWN_VALUES = 1 << 16  # of a part that are looked at for marks and clicks
Progress = Callable[[float], object]


class Streamed(NamedTuple):
    """Ratings of files as cells by row and by column, and the sorted ids of both.

    Attributes
    ----------
    by_row, by_col : Cells
        The cells.
    row_ids, column_ids : array
        Of users and of items.
    names, found : tuple of str, str
        The three columns, and what was read, in words.
    held : table or None
        The rows that were held out.
    """

    by_row: Cells
    by_col: Cells
    row_ids: NDArray[Any]
    column_ids: NDArray[Any]
    names: tuple[str, ...]
    found: str
    held: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_ids), len(self.column_ids)


def read_streamed(
    source: Any,
    *,
    columns: Sequence[Column | None] | None = None,
    duplicates: str = "error",
    holdout: tuple[float, int] | None = None,
    missing_values: Any = "auto",
    progress: Progress | None = None,
) -> Streamed:
    """Read the ratings of a Parquet file, of a list of files or of a folder, part by part.

    Parameters
    ----------
    source : path or list of paths
        Files of Parquet, here or at any fsspec address; a folder stands for those in it.
    columns : sequence of three or None, default=None
        User, item and rating, by name or number; None where a name is to be found.
    duplicates : "error", "mean", "sum" or "last", default="error"
        What to do with a cell that is given more than once.
    holdout : (float, int) or None, default=None
        A share and a seed: rows that are left out, at most a million, and given beside.
    missing_values : "auto", None, number or list of numbers, default="auto"
        As in `MatrixCompletion`.
    progress : callable or None, default=None
        Called with the share that is done.

    Returns
    -------
    Streamed
    """
    observed.check_policy(duplicates)
    given = files.check_three(columns)
    paths = files.list_files(source)
    footers = [files.read_footer(path) for path in paths]
    parts = files.plan_parts(paths, footers, given)
    chosen = files.choose_rows(holdout, footers)
    reader = _Reader(parts, chosen, parse_marks(missing_values), progress or (lambda share: None))
    words = files.name_files(source, len(paths))
    census = reader.count()
    about = census.cells, census.bad, census.first, np.concatenate(census.some or [np.zeros(0)])
    files.check_rows(words, *about, missing_values)
    both = reader.place(census)
    ids = id_array(census.users.ids), id_array(census.items.ids)
    try:
        by_row, by_col = observed.drop_repeats(*both, duplicates, (len(ids[0]), len(ids[1])))
    except RepeatedCellError as error:
        i, j = error.cell
        pair = ids[0][[i]].tolist()[0], ids[1][[j]].tolist()[0]
        raise RepeatedCellError(pair, error.repeats, "X: the pair") from None
    names = reader.names
    found = files.tell_rows(words, names, census.cells, census.skipped)
    held = None
    if chosen is not None:
        tables = [files.read_held_rows(one, chosen) for one in parts]
        held = pyarrow().concat_tables(tables, promote_options="permissive")
    return Streamed(by_row, by_col, *ids, names, found, held)


class _Ids:
    """The sorted ids of one side, in Arrow, and how many cells each has."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ids: Any = None
        self.counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self.waiting: list[tuple[Any, NDArray[np.int64]]] = []

    def add(self, column: Any) -> None:
        found = arrange_ids(column, self.name)
        self.waiting.append((found.ids, np.bincount(found.codes, minlength=len(found.ids))))
        if sum(len(ids) for ids, _ in self.waiting) > max(MIN_MERGED_IDS, len(self.counts)):
            self.merge()

    def merge(self) -> None:
        """Take in the parts that wait: as many at once as are known, so that all is O(n log n)."""
        known = [] if self.ids is None else [(self.ids, self.counts)]
        ids, counts = zip(*known, *self.waiting, strict=True)
        self.waiting = []
        found = arrange_ids(join_ids(ids, self.name), self.name)
        self.ids = found.ids
        weights = np.concatenate(counts)
        self.counts = np.bincount(found.codes, weights, len(found.ids)).astype(np.int64)

    def find(self, column: Any) -> NDArray[np.int32] | None:
        """The place of the id of each cell; None where one is not known."""
        found = arrange_ids(column, self.name)
        ids: Any = found.ids
        place = pyarrow().compute.index_in(ids.cast(self.ids.type), self.ids)
        if place.null_count:
            return None
        at: NDArray[np.int32] = place.to_numpy(zero_copy_only=False).astype(np.int32)[found.codes]
        return at


class _Census:
    """What the first pass finds."""

    def __init__(self, names: Sequence[str]) -> None:
        self.users, self.items = _Ids(names[0]), _Ids(names[1])
        self.cells = self.skipped = self.bad = 0
        self.first = -1
        self.dtype: np.dtype[Any] = np.dtype(np.float32)
        self.levels: Array | None = np.zeros(0)
        self.some: list[Array] = []

    def take(self, table: Any, values: Array) -> None:
        self.users.add(table.column(0))
        self.items.add(table.column(1))
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad) and not self.bad:
            self.first = self.cells + int(bad[0])
        self.bad += len(bad)
        self.cells += len(values)
        self.dtype = np.result_type(self.dtype, values.dtype)
        self.some.append(values[:: -(-len(values) // MAX_SHOWN_VALUES) or 1])
        if self.levels is not None:
            found = np.union1d(self.levels, values.astype(float))
            self.levels = found if len(found) <= MAX_LEVELS else None


class _Reader:
    """The parts of the files, read once for each pass."""

    def __init__(
        self,
        parts: Sequence[files.Rows],
        holdout: files.Holdout | None,
        marks: tuple[float, ...],
        progress: Progress,
    ) -> None:
        self.parts, self.holdout, self.marks, self.progress = parts, holdout, marks, progress
        self.names = parts[0].names

    def read(self, part: files.Rows) -> tuple[Any, Array, int]:
        """The rows of a part without missing values, their ratings, and how many were skipped."""
        table, skipped = files.read_rows(part, self.holdout, held=False)
        values = take_numbers(table.column(2), self.names[2])
        if self.marks:
            lost = are_marks(values, self.marks)
            table, values = table.filter(~lost), values[~lost]
            skipped += int(lost.sum())
        return table, values, skipped

    def count(self) -> _Census:
        census = _Census(self.names)
        for t, part in enumerate(self.parts):
            table, values, skipped = self.read(part)
            census.skipped += skipped
            census.take(table, values)
            self.progress(0.5 * (t + 1) / len(self.parts))
        census.users.merge()
        census.items.merge()
        return census

    def place(self, census: _Census) -> tuple[Cells, Cells]:
        from pygeco.engines.cpu.filling import RowFiller  # kernels, which models do without

        levels = census.levels
        if levels is not None:
            is_short = census.cells < observed.MIN_CODED_CELLS
            levels = None if is_short else levels.astype(census.dtype)
        filler = RowFiller(census.users.counts, census.dtype, levels)
        for t, part in enumerate(self.parts):
            table, values, _ = self.read(part)
            rows, cols = census.users.find(table.column(0)), census.items.find(table.column(1))
            if rows is None or cols is None or not filler.add(rows, cols, values):
                raise ReadError(_tell_change(files.name_file(part.path)))
            self.progress(0.5 + 0.5 * (t + 1) / len(self.parts))
        both = filler.finish(len(census.items.ids), choose_engine("cpu"))
        if both is None:
            raise ReadError(_tell_change(files.name_file(self.parts[-1].path)))
        return both


def _tell_change(name: str) -> str:
    return f"{name} changed while it was read; read it when nobody writes to it."
