"""Cells that come in batches, put into both orders without ever being kept as triplets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.coded import Coded
from pygeco.engines.cpu import products
from pygeco.engines.cpu.cells import cut_blocks, transpose_into
from pygeco.engines.protocol import Engine
from pygeco.engines.values import Cells


class RowFiller:
    """Cells by row, whose number in each row is known; rows are filled in the order of the cells.

    Values are of `dtype`, or codes of a table, a byte each.
    """

    def __init__(
        self, counts: NDArray[np.int64], dtype: Any, levels: NDArray[Any] | None = None
    ) -> None:
        self.pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.levels = levels
        self.place = self.pointers[:-1].copy()
        self.indices = np.empty(self.pointers[-1], np.int32)
        self.values: NDArray[Any] = np.empty(self.pointers[-1], dtype if levels is None else "u1")

    def add(self, rows: NDArray[np.int32], cols: NDArray[np.int32], values: NDArray[Any]) -> bool:
        """Put a batch of cells in its place; false where there is none for one of them."""
        given = values.astype(self.values.dtype, copy=False)
        if self.levels is not None:
            at = np.minimum(np.searchsorted(self.levels, values), len(self.levels) - 1)
            if not np.array_equal(self.levels[at], values):
                return False
            given = at.astype(np.uint8)
        arrays = self.place, self.pointers, self.indices, self.values
        return bool(products.place(rows, cols, np.ascontiguousarray(given), *arrays))

    def finish(self, columns: int, engine: Engine) -> tuple[Cells, Cells] | None:
        """The cells by row and by column, each group sorted; None where a row is not full.

        Sorted by column they come back sorted by row, into the same memory.
        """
        if not np.array_equal(self.place, self.pointers[1:]):
            return None
        indices, values = np.empty_like(self.indices), np.empty_like(self.values)
        own = self.pointers, self.indices, self.values
        pointers = transpose_into(indices, values, *own, columns)
        groups = len(self.pointers) - 1
        transpose_into(self.indices, self.values, pointers, indices, values, groups)
        return (
            self._make_cells(self.pointers, self.indices, self.values, columns, engine),
            self._make_cells(pointers, indices, values, groups, engine),
        )

    def _make_cells(
        self,
        pointers: NDArray[np.int64],
        indices: NDArray[np.int32],
        numbers: NDArray[Any],
        others: int,
        engine: Engine,
    ) -> Cells:
        levels = self.levels
        values: Any = numbers if levels is None else Coded(numbers, levels)
        none = np.zeros(0, values.dtype)
        return Cells(pointers, indices, values, none, cut_blocks(pointers), engine, others)
