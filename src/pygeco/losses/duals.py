"""A loss in the place of another, for the sums that a certificate needs."""

from __future__ import annotations

from dataclasses import dataclass

from pygeco.arrays.low_rank import Array
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
