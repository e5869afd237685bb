"""New rows of RobustPCA: each in the components by itself, without outliers as in the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco.algorithm.robust import project
from pygeco.algorithm.robust_rejection import MIN_REJECTION_FREE, REJECTION, refine_rows
from pygeco.algorithm.threshold import Schedule
from pygeco.arrays.low_rank import Array
from pygeco.losses import find_loss
from pygeco.objectives.dense.objective import Dense


def place_rows(dense: Dense, V: Array, model: Any) -> Array:
    """W with W Vᵀ near the rows, less their location, of a fitted RobustPCA."""
    W = project(dense, V, model.spread_, side="row")
    free, least = 1 - V.shape[1] / len(V), model.tol * model.spread_
    is_open = Schedule(find_loss(model.loss), model.decreasing).is_open
    if not (is_open and free > MIN_REJECTION_FREE and model.scale_ > least):
        return W
    if model.threshold == "auto":
        limits = REJECTION / model.cutoff * model.threshold_
    else:
        limits = np.full(len(V), REJECTION * model.scale_)
    return refine_rows(dense, V, W, model.scale_, np.maximum(limits, 100 * least))
