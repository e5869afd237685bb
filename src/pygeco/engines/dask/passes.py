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
from pygeco.engines.cpu.cells import CROWDED, NARROW
from pygeco.engines.dask import programs as work
from pygeco.engines.dask import sweeps
from pygeco.engines.dask.cells import Groups, Spread
from pygeco.engines.dask.grid import Grid
from pygeco.engines.dask.nodes import Each, Node
from pygeco.engines.dask.rowwise import cut
from pygeco.engines.dask.slabs import Slabs
from pygeco.engines.dask.tall import Tall
from pygeco.engines.protocol import Engine, GroupJob
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
ROOM = 1 << 28  # bytes of the columns' systems that are summed at once
LARGE = 1 << 30  # bytes of all of them, from which on cores are better


class Dask(Engine):
    """See `Engine`. One of them goes with one set of slabs."""

    name = "dask"

    def __init__(self, slabs: Slabs) -> None:
        orders = tuple(
            slabs.client.submit(work.both, slab, slabs.columns, key=f"pygeco-orders-{slab.key}")
            for slab in slabs.futures
        )
        self.grid = Grid(slabs.client, orders)
        self.slab = self.grid.slab
        self.slabs, self.bounds, self.columns = slabs, slabs.bounds, slabs.columns
        self.ends = np.concatenate([[0], np.cumsum(slabs.sizes)]).astype(np.int64)
        counts = Node(work.counts, self.slab, False)
        self.home = Tall(self, counts, slabs.bounds, np.zeros(0, np.int64))

    @property
    def kind(self) -> Any:
        return self.home[:0]

    def cells(self) -> tuple[Cells, Cells]:
        """The cells by row and by column."""
        empty = np.zeros(0, self.slabs.dtype)

        def array(name: str, by_col: bool, meta: NDArray[Any]) -> Any:
            return Tall(self, Node(work.field, self.slab, by_col, name), self.ends, meta)

        orders = []
        for by_col in (False, True):
            groups: Any = Groups(0, self.columns if by_col else int(self.bounds[-1]), by_col)
            indices = array("indices", by_col, np.zeros(0, np.int32))
            weights = array("weights", by_col, empty) if self.slabs.weighted else empty
            values = array("values", by_col, empty)
            orders.append(Spread(groups, indices, values, weights, None, self))
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
        node = Node(work.regrouped, *nodes, first, shapes)
        found = self.slabs._replace(
            futures=self.grid.futures(node, "choose"), sizes=np.diff(arrays[2].bounds)
        )
        return Dask(found).cells()

    def fingerprint(self) -> list[str]:
        """A hash of each slab's cells."""
        arrays: list[Any] = list(self.cells()[0][1:4])
        nodes = [x.node for x in arrays if isinstance(x, Tall)]
        return self.grid.all(Node(work.hashed, self.home.node, *nodes), "hash")

    def owners(self) -> Tall:
        """The row of each cell, row by row."""
        first = Each(tuple(self.bounds[:-1].tolist()))
        node = Node(work.owners, self.slab, first)
        return Tall(self, node, self.ends, np.zeros(0, np.int32))

    def counts(self, cells: Cells) -> Any:
        """Cells of each group."""
        if not _by_col(cells):
            return self.home
        memory = self.slab.memory
        if "counts" not in memory:
            node = Node(work.counts, self.slab, True)
            memory["counts"] = self.grid.total(node, "count", 8 * self.columns)
        return memory["counts"]

    def product(self, cells: Cells, data: Array, scale: float, x: Array) -> Array:
        args = (data, scale, self._other(cells, x))
        return self._pass("product", cells, (_like(),), *args)[0]

    def order_that_serves(self, by_row: Cells, by_col: Cells) -> bool | None:
        each = by_row.size // self.grid.count
        return False if self.columns <= min(NARROW, each // CROWDED) else None

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
        if _by_col(cells):
            return self._columns(cells, start, ridges, partner, variances)
        own = [self._own(cells, given.pop(name)) for name in sweeps.OWN]
        args = (self._own(cells, start), given, variances, *partner, *own)
        node = self._node(sweeps.rows, "half-sweep", cells, *args)
        d = start.shape[1]

        def field(at: int) -> Any:
            return self._tall(Node(operator.getitem, node, at), _like(d, dtype=start.dtype))

        drawn = ridges.noise is not None
        mean, variance = field(1) if drawn else None, field(2) if variances else None
        uncertainty: Any = Later(self.grid, Node(operator.getitem, node, 3))
        return Solved(field(0), mean, variance, uncertainty)

    def map_groups(self, cells: Cells, job: GroupJob, other: Array, *own: Array) -> Array:
        if _by_col(cells):  # every slab has some cells of a column
            return job(self, cells, other, *own)
        arrays: list[Any] = [cells.values, cells.weights, other, *map(self._in_slabs, own)]
        nodes = [x.node if isinstance(x, Tall) else x for x in arrays]
        node = Node(work.in_parts, job, self.slab, *nodes, costly=True, name="half-sweep")
        return self._tall(node, own[0][:0] if isinstance(own[0], np.ndarray) else own[0].meta)

    def _columns(
        self, cells: Cells, start: Array, ridges: Ridges, partner: list[Any], variances: bool
    ) -> Solved:
        """In blocks of columns, so that their systems fit in a worker beside the slab."""
        known = ridges.variance is not None
        numbers = sweeps.width(ridges.partner.shape[1], ridges.offsets, known)
        rest = {k: v for k, v in ridges._asdict().items() if k not in sweeps.PARTNER}
        found = []
        for part in parts(len(start), max(1, ROOM // (numbers * start.itemsize))):
            own = {k: v[part] for k, v in rest.items() if k in sweeps.OWN and v is not None}
            run = cells._replace(pointers=cells.pointers[part.start : part.stop + 1])
            node = self._node(sweeps.tables, "column-sweep", run, *partner, ridges.offsets)
            args = (start[part], rest | own, known, variances)
            size = numbers * (part.stop - part.start) * start.itemsize
            solved, gram = self.grid.finished(node, "column-sweep", sweeps.solved, args, size)
            found.append(solved)
        factor: Any = ridges.partner
        if isinstance(factor, Tall):  # it is made orthonormal next
            factor.node.memory["gram"] = gram
        return sweeps.joined(found)

    def sends_too_much(self, rank: int) -> bool:
        """Whether the columns' systems are too much to be summed over the slabs at every sweep."""
        return sweeps.width(rank, False, False) * 8 * self.columns > LARGE

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
                node.lasting = False
                values: Any = cells.values
                found[at] = Tall(self, part(at), values.bounds, values.meta)
            elif per_cell and _by_col(cells):  # made for the cells' sake
                found[at] = Later(self.grid, part(at))
            elif isinstance(out, str) or _by_col(cells):
                sums.append(at)
            elif 0 in out.shape[1:]:
                found[at] = np.zeros((cells.groups, *out.shape[1:]), out.dtype)
            else:
                found[at] = self._tall(part(at), out)
        if sums:
            wanted = Node(work.some, node, tuple(sums)) if several else node
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
            work.on_cells, what, groups.by_col, part, keywords, self.slab, *given,
            costly=True, name=name,
        )  # fmt: skip

    def _tall(self, node: Node, meta: NDArray[Any]) -> Any:
        return Tall(self, node, self.bounds, meta)

    def _both(self, cells: Cells, P: Any, Q: Any) -> tuple[Any, Any]:
        return self._own(cells, P), self._other(cells, Q)

    def _own(self, cells: Cells, x: Any) -> Any:
        return x if _by_col(cells) else self._in_slabs(x)

    def _other(self, cells: Cells, x: Any) -> Any:
        return self._in_slabs(x) if _by_col(cells) else x

    def _in_slabs(self, x: Any) -> Any:
        """An array of the rows: where the rows are."""
        return cut(x, self.bounds) if isinstance(x, np.ndarray) and x.ndim else x


class Later(NDArrayOperatorsMixin):
    """A sum over the slabs that is made when it is used."""

    def __init__(self, grid: Grid, node: Node) -> None:
        self.grid, self.node = grid, node

    def __float__(self) -> float:
        return float(self.grid.total(self.node, "sum"))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc(*(float(x) if isinstance(x, Later) else x for x in inputs), **kwargs)


def _by_col(cells: Cells) -> bool:
    groups: Any = cells.pointers
    return bool(groups.by_col)


def _like(*tail: int, dtype: Any = float) -> NDArray[Any]:
    return np.zeros((0, *tail), dtype)


def _size(out: Any, groups: int) -> int:
    return 8 if isinstance(out, str) else groups * int(np.prod(out.shape[1:])) * out.itemsize
