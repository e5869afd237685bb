"""Counts: the Poisson loss with a log link."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from pygeco.arrays.kinds import as_array
from pygeco.arrays.low_rank import Array
from pygeco.losses.base import Loss, limit_to_domain, namespace, xlogx


@dataclass(frozen=True)
class Poisson(Loss):
    """ℓ = e^z − y z for counts y, the mean being e^z (log y!, a constant, is left out).

    Above z = `cap` the exponential continues as its own parabola, so nothing overflows and the
    loss is smooth: L = e^cap.

    Parameters
    ----------
    cap : float, default=20.0
        Above 0 and at most 40.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Poisson
    >>> Poisson().slope(np.log([2.0]), np.array([2.0])).round(12).tolist()
    [0.0]
    """

    cap: float = 20.0
    name = "poisson"

    def __post_init__(self) -> None:
        if not 0 < self.cap <= 40:
            raise ValueError(f"cap: must be above 0 and at most 40, not {self.cap!r}.")

    @property
    def smoothness(self) -> float:
        return math.exp(self.cap)

    def value(self, z: Array, y: Array) -> Array:
        over = namespace(z).maximum(z - self.cap, 0)
        return self.response(z) * (1 + over + over * over / 2) - y * z

    def slope(self, z: Array, y: Array) -> Array:
        return self.response(z) * (1 + namespace(z).maximum(z - self.cap, 0)) - y

    def curvature(self, z: Array, y: Array) -> Array:
        return self.response(z)

    def stiffness(self, z: Array, y: Array) -> Array:
        return self.curvature(z, y)

    def conjugate(self, a: Array, y: Array) -> Array:
        rate, top = a + y, math.exp(self.cap)
        below = namespace(a).minimum(rate, top)
        over = (rate - below) / top  # how far above the cap the maximum lies
        far = rate * self.cap - top + top * over * over / 2
        return limit_to_domain(
            rate >= -1e-12, namespace(a).where(rate > top, far, xlogx(below) - below)
        )

    def targets(self, y: ArrayLike) -> Array:
        given = as_array(y)
        if given.size and given.min() < 0:
            least = float(given.min())
            raise ValueError(
                f"values: the poisson loss needs counts ≥ 0, but the data hold {least:g}."
            )
        return given

    def response(self, z: Array) -> Array:
        """The mean e^z (e^cap above the cap)."""
        xp = namespace(z)
        return xp.exp(xp.minimum(z, self.cap))
