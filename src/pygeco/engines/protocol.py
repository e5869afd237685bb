"""What an engine does: the passes over the data.

An objective has one engine, chosen once, from the data or by name; nothing below asks again.
`Engine` is what every engine does: passes over cells. `LocalEngine` adds what takes arrays at hand,
`TableEngine` the passes over dense tables. An engine derives from those whose methods it has, all
of them: what it does not claim it is never asked for. `Cpu` runs on the cores of one machine
(numba) and `Cuda` on a GPU (CuPy), both with everything; `Dask` runs on a cluster, over cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Concatenate

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import contiguous, inner, stack, times, zeros
from pygeco.arrays.low_rank import Array
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

# What `Engine.map_groups` runs: job(engine, cells, other, *own).
GroupJob = Callable[Concatenate["Engine", Cells, ...], Array]


class Engine(ABC):
    """Passes over cells. P goes with the groups, Q with the other side.

    Methods with a body are abilities, stated as they are without one; the others are needed.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def kind(self) -> Array:
        """An array of the kind that the passes take and give."""

    # ---- abilities, and what holds without them

    # Whether the passes take NumPy's arrays where they are: a matrix of the user's is then not
    # copied, and a worker's slab not moved.
    uses_host_arrays: ClassVar[bool] = False

    def session(self) -> AbstractContextManager[object]:
        """What holds while the engine works: on a GPU, errors that say what would fit in it."""
        return nullcontext()

    def place_cells(self, by_row: Cells, by_col: Cells) -> tuple[Cells, Cells]:
        """Cells that were grouped and checked, where the passes run: they may be sent there."""
        return by_row, by_col

    def sends_too_much(self, rank: int) -> bool:
        """Whether half-sweeps over columns at this rank would send too much."""
        return False

    def order_that_serves(self, by_row: Cells, by_col: Cells) -> bool | None:
        """Which order is enough for products both ways (true: that by column); None: neither."""
        return None

    def reorder_by_column(self, by_row: Cells, by_col: Cells, data: Array) -> Array | None:
        """Numbers of the cells by row in the order by column; None where it is as well to make
        them again.
        """
        return None

    def weighted_gram(self, X: Array, weights: Array) -> Array:
        """Xᵀ diag(weights) X of a tall array, on the host in float64. O(n s²)."""
        return inner(X * weights[:, None], X).astype(float)

    def rotate(self, X: Array, Q: Array) -> Array:
        """X Q of a tall array and a square one of the host. O(n s²)."""
        return times(X, Q)

    def scaled_products(self, cells: Cells, data: Array, X: Array, scales: LineScales) -> Array:
        """S X for a few columns, scaled and shifted, in the precision of the data. O(|E| k)."""
        own, other, pull, shift = scales
        X = X if other is None else contiguous(other[:, None] * X)
        found = self.products(cells, data, 1.0, X).astype(data.dtype)
        found = found if own is None else own[:, None] * found
        return found if pull is None or shift is None else found - pull[:, None] * shift

    def solve_ridge(self, X: CenteredCells, problem: RidgeProblem) -> Array | None:
        """B of the problem; None where an engine has no faster way than product after product."""
        return None

    def solve_side(
        self, cells: Cells, start: Vectors, ridges: Ridges, *, variances: bool
    ) -> SolvedSide:
        """A half-sweep of vectors and offsets; these are zero where the ridges have none."""
        parts = [start.factor, start.bias] if ridges.offsets else [start.factor]
        solved = self.half_sweep(cells, stack(parts), ridges, variances=variances)
        s = start.factor.shape[1]

        def split(table: Array | None) -> Vectors | None:
            return None if table is None else _split_vectors(table, s)

        out, uncertainty = _split_vectors(solved.out, s), solved.uncertainty
        return SolvedSide(out, split(solved.mean), split(solved.variance), uncertainty)

    def fingerprint(self) -> list[str] | None:
        """Hashes that stand for the cells, where those are not at hand; None where they are."""
        return None

    # ---- what every engine does

    @abstractmethod
    def both_orders(
        self,
        rows: NDArray[Any],
        cols: NDArray[Any],
        values: Array,
        weights: Array | None,
        shape: tuple[int, int],
    ) -> tuple[Cells, Cells]:
        """Triplets in any order to (by row, by column), each group sorted."""

    @abstractmethod
    def product(self, cells: Cells, data: Array, scale: float, x: Array) -> Array:
        """The product scale · S x, where S has `data` at the cells. O(|E|)."""

    @abstractmethod
    def transposed_product(
        self, cells: Cells, data: Array, scale: float, x: Array, size: int
    ) -> Array:
        """The product scale · Sᵀ x, `size` numbers, where S has `data` at the cells. O(|E|)."""

    @abstractmethod
    def products(self, cells: Cells, data: Array, scale: float, X: Array) -> Array:
        """The product scale · S X for a few columns. O(|E| k), in the precision of the data."""

    @abstractmethod
    def residuals(self, cells: Cells, P: Array, Q: Array) -> Residuals:
        """The residuals at z = ⟨P_i, Q_j⟩. O(|E| s)."""

    @abstractmethod
    def fresh_products(self, cells: Cells, P: Array, Q: Array, scale: float, X: Array) -> Residuals:
        """The product scale · S X for the residuals S at ⟨P_i, Q_j⟩, which are not kept.
        O(|E| (s + k)).
        """

    @abstractmethod
    def cross_grams(self, cells: Cells, X: Array, x: Array) -> Array:
        """Σ_{i ∈ E_j} w x_i X_i of each group j: what a new column adds to the Grams. O(|E| s)."""

    @abstractmethod
    def moments(self, cells: Cells, Q: Array) -> tuple[Array, Array]:
        """Σ w q qᵀ (s, s) and Σ w y q (s,) of each group, in float64. O(|E| s²)."""

    @abstractmethod
    def total(self, cells: Cells, loss: Formulas, P: Array, Q: Array) -> float:
        """Σ w ℓ(⟨P_i, Q_j⟩, y). O(|E| s)."""

    @abstractmethod
    def slopes(
        self, cells: Cells, loss: Formulas, P: Array, Q: Array, *, sums: bool = True
    ) -> Slopes:
        """The slope of every cell; with `sums`, what goes with it. O(|E| s)."""

    @abstractmethod
    def systems(
        self, cells: Cells, loss: Formulas, P: Array, Q: Array, size: int, *, curved: bool = True
    ) -> Systems:
        """The Newton system of each group in the first `size` columns of Q. O(|E| size²)."""

    @abstractmethod
    def half_sweep(self, cells: Cells, start: Array, ridges: Ridges, *, variances: bool) -> Solved:
        """Every group's ridge problem, from `start` (m, d). O(|E| s² + m s³)."""

    @abstractmethod
    def map_groups(self, cells: Cells, job: GroupJob, other: Array, *own: Array) -> Array:
        """job(engine, cells, other, *own), like own[0], where the groups are: a `LocalEngine` in
        each place that holds some of them whole; this engine, where none does.

        `own` are arrays of the groups, `other` is one of the other side.
        """


