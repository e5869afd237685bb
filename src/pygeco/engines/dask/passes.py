"""The engine "dask": passes over slabs on the workers of a cluster.

Rows belong to slabs: what a pass gives for them stays on the workers, as `Tall` arrays. What it
gives for columns is summed over the slabs, in a fixed order, and is NumPy's on the client.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from pygeco.arrays.kinds import Array, parts
from pygeco.engines.cpu.cells import MAX_CACHED_SUMS, MIN_CELLS_PER_SUM
from pygeco.engines.dask import slab_functions, sweeps
from pygeco.engines.dask.cells import SlabStore, is_by_column
from pygeco.engines.dask.grid import Grid
from pygeco.engines.dask.programs import Node, run_pass
from pygeco.engines.dask.rowwise import slice_by_slab
from pygeco.engines.dask.tall import Tall
from pygeco.engines.protocol import GroupJob
from pygeco.engines.values import (
    Cells,
    Formulas,
    Residuals,
    Ridges,
    Slopes,
    Solved,
    Systems,
)

CELL, NUMBER = "cell", "number"
COLUMN_BLOCK_BYTES = 1 << 28  # of the columns' systems that are summed at once
MAX_COLUMN_BYTES = 1 << 30  # of all of them, above which cores are better


class Dask(SlabStore):
    """See `Engine`: its passes. One of them goes with one set of slabs."""

    name = "dask"

    def product(self, cells: Cells, data: Array, scale: float, x: Array) -> Array:
        args = (data, scale, self._other(cells, x))
        return self._pass("product", cells, (_like(),), *args)[0]

    def order_that_serves(self, by_row: Cells, by_col: Cells) -> bool | None:
        each = by_row.size // self.grid.count
        return False if self.columns <= min(MAX_CACHED_SUMS, each // MIN_CELLS_PER_SUM) else None

    def transposed_product(
        self, cells: Cells, data: Array, scale: float, x: Array, size: int
    ) -> Array:
        """A sum over the slabs' rows."""
        node = self._node(
            "transposed_product", "product", cells, data, scale, self._own(cells, x), size
        )
        found: Array = self.grid.total(node, "product", 8 * size)
        return found

    def products(self, cells: Cells, data: Array, scale: float, X: Array) -> Array:
        args = (data, scale, self._other(cells, X))
        return self._pass("products", cells, (_like(X.shape[1]),), *args)[0]

    def residuals(self, cells: Cells, P: Array, Q: Array) -> Residuals:
        outs = (CELL, NUMBER, NUMBER)
        return Residuals(*self._pass("residuals", cells, outs, *self._both(cells, P, Q)))

    def fresh_products(self, cells: Cells, P: Array, Q: Array, scale: float, X: Array) -> Residuals:
        outs = (_like(X.shape[1], dtype=X.dtype), NUMBER, NUMBER)
        args = (*self._both(cells, P, Q), scale, self._other(cells, X))
        return Residuals(*self._pass("fresh_products", cells, outs, *args))

    def cross_grams(self, cells: Cells, X: Array, x: Array) -> Array:
        args = (self._other(cells, X), self._other(cells, x))
        return self._pass("cross_grams", cells, (_like(X.shape[1]),), *args)[0]

    def moments(self, cells: Cells, Q: Array) -> tuple[Array, Array]:
        s = Q.shape[1]
        found = self._pass("moments", cells, (_like(s, s), _like(s)), self._other(cells, Q))
        return found[0], found[1]

    def total(self, cells: Cells, loss: Formulas, P: Array, Q: Array) -> float:
        return self._pass("total", cells, (NUMBER,), loss, *self._both(cells, P, Q))[0]

    def slopes(
        self, cells: Cells, loss: Formulas, P: Array, Q: Array, *, sums: bool = True
    ) -> Slopes:
        outs, args = (CELL, NUMBER, NUMBER), (loss, *self._both(cells, P, Q))
        return Slopes(*self._pass("slopes", cells, outs, *args, sums=sums))

    def systems(
        self, cells: Cells, loss: Formulas, P: Array, Q: Array, size: int, *, curved: bool = True
    ) -> Systems:
        square = (size, size) if curved else (0, 0)
        outs, args = (_like(*square), _like(size), _like()), (loss, *self._both(cells, P, Q), size)
        return Systems(*self._pass("systems", cells, outs, *args, curved=curved))

    def half_sweep(self, cells: Cells, start: Array, ridges: Ridges, *, variances: bool) -> Solved:
        given = ridges._asdict()
        partner = [self._other(cells, given.pop(name)) for name in sweeps.PARTNER]
        if is_by_column(cells):
            return self._columns(cells, start, ridges, partner, variances)
        own = [self._own(cells, given.pop(name)) for name in sweeps.OWN if name != "shift"]
        shift = given.pop("shift")
        own.append(shift if shift.ndim == 1 else self._own(cells, shift))
        args = (self._own(cells, start), given, variances, *partner, *own)
        node = self._node(sweeps.solve_rows, "half-sweep", cells, *args)
        d = start.shape[1]

        def field(at: int) -> Any:
            return self._tall(Node(operator.getitem, node, at), _like(d, dtype=start.dtype))

        drawn = ridges.noise is not None
        mean, variance = field(1) if drawn else None, field(2) if variances else None
        uncertainty: Any = LaterSum(self.grid, Node(operator.getitem, node, 3))
        left: Any = LaterSum(self.grid, Node(operator.getitem, node, 4))
        return Solved(field(0), mean, variance, uncertainty, left)

    def map_groups(self, cells: Cells, job: GroupJob, other: Array, *own: Array) -> Array:
        if is_by_column(cells):  # every slab has some cells of a column
            return job(self, cells, other, *own)
        arrays: list[Any] = [cells.values, cells.weights, other, *map(self._in_slabs, own)]
        nodes = [x.node if isinstance(x, Tall) else x for x in arrays]
        node = Node(slab_functions.run_job, job, self.slab, *nodes, costly=True, name="half-sweep")
        return self._tall(node, own[0][:0] if isinstance(own[0], np.ndarray) else own[0].meta)

    def _columns(
        self, cells: Cells, start: Array, ridges: Ridges, partner: list[Any], variances: bool
    ) -> Solved:
        """In blocks of columns, so that their systems fit in a worker beside the slab."""
        known = ridges.variance is not None
        numbers = sweeps.table_width(ridges.partner.shape[1], ridges.offsets, known)
        rest = {k: v for k, v in ridges._asdict().items() if k not in sweeps.PARTNER}
        found = []
        for part in parts(len(start), max(1, COLUMN_BLOCK_BYTES // (numbers * start.itemsize))):
            own = {k: rest[k][part] for k in sweeps.OWN if _has_lines(rest[k], k)}
            run = cells._replace(pointers=cells.pointers[part.start : part.stop + 1])
            node = self._node(sweeps.column_tables, "column-sweep", run, *partner, ridges.offsets)
            args = (start[part], rest | own, known, variances)
            size = numbers * (part.stop - part.start) * start.itemsize
            solved, gram = self.grid.finish_total(
                node, "column-sweep", sweeps.solve_columns, args, size
            )
            found.append(solved)
        factor: Any = ridges.partner
        if isinstance(factor, Tall):  # it is made orthonormal next
            factor.node.memory["gram"] = gram
        return sweeps.join_blocks(found)

    def sends_too_much(self, rank: int) -> bool:
        """Whether the columns' systems are too much to be summed over the slabs at every sweep."""
        return sweeps.table_width(rank, False, False) * 8 * self.columns > MAX_COLUMN_BYTES

    def _pass(self, name: str, cells: Cells, outs: Any, *args: Any, **keywords: Any) -> list[Any]:
        """A pass of the cpu engine on every slab; `outs` say of what kind its answers are.

        Arrays of the rows and of the cells stay there; those of columns and numbers are summed.
        """
        node = self._node(name, name.replace("_", "-"), cells, *args, **keywords)
        several, per_cell = len(outs) > 1, isinstance(outs[0], str) and outs[0] == CELL
        found: list[Any] = [None] * len(outs)
        sums = []

        def part(at: int) -> Node:
            return Node(operator.getitem, node, at) if several else node

        for at, out in enumerate(outs):
            if isinstance(out, str) and out == CELL:
                node.may_be_filed = False
                values: Any = cells.values
                found[at] = Tall(self, part(at), values.bounds, values.meta)
            elif per_cell and is_by_column(cells):  # made for the cells' sake
                found[at] = LaterSum(self.grid, part(at))
            elif isinstance(out, str) or is_by_column(cells):
                sums.append(at)
            elif 0 in out.shape[1:]:
                found[at] = np.zeros((cells.groups, *out.shape[1:]), out.dtype)
            else:
                found[at] = self._tall(part(at), out)
        if sums:
            wanted = Node(slab_functions.select, node, tuple(sums)) if several else node
            size = sum(_size(outs[at], cells.groups) for at in sums)
            total = self.grid.total(wanted, name, size)
            for at, value in zip(sums, total if several else (total,), strict=True):
                found[at] = float(value) if isinstance(outs[at], str) else value
        return found

    def _node(self, what: Any, name: str, cells: Cells, *args: Any, **keywords: Any) -> Node:
        groups: Any = cells.pointers
        whole = len(groups) - 1 == (self.columns if groups.by_col else self.bounds[-1])
        part = None if whole else slice(groups.first, groups.last)
        arrays: list[Any] = [cells.values, cells.weights, *args]
        given = [x.node if isinstance(x, Tall) else x for x in arrays]
        return Node(
            run_pass, what, groups.by_col, part, keywords, self.slab, *given,
            costly=True, name=name,
        )  # fmt: skip

    def _tall(self, node: Node, meta: NDArray[Any]) -> Any:
        return Tall(self, node, self.bounds, meta)

    def _both(self, cells: Cells, P: Any, Q: Any) -> tuple[Any, Any]:
        return self._own(cells, P), self._other(cells, Q)

    def _own(self, cells: Cells, x: Any) -> Any:
        return x if is_by_column(cells) else self._in_slabs(x)

    def _other(self, cells: Cells, x: Any) -> Any:
        return self._in_slabs(x) if is_by_column(cells) else x

    def _in_slabs(self, x: Any) -> Any:
        """An array of the rows: where the rows are."""
        return slice_by_slab(x, self.bounds) if isinstance(x, np.ndarray) and x.ndim else x


def _has_lines(x: Any, name: str) -> bool:
    """Whether a field of `Ridges` has one line a group."""
    return x is not None and (name != "shift" or x.ndim == 2)


class LaterSum(NDArrayOperatorsMixin):
    """A sum over the slabs that is made when it is used."""

    def __init__(self, grid: Grid, node: Node) -> None:
        self.grid, self.node = grid, node

    def __float__(self) -> float:
        return float(self.grid.total(self.node, "sum"))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc(*(float(x) if isinstance(x, LaterSum) else x for x in inputs), **kwargs)


def _like(*tail: int, dtype: Any = float) -> NDArray[Any]:
    return np.zeros((0, *tail), dtype)


def _size(out: Any, groups: int) -> int:
    return 8 if isinstance(out, str) else groups * int(np.prod(out.shape[1:])) * out.itemsize
