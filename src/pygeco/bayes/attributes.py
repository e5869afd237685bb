"""What is known of a side beforehand: tables of attributes, and which of its cells are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when used
from numpy.typing import NDArray

from pygeco.arrays.kinds import contiguous, on, ones
from pygeco.arrays.low_rank import Array
from pygeco.arrays.operators import MadeOf, Operator
from pygeco.arrays.short_repr import show_fields
from pygeco.bayes.ridge import PATTERN, TABLE, RidgeGroup
from pygeco.engines import Cells, Engine
from pygeco.engines.values import CenteredCells, LineScales

FLOAT = np.float32
MIN_SPREAD = 1e-6  # share of the squares that must lie about the mean; below it float32 rounds


@dataclass(frozen=True, eq=False)
class CellTable(Operator):
    """A sparse matrix with `data` at cells, which are given in both orders."""

    by_row: Cells
    by_col: Cells
    row_data: Array
    col_data: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.by_row.groups, self.by_col.groups

    @property
    def kind(self) -> Array:
        return self.by_row.engine.kind

    def matmat(self, X: Array) -> Array:
        X = contiguous(X, FLOAT)
        return self.by_row.engine.products(self.by_row, self.row_data, 1.0, X).astype(FLOAT)

    def rmatmat(self, Y: Array) -> Array:
        Y = contiguous(Y, FLOAT)
        return self.by_row.engine.products(self.by_col, self.col_data, 1.0, Y).astype(FLOAT)

    def multiply_scaled(self, X: Array, scales: LineScales) -> Array:
        """G X, scaled and shifted."""
        engine = self.by_row.engine
        return engine.scaled_products(self.by_row, self.row_data, contiguous(X, FLOAT), scales)

    def multiply_transposed_scaled(self, Y: Array, scales: LineScales) -> Array:
        """Gᵀ Y, scaled and shifted."""
        engine = self.by_row.engine
        return engine.scaled_products(self.by_col, self.col_data, contiguous(Y, FLOAT), scales)


@dataclass(frozen=True, eq=False)
class Centered(MadeOf):
    """diag(size) G − known meanᵀ: rows of any size, less the mean where something is known."""

    G: CellTable
    size: Array
    known: Array
    mean: Array

    def matmat(self, X: Array) -> Array:
        scales = LineScales(self.size, None, self.known, self.mean @ X)
        return self.G.multiply_scaled(X, scales)

    def rmatmat(self, Y: Array) -> Array:
        sums = on(self.known @ Y, self.mean)
        return self.G.multiply_transposed_scaled(Y, LineScales(None, self.size, self.mean, sums))


class AttributeValues(NamedTuple):
    """A table of attributes of one side, its columns in groups.

    `matrix` (m, F) is sparse and on the host; where `known` is false nothing is known of a row.
    """

    matrix: scipy.sparse.csr_array
    known: NDArray[np.bool_]
    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def __repr__(self) -> str:
        return show_fields(self)

    def on_host(self) -> tuple[str, ...]:
        return "matrix", "known"

    def take(self, rows: NDArray[np.integer]) -> AttributeValues:
        """Those of some rows."""
        return self._replace(
            matrix=scipy.sparse.csr_array(self.matrix[rows]), known=self.known[rows]
        )

    def append(self, other: AttributeValues) -> AttributeValues:
        """With the rows of another table of the same groups after its own."""
        matrix = scipy.sparse.csr_array(scipy.sparse.vstack([self.matrix, other.matrix]))
        return self._replace(matrix=matrix, known=np.concatenate([self.known, other.known]))

    def widen(self, size: int, place: NDArray[np.integer]) -> AttributeValues:
        """With rows of which nothing is known; the old ones go to these places."""
        at = np.full(size, -1)
        at[place] = np.arange(len(place))
        found = self.take(np.maximum(at, 0))
        old = at >= 0
        matrix = scipy.sparse.csr_array(scipy.sparse.diags_array(old.astype(FLOAT)) @ found.matrix)
        return found._replace(matrix=matrix, known=found.known & old)

    def split(self) -> list[scipy.sparse.csr_array]:
        """The columns of each group."""
        ends = np.cumsum(self.sizes)
        return [
            scipy.sparse.csr_array(self.matrix[:, end - size : end])
            for size, end in zip(self.sizes, ends, strict=True)
        ]


def mark_cells(cells: Cells) -> Array:
    """A one for each cell, in any order."""
    return ones(cells.size, cells.values, FLOAT)


def group_pattern(own: Cells, other: Cells, every: Array) -> RidgeGroup | None:
    """Which cells each row knows: 1 / √count at each of them, less the mean of all rows.

    `own` groups the cells by row, `other` by column; of columns it is the other way round. `every`,
    from `mark_cells`, serves both sides. None where all rows know the same cells.
    """
    G = CellTable(own, other, every, every)
    known = own.counts() > 0
    return make_group(PATTERN, PATTERN, G, G, pattern_sizes(own), known, known)


def pattern_sizes(own: Cells) -> Array:
    """1 / √count of each row."""
    return (1 / np.sqrt(np.maximum(own.counts(), 1))).astype(FLOAT)


def group_table(
    values: AttributeValues, some: NDArray[np.bool_], engine: Engine
) -> Iterator[RidgeGroup]:
    """The groups of a table of attributes; `some` says which rows have data."""
    known = on(values.known, some)
    size = ones(len(values.known), engine.kind, FLOAT)
    for name, part in zip(values.names, values.split(), strict=True):
        G = place_table(part, engine)
        squared = replace(G, row_data=G.row_data**2, col_data=G.col_data**2)
        group = make_group(name, TABLE, G, squared, size, known, known & some)
        if group is not None:
            yield group


def place_table(values: scipy.sparse.csr_array, engine: Engine) -> CellTable:
    """A sparse matrix of the host where the passes run."""
    table = values.tocoo()
    rows, cols = (on(x.astype(np.int32), engine.kind) for x in (table.row, table.col))
    data = on(table.data.astype(FLOAT), engine.kind)
    by_row, by_col = engine.both_orders(rows, cols, data, None, table.shape)
    return CellTable(by_row, by_col, by_row.values, by_col.values)


def make_group(
    name: str,
    source: str,
    G: CellTable,
    squared: CellTable,
    size: Array,
    known: NDArray[np.bool_],
    counted: NDArray[np.bool_],
) -> RidgeGroup | None:
    """The rows diag(size) G that are known, less the mean of those that are counted.

    `squared` holds G's squares. None where the counted rows are all alike.
    """
    own, there = size * counted.astype(FLOAT), known.astype(FLOAT)
    count = FLOAT(max(float(np.sum(counted, dtype=float)), 1.0))
    mean = G.rmatmat(own[:, None])[:, 0] / count
    squares = squared.rmatmat((own**2)[:, None])[:, 0]
    diagonal = np.maximum(squares - count * mean**2, 0.0)
    if float(np.sum(diagonal, dtype=float)) <= MIN_SPREAD * float(np.sum(squares, dtype=float)):
        return None
    X = Centered(G, size * there, there, mean)
    cells = CenteredCells(G.by_row, G.by_col, G.row_data, G.col_data, X.size, X.known, mean)
    return RidgeGroup(name, source, X, diagonal, mean, cells=cells)
