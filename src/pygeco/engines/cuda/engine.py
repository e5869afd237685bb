"""The engine "cuda": passes on one GPU, by CuPy and the kernels in `kernels/`.

CuPy is imported when the engine is chosen, and only in `launch`. Arrays stay on the GPU
between passes. Reductions go by fixed parts of the data, so the same GPU gives the same bits.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import HOST, contiguous, empty, host, zeros
from pygeco.arrays.low_rank import Array
from pygeco.engines.columns import KNOWN
from pygeco.engines.cuda import tables
from pygeco.engines.cuda.columns import CudaColumnSteps, add_long_rows
from pygeco.engines.cuda.driver import count_gpus
from pygeco.engines.cuda.launch import Launcher, number, threads
from pygeco.engines.cuda.products import multiply, multiply_scaled, multiply_vector
from pygeco.engines.cuda.ridge import solve_ridge
from pygeco.engines.cuda.systems import half_sweep, systems
from pygeco.engines.cuda.work_items import WorkItems, append_zero, ranges, runs, split_groups
from pygeco.engines.protocol import LocalEngine, TableEngine
from pygeco.engines.values import (
    Cells,
    CenteredCells,
    Deviations,
    Formulas,
    Lines,
    LineScales,
    Residuals,
    RidgeProblem,
    Ridges,
    Slopes,
    Solved,
    Systems,
    Table,
)

RUN_CELLS = 1 << 27  # of one run of a loss's formulas


class Cuda(LocalEngine, TableEngine):
    """See `Engine`, `LocalEngine` and `TableEngine`."""

    name = "cuda"
    kind: Array = HOST

    def __init__(self, launch: Any, kind: Array) -> None:
        self.launch, self.kind = launch, kind

    def session(self) -> AbstractContextManager[object]:
        return self.launch.guard()

    def both_orders(
        self,
        rows: NDArray[Any],
        cols: NDArray[Any],
        values: Array,
        weights: Array | None,
        shape: tuple[int, int],
    ) -> tuple[Cells, Cells]:
        self.launch.check_room(len(values), values.dtype.itemsize * (1 if weights is None else 2))
        # Stable, so that repeats stay in their order.
        order = np.argsort(rows.astype(np.int64) * shape[1] + cols, kind="stable")
        i, j = (index.astype(np.int32)[order] for index in (rows, cols))
        data = [x[order] for x in ([values] if weights is None else [values, weights])]
        by_row = self._cells(i, j, data, shape)
        del order
        order = np.argsort(j, kind="stable")
        if len(order) <= np.iinfo(np.int32).max:
            order = order.astype(np.int32)
        by_col = self._cells(j[order], i[order], [x[order] for x in data], shape[::-1])
        return by_row, by_col._replace(blocks=by_col.blocks._replace(order=order))

    def _cells(self, major: Any, minor: Any, data: list[Array], shape: tuple[int, int]) -> Cells:
        """Cells that are sorted already."""
        groups = shape[0]
        pointers = np.searchsorted(major, np.arange(groups + 1, dtype=np.int32, like=major))
        none = data[0][:0]
        values, weights = data[0], data[1] if len(data) > 1 else none
        pointers = pointers.astype(np.int64)
        items = split_groups(pointers)._replace(
            ranges=ranges(major, minor, *shape, values.dtype.itemsize)
        )
        return Cells(pointers, minor, values, weights, items, self)

    def product(self, cells: Cells, data: Array, scale: float, x: Array | None) -> Array:
        return multiply_vector(self.launch, cells, data, scale, x)

    def reorder_by_column(self, by_row: Cells, by_col: Cells, data: Array) -> Array | None:
        return data[by_col.blocks.order]

    # `order_that_serves` is None: numbers change their order quickly, and scattered sums wait for
    # each other.
    def transposed_product(
        self, cells: Cells, data: Array, scale: float, x: Array, size: int
    ) -> Array:
        terms = data * x[cells.owners()].astype(float)
        return scale * np.bincount(cells.indices, weights=terms, minlength=size)

    def products(self, cells: Cells, data: Array, scale: float, X: Array) -> Array:
        found = multiply(self.launch, cells, data, None, contiguous(X, data.dtype))
        return scale * found.astype(float)

    def cross_grams(self, cells: Cells, X: Array, x: Array) -> Array:
        return multiply(
            self.launch, cells, _weights(cells), contiguous(x, float), contiguous(X, float)
        )

    def scaled_products(self, cells: Cells, data: Array, X: Array, scales: LineScales) -> Array:
        return multiply_scaled(self.launch, cells, data, X, scales)

    def solve_ridge(self, X: CenteredCells, problem: RidgeProblem) -> Array | None:
        given = (X.row_data, X.col_data, problem.right)
        if any(x.dtype != np.float32 for x in given):
            return None
        return solve_ridge(self.launch, X, problem)

    def residuals(self, cells: Cells, P: Array, Q: Array) -> Residuals:
        return self._measure(cells, P, Q, np.empty_like(cells.values))

    def fresh_products(self, cells: Cells, P: Array, Q: Array, scale: float, X: Array) -> Residuals:
        if not X.shape[1]:  # the sums alone are asked for
            return self._measure(cells, P, Q, None)
        found = self.residuals(cells, P, Q)
        return found._replace(data=self.products(cells, found.data, scale, X))

    def _measure(self, cells: Cells, P: Array, Q: Array, out: Array | None) -> Residuals:
        """The sums over the residuals, which go to `out`."""
        items: WorkItems = cells.blocks
        sums = empty((2, items.total), cells.values)
        self._predict(cells, items, slice(0, items.total), P, Q, out, 0, sums)
        left = zeros((cells.groups, 0), sums) if out is None else out
        return Residuals(left, *add_long_rows(self.launch, sums))

    def _predict(
        self, cells: Cells, items: WorkItems, run: slice, P: Array, Q: Array, out: Array | None,
        base: int, sums: Array | None,
    ) -> None:  # fmt: skip
        """Predictions of a run of items; with `sums`, residuals."""
        plain, count = sums is None, run.stop - run.start
        P, Q = (_pad_fours(F, cells.values.dtype) for F in (P, Q))
        self.launch(
            f"predictions<{number(cells.values)}>", threads(32 * count),
            np.int64(run.start), np.int64(count), items.starts, items.groups, cells.indices,
            None if plain else cells.values,
            None if plain else _weights(cells),
            np.int32(P.shape[1]), P, Q, np.int64(base), out, np.int64(items.total), sums,
        )  # fmt: skip

    def row_systems(self, cells: Cells, part: slice, offset: Array, V: Array) -> Systems:
        items = split_groups(cells.pointers[part.start : part.stop + 1])
        V, offset = V.astype(float), append_zero(offset.astype(float))
        found = systems(self.launch, cells, items, _weights(cells), cells.values, offset, V)
        return Systems(*found, zeros(0, V))

    def moments(self, cells: Cells, Q: Array) -> tuple[Array, Array]:
        Q = Q.astype(float)
        return systems(self.launch, cells, cells.blocks, _weights(cells), cells.values, None, Q)

    def half_sweep(self, cells: Cells, start: Array, ridges: Ridges, *, variances: bool) -> Solved:
        return half_sweep(self.launch, cells, start, ridges, variances=variances)

    def total(self, cells: Cells, loss: Formulas, P: Array, Q: Array) -> float:
        sums = [
            np.sum(_times(loss.value(z, y), w), dtype=float)
            for _, _, z, y, w in self._predictions(cells, P, Q)
        ]
        return float(sum(sums))

    def slopes(
        self, cells: Cells, loss: Formulas, P: Array, Q: Array, *, sums: bool = True
    ) -> Slopes:
        out = np.empty_like(cells.values)
        value, inner = [], []
        for _, at, z, y, w in self._predictions(cells, P, Q):
            out[at] = g = _times(loss.slope(z, y), w)
            if sums:
                value.append(np.sum(_times(loss.value(z, y), w), dtype=float))
                inner.append(np.sum(g * z, dtype=float))
        return Slopes(out, float(sum(value)), float(sum(inner)))

    def systems(
        self, cells: Cells, loss: Formulas, P: Array, Q: Array, size: int, *, curved: bool = True
    ) -> Systems:
        here = _own_cells(cells)
        g, h, value = (np.empty_like(here.values) for _ in range(3))
        for _, at, z, y, w in self._predictions(here, P, Q):
            g[at], value[at] = _times(loss.slope(z, y), w), _times(loss.value(z, y), w)
            if curved:
                h[at] = _times(loss.stiffness(z, y), w)
        values = self.product(here, value, 1.0, None)
        if not curved:
            sides = multiply(self.launch, here, g, None, contiguous(Q[:, :size], float))
            return Systems(zeros((len(sides), 0, 0), sides), sides, values)
        Q = Q[:, :size].astype(here.values.dtype)
        found = systems(self.launch, here, here.blocks, h, g, None, Q, plain=True)
        return Systems(*found, values)

    def _predictions(self, cells: Cells, P: Array, Q: Array) -> Any:
        """Run by run: groups, cells, and the predictions, targets and weights there."""
        items: WorkItems = cells.blocks
        for part, run in runs(items, max(1, RUN_CELLS // items.length)):
            whole = run == slice(0, items.total)
            at = slice(0, cells.size) if whole else _bounds(items.starts, run)
            z = empty(at.stop - at.start, cells.values, cells.values.dtype)
            self._predict(cells, items, run, P, Q, z, at.start, None)
            yield part, at, z, cells.values[at], cells.weights[at]

    def lines(
        self, table: Table, loss: Formulas, P: Array, Q: Array, X: Array, *,
        by_row: bool, curved: bool,
    ) -> Lines:  # fmt: skip
        return tables.lines(self.launch, table, loss, P, Q, X, by_row=by_row, curved=curved)

    def residuals_beyond(
        self, table: Table, P: Array, Q: Array, threshold: float | Array
    ) -> tuple[Array, ...]:
        return tables.residuals_beyond(table, P, Q, threshold)

    def deviations(self, table: Table, P: Array, Q: Array) -> Deviations:
        return tables.deviations(self.launch, table, P, Q)

    def medians(self, table: Table) -> Array:
        return tables.medians(self.launch, table)

    def census(self, table: Table) -> tuple[float, float, int]:
        return tables.census(table)

    def top_k(self, scores: Array, k: int) -> tuple[NDArray[np.int64], Array]:
        found = np.argsort(-scores, axis=1, kind="stable")[:, :k].astype(np.int64)
        values = scores[np.arange(len(scores), like=found)[:, None], found]
        found[values == -np.inf] = -1
        return found, values


def _weights(cells: Cells) -> Array | None:
    return cells.weights if len(cells.weights) else None


def _pad_fours(factor: Array, dtype: Any) -> Array:
    """With columns of zeros up to a multiple of four, which are read at once."""
    m, s = factor.shape
    if s % 4 == 0:
        return contiguous(factor, dtype)
    out = zeros((m, s + -s % 4), factor, dtype)
    out[:, :s] = factor
    return out


def _own_cells(cells: Cells) -> Cells:
    """A run of groups, whose pointers are part of all, with cells and items of its own."""
    if len(cells.pointers) == len(cells.blocks.first):
        return cells
    first, last = (int(x) for x in host(cells.pointers[[0, -1]]))
    pointers, at = cells.pointers - first, slice(first, last)
    return Cells(
        pointers,
        cells.indices[at],
        cells.values[at],
        cells.weights[at],
        split_groups(pointers),
        cells.engine,
    )


def _bounds(starts: NDArray[np.int64], run: slice) -> slice:
    first, last = host(starts[[run.start, run.stop]])
    return slice(int(first), int(last))


def _times(x: Array, w: Array) -> Array:
    return x * w if len(w) else x


@cache
def engine() -> Cuda:
    if not count_gpus():
        raise RuntimeError(
            "engine: 'cuda' needs an NVIDIA GPU and its driver, and none is visible; "
            "use engine='cpu'."
        )
    launch = Launcher()
    KNOWN[launch.cupy.ndarray] = CudaColumnSteps(launch)
    return Cuda(launch, launch.cupy.zeros(0))
