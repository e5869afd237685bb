"""What an engine is: the passes over the data, and the arrays that they take.

An objective has one engine, chosen once, from the data or by name; nothing below asks again.
`Host` runs on the cores of one machine (numba), `Cuda` on a GPU (CuPy).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array


class Cells(NamedTuple):
    """Cells grouped by row (or by column): 4 bytes of index and one value each.

    `weights` is empty where every cell counts once. `blocks` cuts the groups into the fixed parts
    in which the engine works.
    """

    pointers: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: Array
    weights: Array
    blocks: Any
    engine: Engine

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def groups(self) -> int:
        return len(self.pointers) - 1

    def counts(self) -> NDArray[np.int64]:
        return np.diff(self.pointers)

    def owners(self) -> NDArray[np.int32]:
        """The group of each cell."""
        every = np.arange(self.groups, dtype=np.int32, like=self.indices)
        return np.repeat(every, self.counts())

    def owners_of(self, cells: NDArray[Any]) -> NDArray[Any]:
        """The groups of some cells."""
        return np.searchsorted(self.pointers, cells, "right") - 1


class Table(NamedTuple):
    """Y (m, n) of any real type, with NaN for missing cells, and weights that broadcast to it.

    Predictions are made in `dtype`. A cell of weight zero is missing too.
    """

    values: NDArray[Any]
    weights: tuple[NDArray[Any], ...]
    dtype: np.dtype[Any]
    engine: Engine

    @property
    def T(self) -> Table:
        return self._replace(values=self.values.T, weights=tuple(w.T for w in self.weights))

    def weight(self, i: slice, j: slice) -> Array | None:
        """The weights of a tile, multiplied; None where every cell counts once."""
        product = None
        for w in self.weights:
            tile = w[i, j].astype(self.dtype)
            product = tile if product is None else product * tile
        return product


class Formulas(Protocol):
    """What a pass needs of a loss: array formulas, and their fused form where there is one."""

    @property
    def clipped(self) -> tuple[float, float] | None:
        """(δ, scale) where the slope is scale · clip(z − y, ±δ), as Huber's is."""

    def value(self, z: Array, y: Array) -> Array: ...
    def slope(self, z: Array, y: Array) -> Array: ...
    def stiffness(self, z: Array, y: Array) -> Array: ...


class Residuals(NamedTuple):
    """w (z − y) of each cell, Σ w (z − y)² and Σ w (z − y) z."""

    data: Array
    squares: float
    inner: float


class Slopes(NamedTuple):
    """W ℓ′(z, y) of each cell, Σ w ℓ and Σ w ℓ′ z."""

    data: Array
    value: float
    inner: float


class Systems(NamedTuple):
    """Of each group: Σ w ℓ″ q qᵀ (s, s), Σ w ℓ′ q (s,) and Σ w ℓ."""

    grams: Array
    sides: Array
    values: Array


class Lines(NamedTuple):
    """Of each line: Σ w ℓ′ x (k,), Σ w ℓ, Σ w h, and Σ w h x xᵀ (k, k) where asked for."""

    sides: Array
    values: Array
    stiffness: Array
    grams: Array


class Ridges(NamedTuple):
    """The ridge problems of a half-sweep, one a group; d = s, plus one with `offsets`.

    Λ_i = ridge_i prior + τ Σ_j w_e (P_j P_jᵀ + diag(W_j)),  b_i = ridge_i shift + τ Σ_j w_e r_e P_j
    with r_e = y_e − bias_j, P the partner's factor (n, s), W its variances, and with `offsets` one
    more unknown whose partner is the constant 1. `prior` (d, d) and `shift` (d,) are on the host.
    `jitter`, a share of the mean curvature, pulls a singular system to its start. A `noise` of
    standard normals (m, d) draws from the posterior. None stands for zeros; for ones as a ridge.
    """

    partner: Array
    bias: Array | None
    variance: Array | None
    bias_variance: Array | None
    ridge: Array | None
    prior: Array
    shift: Array
    tau: float
    jitter: float
    noise: Array | None
    offsets: bool


class Solved(NamedTuple):
    """Solutions (m, d), posterior means where noise was given, variances where asked for, and
    Σ w Var(ŷ) by the variances of both sides.
    """

    out: Array
    mean: Array | None
    variance: Array | None
    uncertainty: float


