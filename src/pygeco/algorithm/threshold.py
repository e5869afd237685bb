"""How the threshold of Huber's loss follows the residuals of a robust approximation down."""

from __future__ import annotations

from dataclasses import dataclass

from pygeco.losses import Huber, Loss

# δ falls no faster than this a sweep: faster, and lines that lag behind are taken for outliers.
MAX_FALL = 0.7
# 95 % of the efficiency of least squares under Gaussian noise (Huber 1964).
THRESHOLD = 1.345


@dataclass(frozen=True)
class Schedule:
    """How Huber's threshold follows the scale of the residuals; another loss stays as it is.

    A threshold that is given is where the decrease ends.
    """

    loss: Loss
    decreasing: bool = True

    def first(self, scale: float) -> Loss:
        """The loss for residuals of this scale."""
        if not isinstance(self.loss, Huber):
            return self.loss
        return Huber(max(self.loss.delta or 0.0, THRESHOLD * scale))

    def next(self, loss: Loss, scale: float) -> Loss:
        """The loss after a sweep with `loss` that left residuals of this scale."""
        if not isinstance(loss, Huber) or loss.delta is None or not self.decreasing:
            return loss
        return self.first(max(scale, MAX_FALL * loss.delta / THRESHOLD))


def is_falling(before: Loss, loss: Loss) -> bool:
    """Whether the threshold is on its way down, as fast as it may."""
    if not isinstance(before, Huber) or not isinstance(loss, Huber):
        return False
    return (loss.delta or 0.0) <= MAX_FALL * (1 + 1e-9) * (before.delta or 0.0)
