"""Robust approximation (the paper's section 4): a low-rank matrix under gross outliers.

Huber's loss bounds the pull of a wild cell by its threshold δ, but never to zero. If the rest of
the data is of low rank, δ can follow the residuals down: where a fifth of the cells are wild, a fit
at δ leaves errors of about δ/5, their median gives a smaller δ, and so on. Each round costs one
sweep, and the error falls by a constant factor: to rounding where the low rank is exact, else to
the noise, where the residuals stop falling. δ is near zero beside them until then, as more cells
can be wild so, and ends at Huber's usual threshold for that noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.directions import leading_block
from pygeco.algorithm.events import Listener
from pygeco.algorithm.robust_rejection import MIN_REJECTION_FREE, settle_without_outliers
from pygeco.algorithm.robust_stages import Late, Stage
from pygeco.algorithm.threshold import THRESHOLD, Schedule, measure_noise
from pygeco.arrays.kinds import full, host, on, ones, scaled, times, zeros
from pygeco.arrays.linalg import geometric_median, qr
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.engines import session
from pygeco.losses import Huber, Loss, Squared
from pygeco.objectives.dense.objective import Dense

# Rank is added in this many blocks, so that weak components are sought when the strong ones, and
# most of what the wild cells did to them, are explained already.
GROWTH_BLOCKS = 5
GROWTH_SWEEPS = 2
# Of Huber's threshold for the residuals, which components that are missing and wild cells make
# large: near the absolute error more cells can be wild. What this costs under noise, the last
# sweeps win back, at a scale that rests: with their residuals it would follow the wild cells up.
NEAR_SHARE = 0.3
# A line with less than this share of the usual number of cells inside δ lags behind.
MIN_INSIDE_SHARE = 0.5
MIN_NEAR_FREE_SHARE = 0.5  # with fewer, half of the residuals are met near the absolute error
MIN_FREE_SHARE = 0.05  # of the cells: with fewer, residuals say next to nothing of the noise


class Fit(NamedTuple):
    """Y ≈ A + 1 locationᵀ, and the loss of the last sweep.

    `scale` is the robust standard deviation of the noise, `spread` that of the data about their
    location, `free` the share of the cells that are more than the parameters.
    """

    A: LowRank
    location: Array
    loss: Loss
    scale: float
    spread: float
    free: float
    sweeps: int
    converged: bool

    def whole(self) -> LowRank:
        """A + 1 locationᵀ, of one more column where there is a location."""
        A = self.A
        if not bool(np.any(self.location)):
            return A
        U, V = (
            np.column_stack(pair) for pair in ((A.U, ones(len(A.U), A.kind)), (A.V, self.location))
        )
        return LowRank(U, np.append(A.s, 1.0), V).svd()


@dataclass(frozen=True, eq=False)
class Model:
    """A + 1 locationᵀ on its way; no location where the data are not centered."""

    A: LowRank
    location: Array | None

    def of(self, dense: Dense) -> Dense:
        """The data as A sees them."""
        if self.location is None:
            return dense
        return dense.shift(zeros(dense.shape[0], dense.kind), self.location)

    def residuals(self, dense: Dense) -> Array:
        return np.abs(self.of(dense).residual_sample(self.A))

    def rounding(self, dense: Dense) -> float:
        """What rounding may change of 1 locationᵀ, in the norm of a matrix."""
        if self.location is None:
            return 0.0
        eps = float(np.finfo(dense.dtype).eps)
        return 4 * eps * math.sqrt(dense.shape[0]) * float(np.linalg.norm(self.location))

    def scale(self, dense: Dense) -> float:
        """1.4826 · median |y − z|: the standard deviation, for Gaussian residuals."""
        return 1.4826 * float(np.median(self.residuals(dense)))

    def free_share(self, dense: Dense) -> float:
        """The share of the known cells that are more than the parameters.

        Of columns that vary: the others have none but their value.
        """
        share, (m, n), r = float(np.mean(dense.sample.varies)), dense.shape, self.A.rank
        some = share * n
        count = r * (m + some - r) + (some if self.location is not None else 0)
        return max(1 - count / (share * dense.total_weight), MIN_FREE_SHARE)

    def grow(self, dense: Dense, count: int, rng: np.random.Generator) -> Model:
        """With the leading singular pairs of the gradient in its spans, at weight zero."""
        U, _, V = leading_block(self.of(dense).gradient(self.A), count, rng)
        A = self.A
        for u, v in zip(U.T, V.T, strict=True):
            A = A.append(u, v)
        return Model(A, self.location)

    def sweep(self, dense: Dense) -> tuple[Model, float]:
        """One step of the columns and the location, then one of the rows, and how far it went."""
        # Others need a check, and with fewer steps the two sides undo each other's.
        steps = 1 if isinstance(dense.loss, (Huber, Squared)) else 8
        fixed, start = self._widen()
        W = dense.half_sweep(fixed, start, side="column", steps=steps, exact=False)
        half, T = self._with_columns(W)
        U = times(self.A.U, T.T)
        X = half.of(dense).half_sweep(half.A.V, U, side="row", steps=steps, exact=False)
        far = math.hypot(float(np.linalg.norm(W - start)), float(np.linalg.norm(X - U)))
        return half._with_rows(X), far

    def rescue(self, dense: Dense, spread: float) -> tuple[Model, Late]:
        """With the lines that lag behind solved from afar, given the other side; and these lines.

        A line most of whose cells are clipped hardly moves, however wrong it is. Given the other
        side, its problem is convex: a threshold that falls from the data's own spread solves it.
        """
        fixed, start = self._widen()
        late = _lagging(dense, True, start, fixed)
        W = start.copy()
        if len(late):
            W[late] = project(dense.part(cols=late), fixed, spread, side="column")
        half, T = self._with_columns(W)
        X, here = times(self.A.U, T.T), half.of(dense)
        slow = _lagging(here, False, X, half.A.V)
        if len(slow):
            X[slow] = project(here.part(rows=slow), half.A.V, spread, side="row")
        return half._with_rows(X), (late.tolist(), slow.tolist())

    def _widen(self) -> tuple[Array, Array]:
        """The row side as the columns see it, and their start: the location is one more pair."""
        A = self.A
        if self.location is None:
            return A.U, scaled(A.V, A.s)
        root = math.sqrt(len(A.U))
        return (
            np.column_stack([A.U, full(len(A.U), 1 / root, A.U)]),
            np.column_stack([scaled(A.V, A.s), root * self.location]),
        )

    def _with_columns(self, W: Array) -> tuple[Model, Array]:
        """The model after a half-sweep of the columns: V orthonormal, and T with A = U Tᵀ Vᵀ."""
        location = None
        if self.location is not None:
            W, location = W[:, :-1], W[:, -1] / math.sqrt(len(self.A.U))
        Q, T = qr(W)
        return Model(LowRank(self.A.U, self.A.s, Q), location), T

    def _with_rows(self, X: Array) -> Model:
        return Model(LowRank.product(X, self.A.V).svd(), self.location)


def fit_robust(
    dense: Dense,
    rank: int,
    schedule: Schedule,
    *,
    center: bool = True,
    tol: float = 1e-6,
    max_sweeps: int = 200,
    seed: int = 0,
    listener: Listener | None = None,
) -> Fit:
    """The approximation of rank `rank`: growth in blocks, then sweeps until they move nothing.

    First near the absolute error, then at Huber's threshold for the noise that this has left.
    `listener` is told of each of these sweeps.

    Growing one pair at a time with a full core costs r Newton systems of up to r² unknowns. A
    block of leading singular pairs of the clipped residuals, and two sweeps after it, cost passes
    over the data alone, O(m n r) each.
    """
    rng, near = stream(Purpose.ROBUST, seed), replace(schedule, share=NEAR_SHARE)
    with session(dense):
        location = dense.medians() if center else None
        model = Model(LowRank.zero(dense.shape, dense.kind), location)
        spread = model.scale(dense) or float(model.residuals(dense).mean()) or 1.0
        for size in np.linspace(0, rank, min(GROWTH_BLOCKS, rank) + 1).round().astype(int)[1:]:
            level = model.scale(dense) or spread
            loss = near.settle(level)
            model = model.grow(dense.with_loss(loss), size - model.A.rank, rng)
            for _ in range(GROWTH_SWEEPS):
                model, _ = model.sweep(dense.with_loss(loss))
        if not schedule.decreasing:
            level = model.scale(dense) or spread
        stage = Stage(model, schedule.settle(level), level, model.scale(dense), 0, False)
        rest = tol, spread, listener
        free = model.free_share(dense)
        leaves_out = schedule.is_open and free > MIN_REJECTION_FREE
        if schedule.decreasing and free > MIN_NEAR_FREE_SHARE:
            stage = stage.settle(dense, near, max_sweeps - 1, *rest)  # one is for Huber's threshold
            noise = measure_noise(stage.model.residuals(dense), free)
            stage, schedule = stage._replace(level=noise), schedule.hold()
        if stage.level > tol * spread or not stage.converged:  # else there is no noise
            if leaves_out and stage.level > tol * spread:
                stage = settle_without_outliers(stage, dense, schedule, max_sweeps, *rest)
            else:
                stage = stage.settle(dense, schedule, max_sweeps, *rest)
        model = stage.model
        scales = measure_noise(model.residuals(dense), free), spread, free
    return Fit(*_settle_location(model), stage.loss, *scales, stage.sweeps, stage.converged)


def project(dense: Dense, fixed: Array, spread: float, *, side: str) -> Array:
    """Argmin over W of the loss at fixed Wᵀ (side="column") or W fixedᵀ ("row"), from zero.

    Convex, so that the threshold's fall from the data's own spread only saves steps.
    """
    W = zeros((dense.shape[1 if side == "column" else 0], fixed.shape[1]), fixed)
    loss = dense.loss
    if isinstance(loss, Huber) and loss.delta is not None:
        delta = THRESHOLD * spread
        while delta > 2 * loss.delta:
            wide = dense.with_loss(Huber(delta))
            W = wide.half_sweep(fixed, W, side=side, steps=4, exact=False)
            delta /= 2
    return dense.half_sweep(fixed, W, side=side, steps=100)


def _lagging(dense: Dense, columns: bool, P: Array, Q: Array) -> NDArray[np.int64]:
    """The columns (else rows) with far fewer cells inside the threshold than others have."""
    inside = dense.lines(columns, P, Q, Q[:, :0]).stiffness
    every = dense.counts()[int(columns)]
    share = np.where(every > 0, inside / np.where(every > 0, every, 1.0), 1.0)
    return np.flatnonzero(share < MIN_INSIDE_SHARE * np.median(share))


def _settle_location(model: Model) -> tuple[LowRank, Array]:
    """The same matrix with the middle of the scores moved into the location."""
    A = model.A
    if model.location is None:
        return A, zeros(A.shape[1], A.kind)
    middle = geometric_median(host(A.left))
    moved = LowRank.product(A.left - on(middle, A.kind), A.V).svd()
    return moved, model.location + times(A.V, middle)
