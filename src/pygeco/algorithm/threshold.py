"""How the scale of a robust loss follows the residuals of an approximation down."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pygeco.losses import Huber, Loss

# A scale falls no faster than this a sweep: faster, and lines that lag behind are taken for
# outliers.
MAX_FALL = 0.7
# 95 % of the efficiency of least squares under Gaussian noise (Huber 1964).
THRESHOLD = 1.345
# Standard residuals, from which other losses take what they leave open.
NORMAL = np.array([NormalDist().inv_cdf((k + 0.5) / 101) for k in range(101)])


@dataclass(frozen=True)
class Schedule:
    """How the scale of a loss, where it leaves one open, follows that of the residuals.

    A threshold that Huber's loss gives is where the decrease ends; another loss with a scale of its
    own stays as it is.
    """

    loss: Loss
    decreasing: bool = True

    def settle(self, scale: float) -> Loss:
        """The loss for residuals of this scale."""
        if isinstance(self.loss, Huber):
            return Huber(max(self.loss.delta or 0.0, THRESHOLD * scale))
        residuals = scale * NORMAL
        return self.loss.fitted(residuals, residuals) if self.loss.regression else self.loss

    def lower(self, scale: float, left: float) -> float:
        """The next scale after a sweep at this one that left residuals of another."""
        return max(left, MAX_FALL * scale) if self.decreasing else scale


def is_falling(before: float, scale: float) -> bool:
    """Whether a scale is on its way down, as fast as it may."""
    return scale <= MAX_FALL * (1 + 1e-9) * before
