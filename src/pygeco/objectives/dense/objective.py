"""Every cell of a dense matrix: R(A) = Σ w ℓ(A_ij, Y_ij) / Σ w, robust approximation."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy  # its parts are imported when used
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.checks import check_factors, check_offset, check_shape
from pygeco.arrays.kinds import host, inner, on, ones, scaled, times, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.engines import Engine, TableEngine, choose_table_engine
from pygeco.engines.values import Deviations, Lines, Systems
from pygeco.losses import Loss, Squared, find_loss, prepare_loss
from pygeco.losses.duals import slack_of_losses
from pygeco.objectives.base import Objective, check_sweep
from pygeco.objectives.dense.gradient import DenseGradient
from pygeco.objectives.dense.input import check_extremes, check_table, relabel_table, weights_at
from pygeco.objectives.dense.sample import Sample, draw_sample
from pygeco.objectives.dense.sweep import MAX_DIRECT_COLUMNS, minimize_lines, split_blocks
from pygeco.objectives.islands import Islands, islands_of_table
from pygeco.objectives.spans.convex import ConvexSpan

EPSILON = float(np.finfo(float).eps)


class Dense(Objective):
    """The mean loss over the cells of a dense m × n matrix, less those that are missing.

    Y is read in tiles as it is, so that memory over the input stays bounded. Small integers and
    float32 are worked in float32, the rest in float64.

    Parameters
    ----------
    Y : array (m, n)
        Of any real type; a cell is missing where it is NaN.
    loss : str or Loss, default="squared"
        A name or an object from `pygeco.losses`.
    mask : bool array (m, n) or None, default=None
        Cells where it is False are missing too.
    sample_weight : array or None, default=None
        Weights of cells; broadcasts to the shape of Y.
    engine : "cpu", "cuda" or None, default=None
        Where passes over the cells run; by default where Y is already.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Dense, minimize
    >>> Y = np.outer([1.0, 2.0, 3.0], [1.0, 2.0])
    >>> Y[0, 0] = np.nan
    >>> minimize(Dense(Y), 1, random_state=0).A.to_dense()[0].round(3).tolist()
    [1.0, 2.0]
    """

    can_sweep = True

    def __init__(
        self,
        Y: ArrayLike,
        loss: str | Loss = "squared",
        *,
        mask: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        engine: str | Engine | None = None,
    ) -> None:
        self.table = check_table(Y, mask, sample_weight, choose_table_engine(engine, Y))
        self.shape: tuple[int, int] = self.table.values.shape
        self.offset: tuple[Array, Array] | None = None
        self.total_weight, self.heaviest, infinite = self.engine.census(self.table)
        if infinite:
            raise ValueError(f"Y: {infinite} cells are infinite; mark them as NaN to leave out.")
        if not self.total_weight > 0:
            raise ValueError("Y: no observed cell; at least one is needed.")
        check_extremes(self.table, find_loss(loss))
        if type(find_loss(loss)).targets is not Loss.targets:  # labels or levels, not numbers
            self.loss, self.table = relabel_table(loss, self.table)
        else:
            i, j, seen, y, _ = self.sample
            w = weights_at(self.table, np.ix_(i, j), seen)
            self.loss, _ = prepare_loss(loss, y[seen], w)

    @property
    def engine(self) -> TableEngine:
        """Where the passes over the cells run."""
        return self.table.engine

    @property
    def kind(self) -> Array:
        """An array of the kind that the passes take."""
        return self.engine.kind

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.table.dtype

    @property
    def nonnegative(self) -> bool:
        """Whether R ≥ 0 for sure."""
        return self.loss.nonnegative

    @property
    def squared(self) -> bool:
        """Whether R is a weighted sum of squares."""
        return isinstance(self.loss, Squared)

    @property
    def smoothness(self) -> float:
        """β = L max w / Σ w."""
        return self.loss.smoothness * self.heaviest / self.total_weight

    @property
    def complete(self) -> bool:
        """Whether every cell counts once: products with Y itself then do."""
        m, n = self.shape
        return not self.table.weights and self.total_weight == m * n

    @cached_property
    def islands(self) -> Islands | None:
        """Rows and columns that share no known cell with others."""
        return None if self.complete else islands_of_table(self.table)

    def value(self, A: LowRank) -> float:
        """R(A). One pass, O(m n s)."""
        check_factors(A, self.shape)
        return self.total_loss(False, A.left, A.V) / self.total_weight

    def slack(self, A: LowRank) -> Callable[[float], float] | None:
        """c ↦ Σ w (ℓ + ℓ*(c ℓ′) − c ℓ′ z) / Σ w, for certificates. One pass each, O(m n s)."""
        return slack_of_losses(self, A)

    def gradient(self, A: LowRank) -> DenseGradient:
        """∇R(A) = w ℓ′(A, Y) / Σ w, made again tile by tile at each product. O(m n s)."""
        check_factors(A, self.shape)
        left = A.left
        found = self.lines(False, left, A.V, A.V)
        value = float(found.values.sum()) / self.total_weight
        inner = float(np.sum(found.sides * left)) / self.total_weight
        return DenseGradient(self, left, A.V, value, inner)

    def span(self, A: LowRank) -> ConvexSpan:
        """B ↦ R(U B Vᵀ) for the columns of A."""
        check_shape(A, self.shape)
        return replace(ConvexSpan.of(self, A), quadratic=isinstance(self.loss, Squared))

    def counts(self) -> tuple[Array, Array]:
        """The total weight of the observed cells of each row, and of each column."""
        m, n = self.shape
        none = zeros((m, 0), self.kind), zeros((n, 0), self.kind)
        flat = self.with_loss(Squared())
        return (
            flat.lines(False, *none, none[1]).stiffness / 2,
            flat.lines(True, *none[::-1], none[0]).stiffness / 2,
        )

    def default_correction(self, *, penalized: bool, rank: int) -> str:
        """Sweeps, where every line has a minimum of its own; see `Entries`."""
        return "sweep" if penalized or self.loss.regression else "core"

    def half_sweep(
        self,
        fixed: Array,
        start: Array,
        *,
        side: str,
        ridge: float | Array = 0.0,
        steps: int = 50,
        exact: bool = True,
    ) -> Array:
        """Argmin_W R(A) + Σ ridge_j ‖w_j‖², A = fixed Wᵀ; for side="row", A = W fixedᵀ.

        From `start`; a row of W never gets worse, and one without any cell stays as it is. One
        product with Y for the squared loss on all cells. Else at most `steps` passes of
        `minimize_lines`, in blocks whose systems fit in memory, cheaper ones if not `exact`. A row
        of W depends on its own cells alone, whatever the others are and however many.
        """
        check_sweep(self.shape, side, fixed, start)
        columns = side == "column"
        lift = np.broadcast_to(on(ridge, start, float) * self.total_weight, (len(start),))
        if isinstance(self.loss, Squared) and self.complete and float(np.ptp(lift)) == 0.0:
            zero = np.zeros_like(start)
            force = -self.lines(columns, zero, fixed, fixed).sides
            gram = 2 * inner(fixed, fixed) + 2 * float(lift[0]) * np.eye(fixed.shape[1])
            return times(force, np.linalg.pinv(gram, rcond=EPSILON * len(gram), hermitian=True))
        bound, s = self.loss.smoothness * self.heaviest, fixed.shape[1]
        curved = exact or s <= MAX_DIRECT_COLUMNS
        found = []
        for block in split_blocks(len(start), s, curved=curved):
            part = self.part(cols=block) if columns else self.part(rows=block)
            given = fixed, start[block], lift[block], bound, steps, curved
            found.append(minimize_lines(partial(part.lines, columns), *given))
        return np.concatenate(found)

    def shift(self, row: Array, col: Array) -> Dense:
        """A ↦ R(A + row 1ᵀ + 1 colᵀ). Y is shared."""
        check_offset(row, col, self.shape)
        moved = copy.copy(self)
        old = self.offset or (0.0, 0.0)
        moved.offset = (old[0] + row, old[1] + col)
        return moved

    def with_loss(self, loss: Loss) -> Dense:
        """The same cells and targets under another loss. Y is shared."""
        other = copy.copy(self)
        other.loss = loss
        return other

    def mask(self, seen: NDArray[np.bool_]) -> Dense:
        """The cells for which `seen` (m, n) is true. Y is shared."""
        other = copy.copy(self)
        for name in ("sample", "islands"):
            other.__dict__.pop(name, None)
        other.table = self.table._replace(weights=(*self.table.weights, seen))
        other.total_weight, other.heaviest, _ = self.engine.census(other.table)
        return other

    def part(
        self, rows: NDArray[Any] | slice = slice(None), cols: NDArray[Any] | slice = slice(None)
    ) -> Dense:
        """These rows (or columns) alone; weights are relative to the same total.

        A slice shares the cells; an array of indices copies them.
        """
        other = copy.copy(self)
        for name in ("sample", "islands"):
            other.__dict__.pop(name, None)
        values, *weights = (w[rows][:, cols] for w in (self.table.values, *self.table.weights))
        other.table = self.table._replace(values=values, weights=tuple(weights))
        other.shape = values.shape
        if self.offset is not None:
            other.offset = self.offset[0][rows], self.offset[1][cols]
        return other

    def residual_sample(self, A: LowRank) -> Array:
        """y − z at a fixed part of the cells, from which a scale is estimated.

        Without columns of one value, which a location meets exactly.
        """
        check_factors(A, self.shape)
        i, j, seen, y, varies = self.sample
        z = scaled(A.U[i], A.s) @ A.V[j].T
        if self.offset is not None:
            z += self.offset[0][i][:, None] + self.offset[1][j]
        return (y - z)[seen & varies]

    def medians(self) -> Array:
        """The median of each column's observed cells; zero where there is none."""
        return self.engine.medians(self.table)

    def deviations(self, A: LowRank, *, side: str = "column") -> Deviations:
        """Median and lower quartile of |Y − A| of each column (or row), and how many cells.

        O(m n s).
        """
        check_factors(A, self.shape)
        if side == "row":
            return self.engine.deviations(self.table.T, *self.append_offset(True, A.V, A.left))
        return self.engine.deviations(self.table, *self.append_offset(False, A.left, A.V))

    def outliers(self, A: LowRank, threshold: float | Array) -> scipy.sparse.csr_array:
        """Y − A where that is larger than the threshold, one or one a column; (m, n) sparse."""
        check_factors(A, self.shape)
        P, Q = self.append_offset(False, A.left, A.V)
        i, j, r = self.engine.residuals_beyond(self.table, P, Q, on(threshold, P))
        starts = np.searchsorted(i, np.arange(self.shape[0] + 1, like=i))
        return scipy.sparse.csr_array((host(r), host(j), host(starts)), shape=self.shape)

    def append_offset(self, columns: bool, P: Array, Q: Array) -> tuple[Array, Array]:
        """P and Q with the offset as two more columns; P goes with the columns, else the rows."""
        if self.offset is None:
            return P, Q
        own, other = self.offset[::-1] if columns else self.offset
        ones_own, ones_other = ones(len(P), P), ones(len(Q), Q)
        return np.column_stack([P, own, ones_own]), np.column_stack([Q, ones_other, other])

    def lines(self, columns: bool, P: Array, Q: Array, X: Array, *, curved: bool = False) -> Lines:
        """Sums over each column (else row) at z = ⟨P_i, Q_j⟩ plus the offset. X goes with Q."""
        P, Q = self.append_offset(columns, P, Q)[:: -1 if columns else 1]
        return self.engine.lines(self.table, self.loss, P, Q, X, by_row=not columns, curved=curved)

    def total_loss(self, columns: bool, P: Array, Q: Array) -> float:
        """Σ w ℓ at z = ⟨P_i, Q_j⟩ plus the offset, i a column (else a row)."""
        return float(self.lines(columns, P, Q, Q[:, :0]).values.sum())

    def systems(self, columns: bool, P: Array, Q: Array, *, curved: bool = True) -> Systems:
        """The Newton system of each column (else row) in its own P_i, at the same z."""
        found = self.lines(columns, P, Q, Q, curved=curved)
        return Systems(found.grams, found.sides, found.values)

    @cached_property
    def sample(self) -> Sample:
        """Some rows and columns, from which scales are estimated."""
        return draw_sample(self.table, self.kind)
