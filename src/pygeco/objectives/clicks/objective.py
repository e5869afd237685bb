"""Clicks: R(A) = (Σ_E w (y − A_ij)² + α Σ_all ρ_i κ_j A_ij²) / Σ_E w, implicit feedback."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from pygeco.arrays.checks import check_shape
from pygeco.arrays.kinds import inner, on
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Sum
from pygeco.engines import Cells, Engine
from pygeco.objectives.base import Objective, check_sweep
from pygeco.objectives.clicks.half_sweep import Swept, sweep_rows
from pygeco.objectives.clicks.input import (
    check_background,
    read_clicks,
    read_line_weights,
    weigh_by_values,
)
from pygeco.objectives.entries.cell_views import Product
from pygeco.objectives.entries.half_sweep import START_PULL
from pygeco.objectives.entries.objective import Entries
from pygeco.objectives.spans.quadratic import QuadraticSpan


class Clicks(Objective):
    """Clicks, with a background that says "probably not" for every cell.

    R(A) = (Σ_E w_e (y_e − A_ij)² + α Σ_ij ρ_i κ_j A_ij²) / Σ_E w_e over an m × n matrix: the mean
    over clicks, as in `Entries`, plus the background in the same unit (Hu, Koren and Volinsky
    2008). The second sum is over all cells, with clicks or without; it costs (m + n) s², not m n.

    Parameters
    ----------
    X : sparse matrix or tuple (rows, cols, weights, shape)
        The clicks and their weights w_e ≥ 0; a cell of weight zero counts as absent. The tuple may
        omit the shape.
    background : float, default=0.1
        α, the weight of every cell's "no", where a click's "yes" weighs w_e.
    row_power, column_power : float, default=0.0
        ρ_i is the number of clicks of row i to this power, scaled to mean 1, and κ_j that of
        column j. A row or column without clicks counts as having one.
    row_weights, column_weights : array or None, default=None
        ρ and κ themselves, ≥ 0, in place of powers.
    targets : float or array, default=1.0
        y_e: one number, or one per click in the order of X's cells. With w = c − 1, α = 1 and
        y = c / (c − 1), a click has confidence c and every other cell confidence 1.
    duplicates : "error", "mean", "sum" or "last", default="error"
        What to do with a cell that appears more than once; see `Entries`.
    dtype : float32, float64 or None, default=None
        The precision of the passes; by default float64 if the weights are, otherwise float32.
    engine : "cpu", "cuda", Dask client or None, default=None
        Where passes over the clicks run; by default where the weights are already.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from pygeco import Clicks, minimize
    >>> clicks = Clicks(sp.csr_array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> A = minimize(clicks, 1, random_state=0).A
    >>> A.entries([0, 1], [1, 0]).round(2).tolist()
    [0.91, 0.91]
    """

    can_sweep = True
    nonnegative = True
    squared = True

    def __init__(
        self,
        X: Any,
        *,
        background: float = 0.1,
        row_power: float = 0.0,
        column_power: float = 0.0,
        row_weights: ArrayLike | None = None,
        column_weights: ArrayLike | None = None,
        targets: ArrayLike = 1.0,
        duplicates: str = "error",
        dtype: DTypeLike | None = None,
        engine: str | Engine | None = None,
    ) -> None:
        self.background = check_background(background)
        given = read_clicks(X, targets, dtype, engine)
        self.entries = Entries(
            given.rows,
            given.cols,
            given.targets,
            given.shape,
            sample_weight=given.weights,
            duplicates=duplicates,
            engine=given.engine,
        )
        row_counts, column_counts = self.entries.counts()
        self.rho = read_line_weights("row", row_power, row_weights, row_counts)
        self.kappa = read_line_weights("column", column_power, column_weights, column_counts)

    @classmethod
    def of_entries(
        cls,
        entries: Entries,
        *,
        background: float = 0.1,
        row_power: float = 0.0,
        column_power: float = 0.0,
    ) -> Clicks:
        """Clicks on the cells of `entries`, whose values are their weights; the indices are shared.

        The other arguments are those of the class, and every target is one.
        """
        other = cls.__new__(cls)
        other.background = check_background(background)
        other.entries = weigh_by_values(entries)
        counts = entries.counts()
        other.rho = read_line_weights("row", row_power, None, counts[0])
        other.kappa = read_line_weights("column", column_power, None, counts[1])
        return other

    @property
    def shape(self) -> tuple[int, int]:
        return self.entries.shape

    @property
    def kind(self) -> Array:
        """An array of the kind that the passes take."""
        return self.entries.kind

    @property
    def engine(self) -> Engine:
        """Where the passes over the clicks run."""
        return self.entries.engine

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.entries.dtype

    @property
    def size(self) -> int:
        """The number of clicks."""
        return self.entries.size

    @property
    def total_weight(self) -> float:
        """Σ_E w, by which every sum is divided."""
        return self.entries.total_weight

    @cached_property
    def value_at_zero(self) -> float:
        """R(0) = Σ w y² / Σ w."""
        return self.entries.value_at_zero

    @property
    def smoothness(self) -> float:
        """β = 2 (max w + α max ρ max κ) / Σ w, or a little less."""
        most = self.background * float(self.rho.max()) * float(self.kappa.max())
        return self.entries.smoothness + 2 * most / self.total_weight

    def counts(self) -> tuple[Array, Array]:
        """The number of clicks of each row and of each column."""
        return self.entries.counts()

    def side_weights(self, columns: bool) -> tuple[Array, Array]:
        """α times the weights of the columns (else rows), and the weights of the other side."""
        own, other = (self.kappa, self.rho) if columns else (self.rho, self.kappa)
        return self.background * own, other

    def value(self, A: LowRank) -> float:
        """R(A). One pass, O(|E| s + (m + n) s²)."""
        return self.entries.value(A) + self._spread(A)  # the first looks at A's shape

    def _spread(self, A: LowRank) -> float:
        """α Σ ρ κ A² / Σ w: the inner product of two s × s Grams."""
        left, right = (inner(F * w[:, None], F) for F, w in ((A.U, self.rho), (A.V, self.kappa)))
        whole = float(A.s @ (left * right) @ A.s)
        return max(0.0, self.background * whole / self.total_weight)

    def gradient(self, A: LowRank) -> ClicksGradient:
        """∇R(A): sparse on the clicks, plus 2α diag(ρ) A diag(κ) / Σ w. Two passes, O(|E| s)."""
        G, spread = self.entries.gradient(A), self._spread(A)
        scale = 2 * self.background / self.total_weight
        H = LowRank(A.U * self.rho[:, None], scale * A.s, A.V * self.kappa[:, None])
        return ClicksGradient(G, H, G.value + spread, G.inner + 2 * spread)

    def span(self, A: LowRank) -> QuadraticSpan:
        """B ↦ R(U B Vᵀ) for the columns of A."""
        check_shape(A, self.shape)
        return QuadraticSpan.of(self, A)

    def group_moments(self, columns: bool, Q: Array) -> tuple[Array, Array]:
        """Σ w q qᵀ and Σ w y q of each column (else row), with the background of all its cells."""
        grams, sides = self.entries.group_moments(columns, Q)
        own, other = self.side_weights(columns)
        grams += own[:, None, None] * on(inner(Q * other[:, None], Q), grams)
        return grams, sides

    def cross_moments(self, columns: bool, Q: Array, q: Array) -> Array:
        """What another column q of Q adds to those Grams."""
        own, other = self.side_weights(columns)
        return self.entries.cross_moments(columns, Q, q) + own[:, None] * ((other * q) @ Q)

    def target_products(self, flipped: bool) -> tuple[Product, Product]:
        """Y ↦ S y and x ↦ Sᵀ x for the weighted targets S (Sᵀ and S when flipped)."""
        return self.entries.target_products(flipped)

    def default_correction(self, *, penalized: bool, rank: int) -> str:
        """Sweeps: the background holds every row that has few clicks."""
        return "sweep"

    def half_sweep(
        self, fixed: Array, start: Array, *, side: str, ridge: float | Array = 0.0
    ) -> Array:
        """Argmin_W R(A) + Σ ridge_j ‖w_j‖² near `start`; A = fixed Wᵀ, or W fixedᵀ for side="row".

        O(|E| s² + (m + n) s²), in the precision of the clicks. A row of W that is not determined
        stays near its start; one without any click becomes zero.
        """
        check_sweep(self.shape, side, fixed, start)
        if start.shape[1] == 0:
            return start.astype(float)
        found = self.sweep_side(side == "column", fixed, ridge, start=start)
        turn_back = found.rotation.T.astype(self.dtype)
        return self.engine.rotate(found.factor, turn_back).astype(float)

    def sweep_side(
        self, columns: bool, fixed: Array, ridge: float | Array, *, start: Array | None = None
    ) -> Swept:
        """The columns (else rows) that minimize R + Σ ridge_i ‖w_i‖², with `fixed` rotated alike.

        With a `start`, rows that the background and the ridge hardly hold are pulled to it.
        """
        own, other = self.side_weights(columns)
        fixed = fixed.astype(self.dtype, copy=False)
        lift = np.broadcast_to(on(ridge, own, float) * self.total_weight, own.shape)
        return sweep_rows(
            self.entries.cells(columns),
            fixed,
            background=own,
            weights=other,
            ridge=lift,
            start=start,
            jitter=0.0 if start is None else START_PULL[self.dtype.char],
        )

    def cells(self, columns: bool) -> Cells:
        """The clicks grouped by column, or by row."""
        return self.entries.cells(columns)


@dataclass(frozen=True, eq=False)
class ClicksGradient(Sum):
    """G on the clicks plus H = 2α diag(ρ) A diag(κ) / Σ w everywhere."""

    value: float
    inner: float
