"""How the scale of a robust loss follows the residuals of an approximation down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from pygeco.arrays.low_rank import Array
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
    own stays as it is. `share` is of the scale, for a loss nearer the absolute error.
    """

    loss: Loss
    decreasing: bool = True
    share: float = 1.0

    @property
    def is_open(self) -> bool:
        """Whether the residuals decide what the loss is in the end."""
        if isinstance(self.loss, Huber):
            return self.decreasing and self.loss.delta is None
        return self.decreasing and self.settle(1.0) != self.settle(2.0)

    def settle(self, scale: float) -> Loss:
        """The loss for residuals of this scale."""
        scale *= self.share
        if isinstance(self.loss, Huber):
            return Huber(max(self.loss.delta or 0.0, THRESHOLD * scale))
        residuals = scale * NORMAL
        return self.loss.fitted(residuals, residuals) if self.loss.regression else self.loss

    def lower(self, scale: float, left: float) -> float:
        """The next scale after a sweep at this one that left residuals of another."""
        return max(left, MAX_FALL * scale) if self.decreasing else scale

    def hold(self) -> Schedule:
        """The same, at a scale that rests."""
        return replace(self, decreasing=False)


def is_falling(before: float, scale: float) -> bool:
    """Whether a scale is on its way down, as fast as it may."""
    return scale <= MAX_FALL * (1 + 1e-9) * before


def measure_noise(sizes: Array, free: float) -> float:
    """The standard deviation of Gaussian noise of which a fit left residuals of these sizes.

    `free` is the share of the cells that are more than the fit's parameters. A fit that is robust
    comes as near as it likes to as many cells as it has parameters, whose residuals then say
    nothing: the median of the others is the quantile at 1 − free / 2. Under squares all residuals
    are smaller instead, by √free, and this is where that quantile is then. With no parameter it is
    1.4826 times the median.
    """
    share = 1 - free / 2
    usual = NormalDist().inv_cdf((1 + share) / 2) * free**0.5
    return float(np.quantile(sizes, share)) / usual
