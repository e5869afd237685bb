"""Losses: convex smooth functions of a prediction z and a target y, as array formulas.

A loss knows nothing of matrices, sparsity or devices. Its formulas use operators and the
functions of the array's own namespace, so that one source serves every engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pygeco.factors import Array


@runtime_checkable
class Loss(Protocol):
    """ℓ(z, y), its first two derivatives in z, and L with ℓ″ ≤ L."""

    @property
    def name(self) -> str: ...
    @property
    def smoothness(self) -> float: ...
    def value(self, z: Array, y: Array) -> Array: ...
    def slope(self, z: Array, y: Array) -> Array: ...
    def curvature(self, z: Array, y: Array) -> Array: ...


@dataclass(frozen=True)
class Squared:
    """ℓ = (z − y)², the paper's loss for matrix completion: no factor ½, so L = 2."""

    name: str = "squared"
    smoothness: float = 2.0

    def value(self, z: Array, y: Array) -> Array:
        return (z - y) ** 2

    def slope(self, z: Array, y: Array) -> Array:
        return 2 * (z - y)

    def curvature(self, z: Array, y: Array) -> Array:
        return 0 * z + 2


LOSSES = {"squared": Squared}


def named(loss: str | Loss) -> Loss:
    """The loss called `loss`; a loss object is returned as it is."""
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        raise ValueError(f"loss: unknown name {loss!r}; use one of {sorted(LOSSES)}.")
    return LOSSES[loss]()