class Engine(Protocol):
    """Passes over the data. P goes with the groups, Q with the other side."""

    if TYPE_CHECKING:  # properties, or attributes

        @property
        def name(self) -> str: ...
        @property
        def kind(self) -> Array:
            """An array of the kind that the passes take and give."""

    def heavy(self, rank: int) -> bool:
        """Whether half-sweeps over columns at this rank would send too much; cores do not."""
        return False

    def session(self) -> AbstractContextManager[object]:
        """What holds while the engine works: on a GPU, errors that say what would fit in it."""

    def both_orders(
        self,
        rows: NDArray[Any],
        cols: NDArray[Any],
        values: Array,
        weights: Array | None,
        shape: tuple[int, int],
    ) -> tuple[Cells, Cells]:
        """Triplets in any order to (by row, by column), each group sorted."""

    def product(self, cells: Cells, data: Array, scale: float, x: Array) -> Array:
        """Scale · S x, where S has `data` at the cells. O(|E|)."""

    def alone(self, by_row: Cells, by_col: Cells) -> bool | None:
        """Which order is enough for products both ways (true: that by column); None: neither."""

    def crossed(self, cells: Cells, data: Array, scale: float, x: Array, size: int) -> Array:
        """Scale · Sᵀ x, `size` numbers, where S has `data` at the cells. O(|E|)."""

    def products(self, cells: Cells, data: Array, scale: float, X: Array) -> Array:
        """Scale · S X for a few columns at once. O(|E| k), in the precision of the data."""

    def residuals(self, cells: Cells, P: Array, Q: Array) -> Residuals:
        """z = ⟨P_i, Q_j⟩. O(|E| s)."""

    def fresh_products(self, cells: Cells, P: Array, Q: Array, scale: float, X: Array) -> Residuals:
        """Scale · S X for the residuals S at ⟨P_i, Q_j⟩, which are not kept. O(|E| (s + k))."""

    def transposed(self, by_row: Cells, by_col: Cells, data: Array) -> Array | None:
        """Numbers of the cells by row in the order by column; None where it is as well to make
        them again.
        """

    def cross_grams(self, cells: Cells, X: Array, x: Array) -> Array:
        """Σ_{i ∈ E_j} w x_i X_i of each group j: what a new column adds to the Grams. O(|E| s)."""

    def row_systems(self, cells: Cells, part: slice, offset: Array, V: Array) -> Systems:
        """Σ w v_j v_jᵀ and Σ w (y − offset_j) v_j of some groups, in float64. O(|E| s²)."""

    def moments(self, cells: Cells, Q: Array) -> tuple[Array, Array]:
        """Σ w q qᵀ (s, s) and Σ w y q (s,) of each group, in float64. O(|E| s²)."""

    def total(self, cells: Cells, loss: Formulas, P: Array, Q: Array) -> float:
        """Σ w ℓ(⟨P_i, Q_j⟩, y). O(|E| s)."""

    def slopes(
        self, cells: Cells, loss: Formulas, P: Array, Q: Array, *, sums: bool = True
    ) -> Slopes:
        """The slope of every cell; with `sums`, what goes with it. O(|E| s)."""

    def systems(
        self, cells: Cells, loss: Formulas, P: Array, Q: Array, size: int, *, curved: bool = True
    ) -> Systems:
        """The Newton system of each group in the first `size` columns of Q. O(|E| size²)."""

    def half_sweep(self, cells: Cells, start: Array, ridges: Ridges, *, variances: bool) -> Solved:
        """Every group's ridge problem, from `start` (m, d). O(|E| s² + m s³)."""

    def by_groups(
        self, cells: Cells, job: Callable[..., Array], other: Array, *own: Array
    ) -> Array:
        """job(cells, other, *own), like own[0]; where the groups are in several places, there.

        `own` are arrays of the groups, `other` is one of the other side.
        """

    def lines(
        self, table: Table, loss: Formulas, P: Array, Q: Array, X: Array, *,
        by_row: bool, curved: bool,
    ) -> Lines:  # fmt: skip
        """Sums over the cells of each row (or column) at predictions P Qᵀ. O(m n (s + k))."""

    def beyond(self, table: Table, P: Array, Q: Array, threshold: float) -> tuple[Array, ...]:
        """Rows, columns and residuals y − z of the cells with |y − z| > threshold.

        Row by row, and in the order of the columns within a row.
        """

    def medians(self, table: Table) -> Array:
        """The median of the observed cells of each column; zero where there is none."""

    def census(self, table: Table) -> tuple[float, float, int]:
        """Σ w, the largest w and the number of infinite values, over cells not missing."""

    def top_k(self, scores: Array, k: int) -> tuple[NDArray[np.int64], Array]:
        """Columns and values of the k largest of each row, best first; −1 where there are fewer."""
