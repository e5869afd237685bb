"""A loss in the place of another, for the sums that a certificate needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pygeco.arrays.low_rank import Array, LowRank
from pygeco.losses.base import Loss


@dataclass(frozen=True)
class ScaledDual(Loss):
    """ℓ*(c ℓ′(z)) − c ℓ′(z) z as a value, so that every engine's passes add it up."""

    loss: Loss
    scale: float
    name = "scaled dual"

    def value(self, z: Array, y: Array) -> Array:
        return self.loss.dual(z, y, self.scale)

    def slope(self, z: Array, y: Array) -> Array:
        return self.loss.slope(z, y)

    def stiffness(self, z: Array, y: Array) -> Array:
        return self.loss.stiffness(z, y)


class LossSum(Protocol):
    """A sum of a loss over cells, of which there is one for another loss too."""

    loss: Loss

    def with_loss(self, loss: Loss) -> LossSum: ...

    def value(self, A: LowRank) -> float: ...


def dual_of_losses(objective: LossSum, A: LowRank) -> Callable[[float], float] | None:
    """The scale c ↦ Σ w (ℓ*(c ℓ′) − c ℓ′ z) / Σ w at A, a pass each; None without a conjugate."""
    if not objective.loss.has_conjugate:
        return None
    return lambda scale: objective.with_loss(ScaledDual(objective.loss, scale)).value(A)
