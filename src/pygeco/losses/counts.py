"""Counts: the Poisson loss with a log link."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from pygeco.arrays.kinds import as_array
from pygeco.arrays.low_rank import Array
from pygeco.losses.base import Loss, limit_to_domain, namespace, xlogx
from pygeco.losses.duals import above_tangent

DEFAULT_CAP, MAX_CAP = 20.0, 40.0  # of z: squares of e^40 are in range of single precision
HEADROOM = 4.0  # of the cap above the logarithm of the largest count
MAX_COUNT = math.exp(MAX_CAP - HEADROOM)


@dataclass(frozen=True)
class Poisson(Loss):
    """ℓ = e^z − y z for counts y, the mean being e^z (log y!, a constant, is left out).

    Above z = `cap` the exponential continues as its own parabola, so nothing overflows and the
    loss is smooth: L = e^cap.

    Parameters
    ----------
    cap : float or None, default=None
        Above 0 and at most 40; None is 20, or more if the largest count of a fit needs it.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Poisson
    >>> Poisson().slope(np.log([2.0]), np.array([2.0])).round(12).tolist()
    [0.0]
    """

    cap: float | None = None
    name = "poisson"

    def __post_init__(self) -> None:
        if self.cap is not None and not 0 < self.cap <= MAX_CAP:
            raise ValueError(f"cap: must be above 0 and at most {MAX_CAP:g}, not {self.cap!r}.")

    @property
    def top(self) -> float:
        """The z above which the loss is a parabola."""
        return DEFAULT_CAP if self.cap is None else self.cap

    @property
    def smoothness(self) -> float:
        return math.exp(self.top)

    def value(self, z: Array, y: Array) -> Array:
        over = namespace(z).maximum(z - self.top, 0)
        return self.response(z) * (1 + over + over * over / 2) - y * z

    def slope(self, z: Array, y: Array) -> Array:
        return self.response(z) * (1 + namespace(z).maximum(z - self.top, 0)) - y

    def curvature(self, z: Array, y: Array) -> Array:
        return self.response(z)

    def stiffness(self, z: Array, y: Array) -> Array:
        return self.curvature(z, y)

    def conjugate(self, a: Array, y: Array) -> Array:
        rate, top = a + y, math.exp(self.top)
        below = namespace(a).minimum(rate, top)
        over = (rate - below) / top  # how far above the cap the maximum lies
        far = rate * self.top - top + top * over * over / 2
        return limit_to_domain(
            rate >= -1e-12, namespace(a).where(rate > top, far, xlogx(below) - below)
        )

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        """The divergence of the mean at the scaled slope from e^z; above the cap, of parabolas."""
        xp, top, rest = namespace(z), math.exp(self.top), 1 - scale
        over = xp.maximum(z - self.top, 0)
        below = self.response(z)
        mean = below * (1 + over)
        rate = scale * mean + rest * y
        under = xp.minimum(rate, top)
        both = (rate > top) & (over > 0)
        beyond = xp.where(both, rest * (y - mean), (rate - under) - (mean - below))
        # Between the parts below the cap; where the mean is as good as zero, by its logarithm z.
        few = below < 1e-6 * under
        capped = (rate > top) | (over > 0)
        moved = xp.where(capped, under - below, rest * (y - mean))
        t = xp.where(few, 0, moved) / xp.where(below > 0, below, 1)
        near = below * above_tangent(t)
        far = under * (xp.log(xp.where(few, under, 1)) - z) - under + below
        crossed = over * (top - under) + xp.maximum(self.top - z, 0) * (rate - under)
        return xp.where(few, far, near) + beyond * beyond / (2 * top) + crossed

    def targets(self, y: ArrayLike) -> Array:
        given = as_array(y)
        if given.size and given.min() < 0:
            least = float(given.min())
            raise ValueError(
                f"values: the poisson loss needs counts ≥ 0, but the data hold {least:g}."
            )
        if given.size and given.max() > MAX_COUNT:
            raise ValueError(
                f"values: the poisson loss takes counts up to {MAX_COUNT:.2g}, but the data hold "
                f"{float(given.max()):.3g}; divide them."
            )
        return given

    def fitted(
        self, y: Array, residuals: Array | None = None, weights: Array | None = None
    ) -> Poisson:
        """The cap, which no mean of these counts comes near."""
        if self.cap is not None:
            return self
        most = min(max(float(y.max()), 1.0), MAX_COUNT) if y.size else 1.0
        return replace(self, cap=max(DEFAULT_CAP, math.log(most) + HEADROOM))

    def response(self, z: Array) -> Array:
        """The mean e^z (e^cap above the cap)."""
        xp = namespace(z)
        return xp.exp(xp.minimum(z, self.top))
