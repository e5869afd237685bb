"""What is known of a side beforehand: tables of attributes, and which of its cells are known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pygeco.arrays.kinds import on, ones
from pygeco.arrays.low_rank import Array
from pygeco.arrays.operators import MadeOf, Operator
from pygeco.bayes.ridge import Group
from pygeco.engines import Cells, Engine

FLOAT = np.float32
PATTERN, TABLE = "pattern", "table"  # sources of groups: the known cells, or what was given


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
        return self.by_row.engine.products(self.by_row, self.row_data, 1.0, X).astype(FLOAT)

    def rmatmat(self, Y: Array) -> Array:
        return self.by_row.engine.products(self.by_col, self.col_data, 1.0, Y).astype(FLOAT)


@dataclass(frozen=True, eq=False)
class Centered(MadeOf):
    """diag(size) G − known meanᵀ: rows of any size, less the mean where something is known."""

    size: Array
    known: Array
    mean: Array

    def matmat(self, X: Array) -> Array:
        return self.size[:, None] * self.G.matmat(X) - self.known[:, None] * (self.mean @ X)

    def rmatmat(self, Y: Array) -> Array:
        sums = self.known @ Y
        return self.G.rmatmat(self.size[:, None] * Y) - self.mean[:, None] * on(sums, self.mean)


def group_pattern(own: Cells, other: Cells) -> Group:
    """Which cells each row knows: 1 / √count at each of them, less the mean of all rows.

    `own` groups the cells by row, `other` by column; of columns it is the other way round.
    """
    every = ones(own.size, own.values, FLOAT)
    G = CellTable(own, other, every, every)
    counts = own.counts()
    size = (1 / np.sqrt(np.maximum(counts, 1))).astype(FLOAT)
    return make_group(PATTERN, PATTERN, G, G, size, counts > 0)


def group_table(name: str, values: sp.csr_array, known: NDArray[np.bool_], engine: Engine) -> Group:
    """Some columns of a table of attributes, of the rows that are known."""
    table = values.tocoo()
    at = table.row.astype(np.int32), table.col.astype(np.int32)
    data = on(table.data.astype(FLOAT), engine.kind)
    orders = engine.both_orders(on(at[0], data), on(at[1], data), data, None, table.shape)
    G = CellTable(*orders, *(cells.values for cells in orders))
    squared = replace(G, row_data=G.row_data**2, col_data=G.col_data**2)
    size = ones(table.shape[0], data, FLOAT)
    return make_group(name, TABLE, G, squared, size, on(known, data))


def make_group(
    name: str,
    source: str,
    G: Operator,
    squared: Operator,
    size: Array,
    known: NDArray[np.bool_],
) -> Group:
    """A group of the rows diag(size) G that are known, centered; `squared` holds G's squares."""
    there = known.astype(FLOAT)
    size = size * there
    count = FLOAT(max(float(np.sum(there)), 1.0))
    mean = G.rmatmat(size[:, None])[:, 0] / count
    diagonal = squared.rmatmat((size**2)[:, None])[:, 0] - count * mean**2
    return Group(name, source, Centered(G, size, there, mean), np.maximum(diagonal, 0.0), mean)
