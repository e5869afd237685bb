"""Observed cells: R(A) = Σ_E w ℓ(A_ij, y_ij) / Σ_E w, matrix completion."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.checks import check_factors, check_offset, check_shape
from pygeco.arrays.kinds import as_array, contiguous, distant, on, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.engines import Cells, Engine, cells_of_slabs, choose_engine
from pygeco.engines.values import Systems
from pygeco.errors.telling import warn_caller
from pygeco.losses import Loss, find_loss, prepare_loss
from pygeco.losses.duals import slack_of_losses
from pygeco.objectives.base import Objective, Span, check_sweep
from pygeco.objectives.entries.cell_views import CellViews, append_offsets
from pygeco.objectives.entries.gradient import (
    CellGradient,
    EntriesGradient,
    gradient_of_loss,
    gradient_of_squares,
    in_both_orders,
    leave_out,
    residuals_at,
    sum_residuals,
)
from pygeco.objectives.entries.half_sweep import START_PULL, Side, half_sweep
from pygeco.objectives.entries.observed import check_policy, order_cells, use_compressed
from pygeco.objectives.entries.row_newton import minimize_side
from pygeco.objectives.islands import Islands, islands_of_cells
from pygeco.objectives.spans.convex import ConvexSpan
from pygeco.objectives.spans.quadratic import QuadraticSpan


class Entries(CellViews, Objective):
    """The mean loss over the observed cells of an m × n matrix.

    Cells are kept row-wise and column-wise: per cell and order, 4 bytes of index and one value.

    Parameters
    ----------
    rows, cols : int arrays
        The positions of the cells.
    values : array
        The values of the cells.
    shape : tuple of two ints or None, default=None
        The shape of the matrix; by default the smallest that fits.
    loss : str or Loss, default="squared"
        A name or an object from `pygeco.losses`.
    sample_weight : array or None, default=None
        A cell of weight zero counts as absent; one of weight two counts as two.
    duplicates : "error", "mean", "sum" or "last", default="error"
        What to do with a cell that appears more than once. It counts as one cell, with the mean
        (or the last) of its weights.
    allow_empty : bool, default=False
        Whether to allow no cells at all.
    lean : bool, default=False
        Save memory: gradients of the squared loss store no number per cell. This takes 16 bytes per
        cell with float32 values, instead of 20 or 24, but products are slower.
    engine : "cpu", "cuda", "dask", a Dask client or None, default=None
        Where passes over the cells run: on the CPU, a GPU or a cluster; by default where the values
        are.

    Examples
    --------
    >>> from pygeco import Entries, minimize
    >>> entries = Entries([0, 0, 1], [0, 1, 0], [1.0, 2.0, 3.0])
    >>> A = minimize(entries, 1, random_state=0).A
    >>> A.entries([1], [1]).round(2).tolist()
    [6.0]
    """

    can_sweep = True

    def __init__(
        self,
        rows: ArrayLike,
        cols: ArrayLike,
        values: ArrayLike,
        shape: tuple[int, int] | None = None,
        *,
        loss: str | Loss = "squared",
        sample_weight: ArrayLike | None = None,
        duplicates: str = "error",
        allow_empty: bool = False,
        lean: bool = False,
        engine: str | Engine | None = None,
    ) -> None:
        by_row, by_col, shape = order_cells(
            rows,
            cols,
            values,
            shape,
            engine=choose_engine(engine, rows, cols, values),
            sample_weight=sample_weight,
            duplicates=duplicates,
            allow_empty=allow_empty,
        )
        self._take(by_row, by_col, shape, loss, lean)

    def _take(
        self,
        by_row: Cells,
        by_col: Cells,
        shape: tuple[int, int],
        loss: str | Loss = "squared",
        lean: bool = False,
    ) -> None:
        self.shape, self.lean, self.borrowed = shape, lean, False
        w = by_row.weights if len(by_row.weights) else None
        settled = prepare_loss(loss, by_row.values, w) if by_row.size else (find_loss(loss), None)
        self.loss, targets = settled
        if targets is not None and targets is not by_row.values:
            by_row = by_row._replace(values=targets)
            by_col = by_col._replace(values=self.loss.targets(by_col.values))
        self.by_row, self.by_col = by_row, by_col
        self.offset: tuple[Array, Array] | None = None
        self.total_weight = float(by_row.size if w is None else w.sum(dtype=float))

    @classmethod
    def from_sparse(cls, X: Any, *, row_weight: Array | None = None, **settings: Any) -> Entries:
        """Take the stored cells of a scipy sparse matrix, explicit zeros included.

        A CSR or CSC matrix with sorted int32 indices is used where it is, memory-mapped or not: it
        must not change while it is used.
        """
        engine = choose_engine(settings.get("engine"), getattr(X, "data", None))  # none by keys
        known = {"loss", "lean", "duplicates", "allow_empty", "engine"}
        if row_weight is None and settings.keys() <= known:
            both = use_compressed(X, engine, settings.get("allow_empty", False))
            if both is not None:
                check_policy(settings.get("duplicates", "error"))
                kept = {key: settings[key] for key in ("loss", "lean") if key in settings}
                entries = cls.from_orders(*both, (int(X.shape[0]), int(X.shape[1])), **kept)
                entries.borrowed = True
                return entries
        coo = X.tocoo()
        if np.iscomplexobj(coo.data):
            raise ValueError("X: complex values are not supported; pass a real matrix.")
        weight = None if row_weight is None else row_weight[coo.row]
        return cls(coo.row, coo.col, coo.data, coo.shape, sample_weight=weight, **settings)

    @classmethod
    def from_orders(
        cls, by_row: Cells, by_col: Cells, shape: tuple[int, int], **settings: Any
    ) -> Entries:
        """Cells that are in both orders already, with settings `loss` and `lean`."""
        entries = cls.__new__(cls)
        entries._take(by_row, by_col, shape, **settings)
        return entries

    @classmethod
    def from_slabs(cls, slabs: Any, *, loss: str | Loss = "squared") -> Entries:
        """Cells on the workers of a cluster, see `pygeco.engines.dask.Slabs`."""
        return cls.from_orders(*cells_of_slabs(slabs), slabs.shape, loss=loss)

    @classmethod
    def from_dense(
        cls, X: ArrayLike, *, row_weight: Array | None = None, **settings: Any
    ) -> Entries:
        """Take the cells of a dense array that are not NaN."""
        dense = as_array(X)
        if dense.ndim != 2:
            raise ValueError(f"X: expected a 2-dimensional array, got {dense.ndim} dimension(s).")
        if dense.dtype.kind not in "fiub":
            raise ValueError(f"X: expected real numbers, not {dense.dtype}.")
        if dense.dtype.kind == "f":
            rows, cols = np.nonzero(~np.isnan(dense))
        else:
            rows, cols = (on(index.reshape(-1), dense) for index in np.indices(dense.shape))
        weight = None if row_weight is None else row_weight[rows]
        return cls(rows, cols, dense[rows, cols], dense.shape, sample_weight=weight, **settings)

    @property
    def nonnegative(self) -> bool:
        """Whether R ≥ 0 for sure."""
        return self.loss.nonnegative

    @property
    def smoothness(self) -> float:
        """β = L max w / Σ w: the paper's Lemma 1, 2/|E| for the squared loss."""
        w = self.by_row.weights
        return self.loss.smoothness * (float(w.max()) if len(w) else 1.0) / self.total_weight

    @cached_property
    def islands(self) -> Islands | None:
        """Rows and columns that share no cell with others; not known of cells on a cluster."""
        return None if distant(self.kind) else islands_of_cells(self.by_row, self.by_col)

    @cached_property
    def value_at_zero(self) -> float:
        """R(0); Σ w y² / Σ w for the squared loss."""
        if not self.squared:
            return self.value(LowRank.zero(self.shape, self.kind))
        return self.moments()[1] / self.total_weight

    def value(self, A: LowRank) -> float:
        """R(A). One pass, O(|E| s)."""
        check_factors(A, self.shape)
        if not self.squared:
            return self.total_loss(False, A.left, A.V) / self.total_weight
        return sum_residuals(self, A.left, A.V).squares / self.total_weight

    def slack(self, A: LowRank) -> Callable[[float], float] | None:
        """c ↦ Σ w (ℓ + ℓ*(c ℓ′) − c ℓ′ z) / Σ w, for certificates. One pass each, O(|E| s)."""
        return slack_of_losses(self, A)

    def gradient(self, A: LowRank) -> CellGradient:
        """∇R(A), sparse: w ℓ′(A_ij, y_ij) / Σ w on E. Two passes, O(|E| s)."""
        check_factors(A, self.shape)
        if not self.squared:
            return gradient_of_loss(self, A.left, A.V)
        return gradient_of_squares(self, A.left, A.V)

    def gradient_beyond(self, A: LowRank, row: Array, col: Array) -> CellGradient:
        """∇R(A + row 1ᵀ + 1 colᵀ), no cell copied; `inner` is that with A."""
        check_factors(A, self.shape)
        if not self.squared:
            return self.shift(row, col).gradient(A)
        check_offset(row, col, self.shape)
        return leave_out(
            gradient_of_squares(self, *append_offsets(A.left, A.V, row, col)), row, col
        )

    def residual_gradient(self, A: LowRank) -> EntriesGradient:
        """∇R(A) of the squared loss with the residuals kept in both orders, whatever else."""
        check_factors(A, self.shape)
        return in_both_orders(self, residuals_at(self, A.left, A.V), 2)

    def span(self, A: LowRank) -> Span:
        """B ↦ R(U B Vᵀ) for the columns of A."""
        check_shape(A, self.shape)
        return (QuadraticSpan if self.squared else ConvexSpan).of(self, A)

    def default_correction(self, *, penalized: bool, rank: int) -> str:
        """Sweeps, where every row has a minimum of its own: labels, counts and levels of few cells
        have none without a penalty. On a cluster, not where they would send too much.
        """
        if not (penalized or self.loss.regression):
            return "core"
        if self.engine.sends_too_much(rank):
            warn_caller(
                f"correction: on a cluster, sweeps at rank {rank} would sum the systems of "
                f"{self.shape[1]} columns over the slabs; cores are used instead. Ask for "
                "correction='sweep' to have them nevertheless.",
            )
            return "core"
        return "sweep"

    def half_sweep(
        self, fixed: Array, start: Array, *, side: str, ridge: float | Array = 0.0
    ) -> Array:
        """Argmin_W R(A) + Σ ridge_j ‖w_j‖² near `start`; A = fixed Wᵀ, or W fixedᵀ for side="row".

        O(|E| s² + n s³), in the precision of the data; two Newton steps of that cost where the loss
        is not squared, by which no row gets worse. A row of W that its cells and the ridge do
        not determine stays as near to its start as they allow; one without any cell becomes zero.
        """
        check_sweep(self.shape, side, fixed, start)
        if not self.squared:
            lift = np.asarray(ridge, dtype=float).reshape(-1, 1) * self.total_weight
            columns = side == "column"
            return minimize_side(self, start, fixed, columns=columns, ridge=lift, steps=2)
        cells = self.by_row if side == "row" else self.by_col
        rows, s = start.shape
        if s == 0:
            return start.astype(float)
        swept = half_sweep(
            cells,
            Side(contiguous(start, self.dtype), zeros(rows, start)),
            Side(contiguous(fixed, self.dtype), zeros(len(fixed), fixed)),
            prior=np.ones(s),
            ridge=np.broadcast_to(on(ridge, start, float) * self.total_weight, (rows,)),
            jitter=START_PULL[self.dtype.char],
            offsets=False,
        )
        return contiguous(swept.side.factor, float)

    def squared_error(self, rows: Side, cols: Side) -> float:
        """Σ w (y − b_i − c_j − ⟨u_i, v_j⟩)². One pass."""
        P, Q = append_offsets(rows.factor, cols.factor, rows.bias, cols.bias)
        return sum_residuals(self, P, Q).squares

    def total_loss(self, columns: bool, P: Array, Q: Array) -> float:
        """Σ w ℓ at z = ⟨P_i, Q_j⟩ plus the offset, i a column (else a row) and j the other side."""
        return self.engine.total(self.cells(columns), self.loss, *self.append_offset(columns, P, Q))

    def systems(self, columns: bool, P: Array, Q: Array, *, curved: bool = True) -> Systems:
        """The Newton system of each column (else row) in its own P_i, at the same z."""
        wide = self.append_offset(columns, P, Q)
        size = Q.shape[1]
        return self.engine.systems(self.cells(columns), self.loss, *wide, size, curved=curved)
