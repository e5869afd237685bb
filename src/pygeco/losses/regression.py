"""Losses of the residual z − y."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.losses.base import (
    Loss,
    check_positive,
    find_scale,
    limit_to_domain,
    namespace,
    sigmoid_slope,
    xlogx,
)
from pygeco.losses.duals import corner_slack, cosh_slack, root_slack


class Regression(Loss):
    """A function of z − y with its minimum at zero."""

    regression = True
    nonnegative = True
    # The power of the weights of cells where the scale is left to the residuals; see `Weighing`.
    settled_power: ClassVar[int] = 2

    def stiffness(self, z: Array, y: Array) -> Array:
        """ℓ″, held above a tenth of ℓ′/(z − y), the curvature of reweighted least squares.

        Far residuals have no curvature of their own; without this a Newton step would not see
        them. The tenth keeps the fast last steps of Newton.
        """
        xp = namespace(z)
        tiny = np.finfo(z.dtype).tiny
        secant = xp.abs(self.slope(z, y)) / xp.maximum(xp.abs(z - y), tiny)
        return xp.maximum(self.curvature(z, y), 0.1 * secant)

    def weights(self, x: Array) -> Array:
        """ℓ′(x) / (x ℓ″(0)) at residuals x: the weights of squares that touch ℓ there.

        Where ℓ is `robust`, they fall with |x|, and the weighted squares lie nowhere below ℓ.
        """
        xp, zero = namespace(x), 0 * x
        some = xp.where(x == 0, 1, x)
        found = self.slope(some, zero) / (some * self.curvature(zero, zero))
        return xp.where(x == 0, 1, found).astype(x.dtype)


@dataclass(frozen=True)
class Squared(Regression):
    """ℓ = (z − y)², the paper's loss for matrix completion: no factor ½, so L = 2.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Squared
    >>> Squared().slope(np.array([3.0]), np.array([1.0])).tolist()
    [4.0]
    """

    name = "squared"

    @property
    def smoothness(self) -> float:
        return 2.0

    @property
    def clipped(self) -> tuple[float, float]:
        return math.inf, 2.0

    def value(self, z: Array, y: Array) -> Array:
        return (z - y) ** 2

    def slope(self, z: Array, y: Array) -> Array:
        return 2 * (z - y)

    def stiffness(self, z: Array, y: Array) -> Array:
        return self.curvature(z, y)

    def conjugate(self, a: Array, y: Array) -> Array:
        return a * y + a * a / 4

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        return ((1 - scale) * (z - y)) ** 2


@dataclass(frozen=True)
class Huber(Regression):
    """ℓ = x²/2 for |x| ≤ δ, δ|x| − δ²/2 beyond, x = z − y (the paper's section 4 has δ = 1).

    Parameters
    ----------
    delta : float or None, default=None
        δ. None is two robust standard deviations of the residuals, which keeps 99 % of the
        efficiency of least squares under Gaussian noise (1.345 would keep 95 %) and, on skewed
        data such as ratings, stays near the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Huber
    >>> Huber(1.0).value(np.array([0.5, 3.0]), np.zeros(2)).tolist()
    [0.125, 2.5]
    """

    delta: float | None = None
    name = "huber"
    robust = True

    def __post_init__(self) -> None:
        if self.delta is not None:
            check_positive("delta", self.delta)

    @property
    def smoothness(self) -> float:
        return 1.0

    @property
    def clipped(self) -> tuple[float, float]:
        return self._delta, 1.0

    @property
    def _delta(self) -> float:
        return 1.0 if self.delta is None else self.delta

    def value(self, z: Array, y: Array) -> Array:
        xp = namespace(z)
        x = xp.abs(z - y)
        near = xp.minimum(x, self._delta)
        return near * (x - near / 2)

    def slope(self, z: Array, y: Array) -> Array:
        return namespace(z).clip(z - y, -self._delta, self._delta)

    def curvature(self, z: Array, y: Array) -> Array:
        return (namespace(z).abs(z - y) <= self._delta).astype(z.dtype)

    def conjugate(self, a: Array, y: Array) -> Array:
        return limit_to_domain(abs(a) <= self._delta * (1 + 1e-12), a * y + a * a / 2)

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        x = z - y
        return corner_slack(x, namespace(z).clip(x, -self._delta, self._delta), scale)

    def fitted(
        self, y: Array, residuals: Array | None = None, weights: Array | None = None
    ) -> Huber:
        """δ from the residuals, or from the values about their median where there are none."""
        if self.delta is not None:
            return self
        x = y if residuals is None else residuals
        is_constant = not len(x) or bool(x.min() == x.max())
        return replace(self, delta=1.0 if is_constant else 2 * find_scale(x, weights))


@dataclass(frozen=True)
class PseudoHuber(Regression):
    """ℓ = δ² (√(1 + (x/δ)²) − 1): Huber's shape without a kink, x = z − y.

    Parameters
    ----------
    delta : float or None, default=None
        δ, where the square turns into a line. None is two robust standard deviations of the
        residuals; 1 before these are known.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import PseudoHuber
    >>> PseudoHuber().slope(np.array([0.0]), np.array([0.0])).tolist()
    [0.0]
    """

    delta: float | None = None
    name = "pseudo-huber"
    robust = True

    def __post_init__(self) -> None:
        if self.delta is not None:
            check_positive("delta", self.delta)

    @property
    def _delta(self) -> float:
        return 1.0 if self.delta is None else self.delta

    def fitted(
        self, y: Array, residuals: Array | None = None, weights: Array | None = None
    ) -> PseudoHuber:
        """δ from the residuals, or from the values about their median where there are none."""
        if self.delta is not None:
            return self
        return replace(self, delta=2 * find_scale(y if residuals is None else residuals, weights))

    @property
    def smoothness(self) -> float:
        return 1.0

    def value(self, z: Array, y: Array) -> Array:
        x = (z - y) / self._delta
        # √(1+x²) − 1 = x² / (1 + √(1+x²)) keeps its digits for small x.
        return self._delta**2 * (x / (1 + _root(x))) * x

    def slope(self, z: Array, y: Array) -> Array:
        x = z - y
        return x / _root(x / self._delta)

    def curvature(self, z: Array, y: Array) -> Array:
        return _root((z - y) / self._delta) ** -3

    def conjugate(self, a: Array, y: Array) -> Array:
        b = a / self._delta
        left = (1 - b) * (1 + b)
        root = namespace(a).maximum(left, 0) ** 0.5
        return limit_to_domain(left >= -1e-12, a * y + a * a / (1 + root))

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        return self._delta * root_slack(z - y, self._delta, scale)


@dataclass(frozen=True)
class LogCosh(Regression):
    """ℓ = s² log cosh(x/s), x = z − y: squared near zero, absolute far away.

    Parameters
    ----------
    scale : float or None, default=None
        s. None is the robust standard deviation of the residuals; 1 before these are known.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import LogCosh
    >>> LogCosh().curvature(np.array([0.0]), np.array([0.0])).tolist()
    [1.0]
    """

    scale: float | None = None
    name = "log-cosh"
    robust = True

    def __post_init__(self) -> None:
        if self.scale is not None:
            check_positive("scale", self.scale)

    @property
    def _scale(self) -> float:
        return 1.0 if self.scale is None else self.scale

    def fitted(
        self, y: Array, residuals: Array | None = None, weights: Array | None = None
    ) -> LogCosh:
        """The scale from the residuals, or from the values about their median."""
        if self.scale is not None:
            return self
        return replace(self, scale=find_scale(y if residuals is None else residuals, weights))

    @property
    def smoothness(self) -> float:
        return 1.0

    def value(self, z: Array, y: Array) -> Array:
        xp, s = namespace(z), self._scale
        x = xp.abs(z - y) / s
        # log(1 + 2 sinh²(x/2)) keeps its digits for small x, the other form its range.
        near = xp.log1p(2 * xp.sinh(xp.minimum(x, 1) / 2) ** 2)
        return s * s * xp.where(x < 1, near, x + xp.log1p(xp.exp(-2 * x)) - math.log(2))

    def slope(self, z: Array, y: Array) -> Array:
        return self._scale * namespace(z).tanh((z - y) / self._scale)

    def curvature(self, z: Array, y: Array) -> Array:
        return 4 * sigmoid_slope(2 * (z - y) / self._scale)  # 1 − tanh² has no small digits

    def conjugate(self, a: Array, y: Array) -> Array:
        xp, s = namespace(a), self._scale
        b = a / s
        near = xp.clip(b, -0.5, 0.5)  # where the two terms of the other form cancel
        small = near * xp.arctanh(near) + xp.log1p(-near * near) / 2
        entropy = xp.where(abs(b) < 0.5, small, (xlogx(1 + b) + xlogx(1 - b)) / 2)
        return limit_to_domain(abs(b) <= 1 + 1e-12, a * y + s * s * entropy)

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        u = namespace(z).abs(z - y) / self._scale
        return self._scale * (self._scale * cosh_slack(u, scale))


def _root(x: Array) -> Array:
    """√(1 + x²), without overflow: a cell as wild as that would weigh nothing."""
    xp = namespace(x)
    size = xp.abs(x)
    return xp.maximum(size, (1 + xp.minimum(size, 1e15) ** 2) ** 0.5)
