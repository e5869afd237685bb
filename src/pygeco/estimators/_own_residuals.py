"""Fits by a loss that leaves its scale open: the residuals of the fit itself say it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pygeco.algorithm.threshold import NORMAL
from pygeco.arrays.low_rank import Array
from pygeco.losses import Loss, robust_scale
from pygeco.losses.base import find_scale
from pygeco.objectives.risk import Risk

MAX_FITS = 12
SETTLED = 0.95  # of the scale before: another fit would change little
MIN_CELLS = 4  # for each number that is fitted: what is left of fewer says little of the noise
MIN_SHARE = 1e-3  # of the targets' scale: losses of a smaller one bend too sharply for a descent


class Fit(NamedTuple):
    """What was found, its risk and the predictions there, and how many numbers were fitted."""

    found: Any
    risk: Risk
    at: Array
    size: int


def fit_by_residuals(given: Loss, weights: Array | None, fit: Callable[[Loss], Fit]) -> Fit:
    """The fit under `given`, whose open scale follows the residuals down from that of the targets.

    Targets spread by what the features say of them too, which is no noise.
    """
    best = fit(given)
    y = best.risk.y
    if not given.regression or best.risk.loss is given or y.size < MIN_CELLS * best.size:
        return best
    w = None if weights is None else np.broadcast_to(weights[:, None], y.shape)
    scale = find_scale(y, w)
    least = MIN_SHARE * scale
    for _ in range(MAX_FITS):
        before, scale = scale, max(robust_scale(best.at - y, w), least)
        if not scale < SETTLED * before:
            break
        best = fit(given.fitted(y, scale * NORMAL))
    return best
