"""Cells in slabs, as objectives see them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import Array
from pygeco.engines.dask import slab_functions
from pygeco.engines.dask.grid import Grid
from pygeco.engines.dask.programs import Each, Node
from pygeco.engines.dask.slabs import Slabs
from pygeco.engines.dask.tall import Tall
from pygeco.engines.protocol import Engine
from pygeco.engines.values import Cells


@dataclass(frozen=True)
class GroupRange:
    """Rows, or columns, first … last − 1, in the place of pointers, which only the slabs have."""

    first: int
    last: int
    by_col: bool

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __getitem__(self, key: slice) -> GroupRange:
        start, stop, _ = key.indices(len(self))
        return replace(self, first=self.first + start, last=self.first + stop - 1)


class SlabCells(Cells):
    """Cells whose arrays are on the workers, slab by slab; `pointers` are a `GroupRange`."""

    def counts(self) -> Any:
        engine: Any = self.engine
        return engine.counts(self)

    def owners(self) -> Any:
        engine: Any = self.engine
        return engine.owners()

    def owners_of(self, cells: Any) -> Any:
        return self.owners()[cells]


def is_by_column(cells: Cells) -> bool:
    """Whether the groups are columns, of which every slab has some cells."""
    groups: Any = cells.pointers
    return bool(groups.by_col)


class SlabStore(Engine):
    """What an engine has of one set of slabs: their cells, and arrays of their rows."""

    def __init__(self, slabs: Slabs) -> None:
        orders = tuple(
            slabs.client.submit(
                slab_functions.order_slab, slab, slabs.columns, key=f"pygeco-orders-{slab.key}"
            )
            for slab in slabs.futures
        )
        self.grid = Grid(slabs.client, orders)
        self.slab = self.grid.slab
        self.slabs, self.bounds, self.columns = slabs, slabs.bounds, slabs.columns
        self.ends = np.concatenate([[0], np.cumsum(slabs.sizes)]).astype(np.int64)
        counts = Node(slab_functions.count_cells, self.slab, False)
        self.home = Tall(self, counts, slabs.bounds, np.zeros(0, np.int64))

    @property
    def kind(self) -> Any:
        return self.home[:0]

    def cells(self) -> tuple[Cells, Cells]:
        """The cells by row and by column."""
        empty = np.zeros(0, self.slabs.dtype)

        def array(name: str, by_col: bool, meta: NDArray[Any]) -> Any:
            return Tall(
                self, Node(slab_functions.cell_field, self.slab, by_col, name), self.ends, meta
            )

        orders = []
        for by_col in (False, True):
            groups: Any = GroupRange(0, self.columns if by_col else int(self.bounds[-1]), by_col)
            indices = array("indices", by_col, np.zeros(0, np.int32))
            weights = array("weights", by_col, empty) if self.slabs.weighted else empty
            values = array("values", by_col, empty)
            orders.append(SlabCells(groups, indices, values, weights, None, self))
        return orders[0], orders[1]

    def both_orders(
        self,
        rows: NDArray[Any],
        cols: NDArray[Any],
        values: Array,
        weights: Array | None,
        shape: tuple[int, int],
    ) -> tuple[Cells, Cells]:
        """Some cells of these slabs, as slabs of their own."""
        arrays: list[Any] = [rows, cols, values, weights]
        first = Each(tuple(self.bounds[:-1].tolist()))
        shapes = Each(tuple((size, shape[1]) for size in np.diff(self.bounds).tolist()))
        nodes = [None if x is None else x.node for x in arrays]
        node = Node(slab_functions.regroup, *nodes, first, shapes)
        found = self.slabs._replace(
            futures=self.grid.futures(node, "choose"), sizes=np.diff(arrays[2].bounds)
        )
        return type(self)(found).cells()

    def fingerprint(self) -> list[str]:
        """A hash of each slab's cells."""
        arrays: list[Any] = list(self.cells()[0][1:4])
        nodes = [x.node for x in arrays if isinstance(x, Tall)]
        return self.grid.fetch_parts(
            Node(slab_functions.hash_arrays, self.home.node, *nodes), "hash"
        )

    def owners(self) -> Tall:
        """The row of each cell, row by row."""
        first = Each(tuple(self.bounds[:-1].tolist()))
        node = Node(slab_functions.cell_owners, self.slab, first)
        return Tall(self, node, self.ends, np.zeros(0, np.int32))

    def counts(self, cells: Cells) -> Any:
        """Cells of each group."""
        if not is_by_column(cells):
            return self.home
        memory = self.slab.memory
        if "counts" not in memory:
            node = Node(slab_functions.count_cells, self.slab, True)
            memory["counts"] = self.grid.total(node, "count", 8 * self.columns)
        return memory["counts"]
