"""The last sweeps of a robust fit: without its outliers.

Huber's loss bounds what a wild cell does, but 20 % of them that err in one direction move the
matrix by nearly the noise. A cell beyond 3.5 deviations of its column, and of its row where that is
noisier than others, therefore counts no longer, and the sweeps go on with the rest. With less bias
and a smaller scale more outliers show, so this is done again until they stay the same.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.column_scales import column_scales, own_scales
from pygeco.algorithm.events import Listener
from pygeco.algorithm.robust_stages import Stage
from pygeco.algorithm.threshold import MAX_FALL, Schedule, measure_noise
from pygeco.arrays.kinds import on
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives.dense.objective import Dense

if TYPE_CHECKING:
    from pygeco.algorithm.robust import Model

REJECTION = 3.5  # deviations, as in Iglewicz and Hoaglin (1993), whatever cells are to be called
# The same in turn where lines have few cells for their parameters: of 200 × 10 cells of rank 2
# without any outlier, 0.9 % were left out from 3.5 on, which cost a tenth of the error.
CAREFUL_REJECTIONS = 7.0, 5.0, REJECTION
MAX_PARAMETER_SHARE = 0.15  # of the cells, for 3.5 to be the first
# With fewer free cells, as in four columns, a line's parameters meet wild cells too.
MIN_REJECTION_FREE = 0.75
MAX_ROUNDS = 6
MIN_CHANGE = 0.02  # of the outliers, for another round: fewer move the matrix by next to nothing
PROJECTION_ROUNDS = 3


def settle_without_outliers(
    stage: Stage,
    dense: Dense,
    schedule: Schedule,
    max_sweeps: int,
    tol: float,
    spread: float,
    listener: Listener | None = None,
) -> Stage:
    """Sweeps at the scale of the noise until the outliers stay the same.

    Outliers are found from a scale of the other cells alone.
    """
    schedule, counted, wild = schedule.hold(), dense, np.zeros(dense.shape, bool)
    careful = stage.model.free_share(dense) < 1 - MAX_PARAMETER_SHARE
    cuts = CAREFUL_REJECTIONS if careful else CAREFUL_REJECTIONS[-1:]
    noise = math.inf
    for k in range(MAX_ROUNDS):
        model, cut, last = stage.model, cuts[min(k, len(cuts) - 1)], noise
        noise = measure_noise(model.residuals(counted), model.free_share(counted))
        if not noise > tol * spread or stage.sweeps >= max_sweeps:
            break
        before, wild = wild, find_wild(dense, counted, model, noise, cut, 100 * tol * spread)
        changed = np.count_nonzero(before != wild)
        rests = changed <= MIN_CHANGE * np.count_nonzero(wild) and noise > MAX_FALL * last
        if k >= len(cuts) and rests:
            break
        counted = dense.mask(on(~wild, dense.kind)) if wild.any() else dense
        stage = stage._replace(level=noise).refine(counted, schedule, tol, max_sweeps, listener)
    return stage


def find_wild(
    dense: Dense, counted: Dense, model: Model, noise: float, cut: float, least: float
) -> NDArray[np.bool_]:
    """Which cells (m, n) are outliers, by scales of those that are counted.

    A row that is noisier than others would else lose the half of its cells that it fits worst.
    """
    rank, here = model.A.rank, model.of(counted)
    rows, cols = (
        column_scales(
            here,
            model.A,
            noise,
            parameters=rank + (side == "column" and model.location is not None),
            least=least / cut,
            free=model.free_share(counted),
            side=side,
        )
        for side in ("row", "column")
    )
    limits = np.maximum(cut * cols, least)
    return _list_beyond(model.of(dense), model.A, np.maximum(rows / noise, 1), limits)


def _list_beyond(dense: Dense, A: LowRank, rows: Array, cols: Array) -> NDArray[np.bool_]:
    """The cells (m, n) with residuals of more than rows_i cols_j, rows_i ≥ 1."""
    far = dense.outliers(A, cols).tocoo()
    wild = np.abs(far.data) > rows[far.row] * cols[far.col]
    found = np.zeros(dense.shape, bool)
    found[far.row[wild], far.col[wild]] = True
    return found


def refine_rows(dense: Dense, V: Array, W: Array, scale: float, limits: Array) -> Array:
    """W, for W Vᵀ, without the cells off it by more than the limits of their columns.

    Of a row that is noisier than `scale`, by as many times more. Each row is found by itself.
    """
    for _ in range(PROJECTION_ROUNDS):
        A = LowRank(W, on(np.ones(V.shape[1]), V), V)
        own = own_scales(dense.deviations(A, side="row"), scale)
        wild = _list_beyond(dense, A, np.maximum(own / scale, 1), limits)
        if not wild.any():
            break
        W = dense.mask(on(~wild, dense.kind)).half_sweep(V, W, side="row", steps=100)
    return W
