"""The engine "cpu": passes on the cores of one machine, by the numba kernels beside this file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.coded import offer_code_work
from pygeco.arrays.grouped import offer_groups
from pygeco.arrays.kinds import HOST, contiguous, stack
from pygeco.arrays.loops import offer_loop
from pygeco.arrays.low_rank import Array
from pygeco.arrays.tall import offer_work
from pygeco.engines.cpu import backgrounds, products, ridge, separable, tiles
from pygeco.engines.cpu.boundaries import (
    check_arrays,
    check_factors,
    check_others,
    check_part,
    check_ridges,
    check_scales,
)
from pygeco.engines.cpu.cells import both_orders, order_that_serves, scatter_runs
from pygeco.engines.cpu.coding import CODE_WORK
from pygeco.engines.cpu.groups import GROUP_WORK
from pygeco.engines.cpu.largest import find_largest_products, sum_lines_of_cells
from pygeco.engines.cpu.listing import list_best_products
from pygeco.engines.cpu.padding import lay_partners, pad_rows
from pygeco.engines.cpu.ranking import top_k
from pygeco.engines.cpu.reading import lay_out
from pygeco.engines.cpu.row_tables import tables
from pygeco.engines.cpu.sweep import half_sweep
from pygeco.engines.cpu.tall import WORK
from pygeco.engines.cpu.threads import each
from pygeco.engines.cpu.vectors import BYTES
from pygeco.engines.protocol import Engine, GroupJob, LocalEngine, TableEngine
from pygeco.engines.values import (
    Cells,
    CenteredCells,
    Deviations,
    Formulas,
    Largest,
    Lines,
    LineScales,
    Products,
    Residuals,
    RidgeProblem,
    Ridges,
    Slopes,
    Solved,
    SolvedSide,
    Systems,
    Table,
    Vectors,
)

SUMS_AT_ONCE = 512  # of all runs that a thread adds up


class CpuCells(Engine):
    """See `Engine`: the passes over cells that are in this process."""

    name = "cpu"
    kind: Array = HOST

    def both_orders(
        self,
        rows: NDArray[Any],
        cols: NDArray[Any],
        values: Array,
        weights: Array | None,
        shape: tuple[int, int],
    ) -> tuple[Cells, Cells]:
        return both_orders(rows, cols, values, weights, shape, self)

    def product(self, cells: Cells, data: Array, scale: float, x: Array) -> Array:
        check_arrays(cells, data=data, other=(x,))
        out = np.empty(cells.groups)
        x = np.ascontiguousarray(x, dtype=None if x.dtype == np.float32 else float)
        lines = cells.pointers, cells.indices, np.asarray(data), cells.blocks
        products.matvec(*lines, scale, x, out)
        return out

    def order_that_serves(self, by_row: Cells, by_col: Cells) -> bool | None:
        return order_that_serves(by_row, by_col)

    def transposed_product(
        self, cells: Cells, data: Array, scale: float, x: Array, size: int
    ) -> Array:
        check_arrays(cells, data=data, own=(x,))
        check_others(cells, size)
        runs = scatter_runs(cells, size)
        sums, out = np.empty((len(runs) - 1, size)), np.empty(size)
        x = np.ascontiguousarray(x, dtype=None if x.dtype == np.float32 else float)
        products.scatter(cells.pointers, cells.indices, np.asarray(data), runs, x, sums)
        products.add_runs(sums, scale, SUMS_AT_ONCE, -(-size // SUMS_AT_ONCE), out)
        return out

    def products(self, cells: Cells, data: Array, scale: float, X: Array) -> Array:
        check_arrays(cells, data=data, other=(X,))
        out = np.empty((cells.groups, X.shape[1]))
        flat, width = pad_rows(contiguous(X, data.dtype))
        narrow = np.zeros((0, X.shape[1]), data.dtype)
        ridge.multiply(cells, data, flat, width, LineScales(None, None), narrow, out, scale=scale)
        return out

    def scaled_products(self, cells: Cells, data: Array, X: Array, scales: LineScales) -> Array:
        check_scales(cells, data, X, scales)
        out = np.empty((cells.groups, X.shape[1]), data.dtype)
        flat, width = pad_rows(X, scales.other)
        ridge.multiply(cells, data, flat, width, scales, out)
        return out

    def solve_ridge(self, X: CenteredCells, problem: RidgeProblem) -> Array | None:
        given = X.row_data, X.col_data, problem.right
        return ridge.solve(X, problem) if all(x.dtype == np.float32 for x in given) else None

    def residuals(self, cells: Cells, P: Array, Q: Array) -> Residuals:
        check_factors(cells, P, Q)
        out = np.empty(cells.size, cells.values.dtype)
        sums = np.empty((len(cells.blocks) - 1, 2))
        P, Q = np.ascontiguousarray(P), np.ascontiguousarray(Q)
        products.residuals(*lay_out(cells), P, Q, out, sums)
        return Residuals(out, float(sums[:, 0].sum()), float(sums[:, 1].sum()))

    def fresh_products(self, cells: Cells, P: Array, Q: Array, scale: float, X: Array) -> Residuals:
        check_factors(cells, P, Q)
        check_arrays(cells, other=(X,))
        out = np.empty((cells.groups, X.shape[1]), X.dtype)
        sums = np.empty((len(cells.blocks) - 1, 2))
        P, Q, X = (np.ascontiguousarray(x) for x in (P, Q, X))
        products.fresh_products(*lay_out(cells), P, Q, scale, X, out, sums)
        return Residuals(out, float(sums[:, 0].sum()), float(sums[:, 1].sum()))

    def cross_grams(self, cells: Cells, X: Array, x: Array) -> Array:
        check_arrays(cells, other=(X, x))
        out = np.empty((cells.groups, X.shape[1]))
        x = np.ascontiguousarray(x)
        products.cross_grams(cells.pointers, cells.indices, cells.weights, cells.blocks, X, x, out)
        return out

    def moments(self, cells: Cells, Q: Array) -> tuple[Array, Array]:
        check_arrays(cells, other=(Q,))
        return separable.moments(cells, Q)

    def total(self, cells: Cells, loss: Formulas, P: Array, Q: Array) -> float:
        check_factors(cells, P, Q)
        return separable.total(cells, loss, P, Q)

    def slopes(
        self, cells: Cells, loss: Formulas, P: Array, Q: Array, *, sums: bool = True
    ) -> Slopes:
        check_factors(cells, P, Q)
        return separable.slopes(cells, loss, P, Q, sums=sums)

    def systems(
        self, cells: Cells, loss: Formulas, P: Array, Q: Array, size: int, *, curved: bool = True
    ) -> Systems:
        check_factors(cells, P, Q, size)
        return separable.systems(cells, loss, P, Q, size, curved=curved)

    def weighted_gram(self, X: Array, weights: Array) -> Array:
        return backgrounds.weighted_gram(X, weights)

    def rotate(self, X: Array, Q: Array) -> Array:
        return backgrounds.rotate(X, Q)

    def half_sweep(self, cells: Cells, start: Array, ridges: Ridges, *, variances: bool) -> Solved:
        check_ridges(cells, ridges, start)
        if ridges.background is not None:
            return backgrounds.half_sweep(cells, start, ridges)
        s = ridges.partner.shape[1]
        bias = start[:, s] if ridges.offsets else np.zeros(len(start), start.dtype)
        found = self.solve_side(cells, Vectors(start[:, :s], bias), ridges, variances=variances)

        def join(some: Vectors) -> Array:
            return stack(list(some) if ridges.offsets else [some.factor])

        mean, spread = (some and join(some) for some in (found.mean, found.variance))
        return Solved(join(found.out), mean, spread, found.uncertainty)

    def solve_side(
        self, cells: Cells, start: Vectors, ridges: Ridges, *, variances: bool
    ) -> SolvedSide:
        check_ridges(cells, ridges, *start)
        (m, s), dtype = start.factor.shape, start.factor.dtype
        given = ridges.partner, ridges.bias, ridges.variance, ridges.bias_variance
        flat, vague, width, offsets = lay_partners(*given)
        out = Vectors(stack([start.factor]), np.array(start.bias))  # the kernel overwrites both
        none, nothing = Vectors(out[0][:0], out[1][:0]), np.zeros((0, s + ridges.offsets), dtype)
        spread = _make_room(out) if variances else none
        mean = none if ridges.noise is None else _make_room(out)
        uncertainty = np.empty(m)
        half_sweep(
            *lay_out(cells),
            flat,
            vague,
            width,
            s,
            int(ridges.offsets),
            offsets,
            np.ones(m, dtype) if ridges.ridge is None else ridges.ridge.astype(dtype),
            _prior_table(ridges, s, dtype),
            nothing if ridges.shift.ndim == 1 else ridges.shift.astype(dtype),
            dtype.type(ridges.tau),
            dtype.type(ridges.jitter),
            nothing if ridges.noise is None else ridges.noise,
            *out,
            *mean,
            *spread,
            uncertainty,
        )
        drawn = mean if ridges.noise is not None else None
        return SolvedSide(out, drawn, spread if variances else None, float(uncertainty.sum()))

    def map_groups(self, cells: Cells, job: GroupJob, other: Array, *own: Array) -> Array:
        return job(ENGINE, cells, other, *own)


def _make_room(like: Vectors) -> Vectors:
    """For vectors that a kernel finds, and offsets that are zero where there are none."""
    return Vectors(np.empty_like(like.factor), np.zeros_like(like.bias))


class Cpu(CpuCells, LocalEngine, TableEngine):
    """See `LocalEngine` and `TableEngine`."""

    uses_host_arrays = True

    def row_systems(self, cells: Cells, part: slice, offset: Array, V: Array) -> Systems:
        check_part(cells, part, offset, V)
        count, s = part.stop - part.start, V.shape[1]
        grams, sides = np.empty((count, s, s)), np.empty((count, s))
        V, offset = np.ascontiguousarray(V), np.ascontiguousarray(offset, dtype=float)
        products.row_systems(*lay_out(cells)[:4], part.start, offset, V, grams, sides)
        return Systems(grams, sides, np.zeros(0))

    def top_k(self, scores: Array, k: int) -> tuple[NDArray[np.int64], Array]:
        found, values = (np.empty((len(scores), k), kind) for kind in (np.int64, scores.dtype))
        top_k(scores, found, values)
        return found, values

    def best_products(self, asked: Products) -> tuple[NDArray[np.int64], Array]:
        return list_best_products(asked)

    def largest_products(self, asked: Largest) -> tuple[NDArray[np.int64], Array]:
        return find_largest_products(asked)

    def sum_lines(
        self,
        table: Array,
        rows: NDArray[np.int64],
        pointers: NDArray[np.int64],
        indices: NDArray[np.int32],
    ) -> Array:
        return sum_lines_of_cells(table, rows, pointers, indices)

    def lines(
        self, table: Table, loss: Formulas, P: Array, Q: Array, X: Array, *,
        by_row: bool, curved: bool,
    ) -> Lines:  # fmt: skip
        return tiles.lines(table, loss, P, Q, X, by_row=by_row, curved=curved)

    def residuals_beyond(
        self, table: Table, P: Array, Q: Array, threshold: float | Array
    ) -> tuple[Array, ...]:
        return tiles.residuals_beyond(table, P, Q, threshold)

    def deviations(self, table: Table, P: Array, Q: Array) -> Deviations:
        return tiles.deviations(table, P, Q)

    def medians(self, table: Table) -> Array:
        return tiles.medians(table)

    def census(self, table: Table) -> tuple[float, float, int]:
        return tiles.census(table)


ENGINE = Cpu()
offer_work(WORK)
offer_loop(each)
offer_groups(GROUP_WORK)
offer_code_work(CODE_WORK)


def engine() -> Cpu:
    return ENGINE


def _prior_table(ridges: Ridges, s: int, dtype: np.dtype[Any]) -> Array:
    """The prior and the shift in the layout of a row's table."""
    d = len(ridges.prior)
    # Three numbers: in Python they are there before numba would have compiled the function.
    row, stride, size = tables.py_func(s, d, BYTES // dtype.itemsize)
    out = np.zeros((size // stride, stride), dtype)
    out[:d, :d] = ridges.prior
    out[row, :d] = ridges.shift if ridges.shift.ndim == 1 else 0.0
    return out.reshape(-1)
