"""Islands: rows and columns that hang together by known cells, and share none with the others.

Nothing holds the scale of one island against another: with a column of U larger on one island, and
that of V smaller by as much, R stays, and what A says between islands may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import scipy  # its parts are imported when used
from numpy.typing import NDArray

from pygeco.arrays.kinds import host, on
from pygeco.arrays.low_rank import Array
from pygeco.engines import Cells
from pygeco.engines.values import Table

FIRST_CELLS = 2  # of each row and column, which nearly always show that all hang together
CELLS_AT_ONCE = 1 << 22  # when all are looked at

Index = NDArray[np.integer]


class Edges(NamedTuple):
    """Cells, by their rows and columns."""

    rows: Index
    cols: Index


class Islands(NamedTuple):
    """The island of each row and of each column; those without a cell are on the first."""

    total: int
    rows: Index
    cols: Index

    @property
    def T(self) -> Self:
        return self._replace(rows=self.cols, cols=self.rows)


def islands_of_cells(by_row: Cells, by_col: Cells) -> Islands | None:
    """None where all rows and columns that have cells hang together."""
    shape = by_row.groups, by_col.groups
    cols, rows = _first_cells(by_col)
    return _find_islands(shape, [_first_cells(by_row), Edges(rows, cols)], _all_cells(by_row))


def islands_of_table(table: Table) -> Islands | None:
    """The same of the cells of a table that are known and weigh something."""
    return _find_islands(table.values.shape, _first_known(table), _all_known(table))


def _find_islands(
    shape: tuple[int, int], first: Iterable[Edges], every: Iterable[Edges]
) -> Islands | None:
    """First pieces that hang together by some cells, then those of them that hang together by all.

    `every` is not looked at where one piece is left already.
    """
    m, n = shape
    few = [np.concatenate(part) for part in zip(*first, strict=True)]
    pieces = _label(m + n, few[0], few[1] + m)
    used = np.unique(pieces[few[0]])
    if len(used) <= 1:
        return None
    ends = (np.stack([pieces[:m][rows], pieces[m:][cols]]) for rows, cols in every)
    links = [np.unique(pair[:, pair[0] != pair[1]], axis=1) for pair in ends]
    labels = _label(int(pieces.max()) + 1, *np.concatenate(links, axis=1))
    islands, names = np.unique(labels[used], return_inverse=True)
    if len(islands) == 1:
        return None
    name_of = np.zeros(len(labels), np.intp)
    name_of[labels[used]] = names
    found = name_of[labels[pieces]]
    return Islands(len(islands), found[:m], found[m:])


def _label(size: int, one: Index, other: Index) -> Index:
    """Of each of so many points, which of the sets that edges connect it is in."""
    graph = scipy.sparse.coo_array((np.ones(len(one), np.int8), (one, other)), (size, size))
    labels: Index = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
    return labels


def _first_cells(cells: Cells) -> Edges:
    """The first cells of each group: the groups, and the indices."""
    pointers = host(cells.pointers)
    owners = np.repeat(np.arange(cells.groups), np.minimum(np.diff(pointers), FIRST_CELLS))
    start = np.searchsorted(owners, owners)
    at = pointers[owners] + (np.arange(len(owners)) - start)
    return Edges(owners, host(cells.indices[on(at, cells.indices)]))


def _all_cells(by_row: Cells) -> Iterator[Edges]:
    pointers = host(by_row.pointers)
    whole = np.searchsorted(pointers, np.arange(0, pointers[-1], CELLS_AT_ONCE))
    bounds = np.unique(np.append(whole, by_row.groups))
    for first, last in pairwise(bounds):
        owners = np.repeat(np.arange(first, last), np.diff(pointers[first : last + 1]))
        yield Edges(owners, host(by_row.indices[pointers[first] : pointers[last]]))


def _known(table: Table) -> Iterator[tuple[int, Array]]:
    """Some rows after the other: the first of them, and which of their cells count."""
    m, n = table.values.shape
    size = max(1, CELLS_AT_ONCE // max(n, 1))
    for first in range(0, m, size):
        rows = slice(first, first + size)
        weight = table.weight(rows, slice(None))
        seen = ~np.isnan(table.values[rows])
        yield first, host(seen if weight is None else seen & (weight > 0))


def _all_known(table: Table) -> Iterator[Edges]:
    for first, seen in _known(table):
        rows, cols = np.nonzero(seen)
        yield Edges(first + rows, cols)


def _first_known(table: Table) -> Iterator[Edges]:
    """The first cell that counts of each row and column."""
    linked = np.zeros(table.values.shape[1], bool)
    for first, seen in _known(table):
        rows = np.flatnonzero(seen.any(axis=1))
        yield Edges(first + rows, seen[rows].argmax(axis=1))
        cols = np.flatnonzero(seen.any(axis=0) & ~linked)
        yield Edges(first + seen[:, cols].argmax(axis=0), cols)
        linked[cols] = True
