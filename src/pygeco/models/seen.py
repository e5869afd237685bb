"""Cells by row: those that a model was fitted to, and those that were held out of its fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.coded import decode_values
from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.arrays.short_repr import show_fields
from pygeco.objectives import Entries

Positions = NDArray[np.int64] | NDArray[np.int32]

NO_WEIGHTS: Array = np.zeros(0)
NO_TIMES: Array = np.zeros(0)


class Seen(NamedTuple):
    """Cells, row by row; columns ascend within a row."""

    pointers: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: Array
    weights: Array = NO_WEIGHTS  # empty where every cell counts once
    times: Array = NO_TIMES  # on the host; empty where time says nothing

    def __repr__(self) -> str:
        return show_fields(self)

    def on_host(self) -> tuple[str, ...]:
        return ("times",)

    def rows(self) -> Positions:
        """The row of each cell."""
        return np.repeat(np.arange(len(self.pointers) - 1), np.diff(host(self.pointers)))


NO_CELLS = Seen(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))


def keep_cells(entries: Entries, times: Array = NO_TIMES) -> Seen:
    """The cells of a fit; copies where they are the caller's own arrays, which may change."""
    cells = entries.by_row
    if entries.borrowed:
        cells = cells._replace(indices=cells.indices.copy(), values=cells.values.copy())
    return Seen(cells.pointers, cells.indices, decode_values(cells.values), cells.weights, times)


def sort_cells(
    rows: Positions,
    cols: Positions,
    values: Array,
    shape: tuple[int, int],
    times: Array | None = None,
) -> Seen:
    """Triplets as cells by row; of repeated ones all stay."""
    order = np.lexsort((cols, rows))
    counts = np.bincount(rows, minlength=shape[0])
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    dates = NO_TIMES if times is None else times[order]
    return Seen(pointers, cols[order].astype(np.int32), values[order], times=dates)


def cut_rows(cells: Seen | None, start: int, end: int) -> Seen | None:
    """The cells of some rows, and of one more row after them, which has none."""
    if cells is None:
        return None
    own = slice(int(cells.pointers[start]), int(cells.pointers[end]))
    pointers = cells.pointers[start : end + 1] - cells.pointers[start]
    return Seen(np.append(pointers, pointers[-1]), cells.indices[own], cells.values[own])


def append_empty_rows(cells: Seen | None, count: int) -> Seen | None:
    """The same cells, and so many rows more, which have none."""
    if cells is None:
        return None
    last = np.full(count, cells.pointers[-1])
    return cells._replace(pointers=np.concatenate([cells.pointers, last]))


def has_cells(seen: Seen, width: int, rows: Positions, cols: Positions) -> NDArray[np.bool_]:
    """Whether each cell is among those seen; −1, an unknown id, is none. O(cells log |E|)."""
    known = _keys(seen, width)
    wanted = np.where((rows < 0) | (cols < 0), -1, rows * np.int64(width + 1) + cols)
    if not len(known):
        return np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.asarray(known[at] == wanted)


def count_other_values(
    seen: Seen, width: int, rows: Positions, cols: Positions, values: Array
) -> int:
    """How many of the cells were seen with another value."""
    fitted = has_cells(seen, width, rows, cols)
    if not fitted.any():
        return 0
    at = np.searchsorted(_keys(seen, width), rows[fitted] * np.int64(width + 1) + cols[fitted])
    known = host(seen.values)
    return int(np.sum(known[at] != values[fitted].astype(known.dtype)))


def find_row_cells(cells: Seen, rows: Positions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells of these rows, row after row: which of the rows each is of, and its place."""
    counts = cells.pointers[rows + 1] - cells.pointers[rows]
    lines = np.repeat(np.arange(len(rows), like=rows), counts)
    starts = np.repeat(cells.pointers[rows] - (np.cumsum(counts) - counts), counts)
    return lines, starts + np.arange(len(starts), like=rows)


def hide_cells(table: Array, rows: Positions, cells: Seen, value: float = -np.inf) -> None:
    """−∞, or another value, in line t of the table at the columns of the cells of rows[t]."""
    lines, at = find_row_cells(cells, rows)
    table[lines, cells.indices[at]] = value


def merge_cells(cells: Sequence[Seen], rows: Positions) -> tuple[Seen, Positions]:
    """The cells of several sets in these rows as one set, and where the rows are in it."""
    if len(cells) == 1:
        return cells[0], rows
    lines: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    cols = [np.zeros(0, np.int32)]
    for part in cells:
        line, at = find_row_cells(part, rows)
        lines.append(line)
        cols.append(part.indices[at])
    shape = len(rows), 0
    own, columns = np.concatenate(lines), np.concatenate(cols)
    return sort_cells(own, columns, np.zeros(len(own)), shape), np.arange(len(rows))


def _keys(seen: Seen, width: int) -> Positions:
    """One number for each cell of a matrix of this width, ascending."""
    return seen.rows() * np.int64(width + 1) + host(seen.indices)
