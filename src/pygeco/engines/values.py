"""What passes over the data take and give: cells, tables, and the numbers that a pass finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array

if TYPE_CHECKING:
    from pygeco.engines.protocol import Engine, TableEngine


class Cells(NamedTuple):
    """Cells grouped by row (or by column): 4 bytes of index and one value each.

    `weights` is empty where every cell counts once. `blocks` cuts the groups into the fixed parts
    in which the engine works. All indices are below `others`, where that is known: zero is not.
    """

    pointers: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: Array
    weights: Array
    blocks: Any
    engine: Engine
    others: int = 0

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


class CenteredCells(NamedTuple):
    """X = diag(size) G − known meanᵀ; G has `row_data` at the cells by row, else `col_data`."""

    by_row: Cells
    by_col: Cells
    row_data: Array
    col_data: Array
    size: Array
    known: Array
    mean: Array


class RidgeProblem(NamedTuple):
    """(XᵀDX + weight) B = right, D the diagonal `there`, by conjugate gradients from a start.

    They end when each column's residual, by the diagonal `scale`, has fallen to `tolerance` of its
    right side, or after `max_iter` steps.
    """

    weight: float
    scale: Array
    right: Array
    start: Array
    there: Array
    tolerance: float
    max_iter: int


class Table(NamedTuple):
    """Y (m, n) of any real type, with NaN for missing cells, and weights that broadcast to it.

    Predictions are made in `dtype`. A cell of weight zero is missing too.
    """

    values: NDArray[Any]
    weights: tuple[NDArray[Any], ...]
    dtype: np.dtype[Any]
    engine: TableEngine

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


class Deviations(NamedTuple):
    """Of each column's observed cells: the median |y − z|, the lower quartile, their number.

    The quartile is the median of what is not above the median. Without a cell both are zero.
    """

    medians: Array
    quartiles: Array
    counts: NDArray[Any]


class Ridges(NamedTuple):
    """The ridge problems of a half-sweep, one a group; d = s, plus one with `offsets`.

    Λ_i = ridge_i prior + τ Σ_j w_e (P_j P_jᵀ + diag(W_j)),  b_i = ridge_i shift + τ Σ_j w_e r_e P_j
    with r_e = y_e − bias_j, P the partner's factor (n, s), W its variances, and with `offsets` one
    more unknown whose partner is the constant 1. `prior` (d, d) is on the host, and so is `shift`
    (d,); as (m, d), one a group, it is where the groups are.
    `jitter`, a share of the mean curvature, pulls a singular system to its start. A `noise` of
    standard normals (m, d) draws from the posterior. None stands for zeros; for ones as a ridge.

    A `background` (m,) adds background_i diag(spectrum) to Λ_i; `spectrum` (s,) is on the host. The
    prior is then the identity, and there are no offsets, biases, variances, shifts or noise.
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
    background: Array | None = None
    spectrum: Array | None = None


class Solved(NamedTuple):
    """Solutions (m, d), posterior means where noise was given, variances where asked for, and
    Σ w Var(ŷ) by the variances of both sides. With a background and no jitter, `unexplained` is
    Σ w y² − Σ ⟨b_i, x_i⟩: what is left of the sum of squares and the ridges.
    """

    out: Array
    mean: Array | None
    variance: Array | None
    uncertainty: float
    unexplained: float = 0.0


class Vectors(NamedTuple):
    """Vectors (m, s) of the groups, and their offsets (m,)."""

    factor: Array
    bias: Array


class SolvedSide(NamedTuple):
    """The same as `Solved`, with vectors and offsets apart."""

    out: Vectors
    mean: Vectors | None
    variance: Vectors | None
    uncertainty: float


class Products(NamedTuple):
    """A question for lists: the k columns with the largest ⟨left_i, right_j⟩ + offsets_j.

    Of the columns `names`, which ascend, without hidden cells: line i of `left` is row rows[i] of
    the cells. Factors keep the precision they have.
    """

    left: Array
    right: Array
    offsets: Array
    rows: NDArray[np.int64]
    names: NDArray[np.int64]
    pointers: NDArray[np.int64]
    indices: NDArray[np.int32]
    k: int


class Largest(NamedTuple):
    """A question for the k columns with the largest ⟨left_t, right_j⟩, in single precision.

    Line t of `left` is row rows[t] of the cells in `hidden` (pointers and indices of each set),
    whose columns are left out; so are those that are not `allowed`.
    """

    left: Array
    right: Array
    rows: NDArray[np.int64]
    hidden: tuple[tuple[NDArray[np.int64], NDArray[np.int32]], ...]
    allowed: NDArray[np.bool_] | None
    k: int


class LineScales(NamedTuple):
    """How products S X are scaled and shifted: own_i Σ_j S_ij other_j X_j − pull_i shift.

    No `own` or no `other` is one everywhere, and no `pull` is zero.
    """

    own: Array | None
    other: Array | None
    pull: Array | None = None
    shift: Array | None = None