def _split_vectors(table: Array, s: int) -> Vectors:
    bias = table[:, s] if table.shape[1] > s else zeros(len(table), table, table.dtype)
    return Vectors(contiguous(table[:, :s]), contiguous(bias))


class LocalEngine(Engine):
    """An engine whose arrays are at hand: some groups of cells, or some rows, can be taken."""

    @abstractmethod
    def row_systems(self, cells: Cells, part: slice, offset: Array, V: Array) -> Systems:
        """Σ w v_j v_jᵀ and Σ w (y − offset_j) v_j of some groups, in float64. O(|E| s²)."""

    @abstractmethod
    def top_k(self, scores: Array, k: int) -> tuple[NDArray[np.int64], Array]:
        """Columns and values of the k largest of each row, best first; −1 where there are fewer."""

    def best_products(self, asked: Products) -> tuple[NDArray[np.int64], Array] | None:
        """The same of scores that are products; None where blocks of them go to `top_k`."""
        return None

    def largest_products(self, asked: Largest) -> tuple[NDArray[np.int64], Array] | None:
        """Columns in ascending order, and their products; −1 and −∞ at the end where there are
        fewer. None where an engine has no such way.
        """
        return None

    def sum_lines(
        self,
        table: Array,
        rows: NDArray[np.int64],
        pointers: NDArray[np.int64],
        indices: NDArray[np.int32],
    ) -> Array:
        """Σ table[indices[e]] over the cells e of each row, (rows, r). O(|E| r)."""
        ends = zip(pointers[rows], pointers[rows + 1], strict=True)
        return np.stack([table[indices[int(a) : int(b)]].sum(axis=0) for a, b in ends])

    def map_groups(self, cells: Cells, job: GroupJob, other: Array, *own: Array) -> Array:
        return job(self, cells, other, *own)


class TableEngine(Engine):
    """An engine with passes over every cell of a dense table."""

    @abstractmethod
    def lines(
        self, table: Table, loss: Formulas, P: Array, Q: Array, X: Array, *,
        by_row: bool, curved: bool,
    ) -> Lines:  # fmt: skip
        """Sums over the cells of each row (or column) at predictions P Qᵀ. O(m n (s + k))."""

    @abstractmethod
    def residuals_beyond(
        self, table: Table, P: Array, Q: Array, threshold: float | Array
    ) -> tuple[Array, ...]:
        """Rows, columns and residuals y − z of the cells with |y − z| > threshold.

        One threshold, or one a column. Row by row, and in the order of the columns within a row.
        """

    @abstractmethod
    def deviations(self, table: Table, P: Array, Q: Array) -> Deviations:
        """Median and lower quartile of |y − z| of each column at z = P Qᵀ, and how many cells."""

    @abstractmethod
    def medians(self, table: Table) -> Array:
        """The median of the observed cells of each column; zero where there is none."""

    @abstractmethod
    def census(self, table: Table) -> tuple[float, float, int]:
        """Σ w, the largest w and the number of infinite values, over cells not missing."""
