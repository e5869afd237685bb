"""Smoothed losses of the absolute residual: the absolute error and the pinball loss."""

from __future__ import annotations

from dataclasses import dataclass

from pygeco.arrays.low_rank import Array
from pygeco.losses.base import check_positive, limit_to_domain, namespace
from pygeco.losses.regression import Regression


@dataclass(frozen=True)
class Absolute(Regression):
    """ℓ = √(x² + ε²) − ε: the absolute error, smoothed over a width ε, x = z − y.

    Parameters
    ----------
    width : float, default=0.1
        ε, in the units of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Absolute
    >>> Absolute(0.1).value(np.array([100.0]), np.zeros(1)).round(1).tolist()
    [99.9]
    """

    width: float = 0.1
    name = "absolute"
    robust = True

    def __post_init__(self) -> None:
        check_positive("width", self.width)

    @property
    def smoothness(self) -> float:
        return 1 / self.width

    def value(self, z: Array, y: Array) -> Array:
        x = z - y
        return x * x / (self.width + (x * x + self.width**2) ** 0.5)

    def slope(self, z: Array, y: Array) -> Array:
        x = z - y
        return x / (x * x + self.width**2) ** 0.5

    def curvature(self, z: Array, y: Array) -> Array:
        root = ((z - y) ** 2 + self.width**2) ** 0.5
        return (self.width / root) ** 2 / root

    def conjugate(self, a: Array, y: Array) -> Array:
        left = 1 - a * a
        root = namespace(a).maximum(left, 0) ** 0.5
        return limit_to_domain(left >= -1e-12, a * y + self.width * (1 - root))


@dataclass(frozen=True)
class Quantile(Regression):
    """The pinball loss of quantile q, smoothed (Moreau) over a width μ.

    With x = y − z: q x for x > 0, (q − 1) x below, less μ/2 times the squared factor, and
    x²/2μ for −μ(1 − q) ≤ x ≤ μq.

    Parameters
    ----------
    q : float, default=0.5
        The quantile, strictly between 0 and 1.
    width : float, default=0.1
        μ, in the units of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Quantile
    >>> Quantile(0.9).slope(np.array([-5.0, 5.0]), np.zeros(2)).round(1).tolist()
    [-0.9, 0.1]
    """

    q: float = 0.5
    width: float = 0.1
    name = "quantile"

    def __post_init__(self) -> None:
        check_positive("width", self.width)
        if not 0 < self.q < 1:
            raise ValueError(f"q: must be strictly between 0 and 1, not {self.q!r}.")

    @property
    def smoothness(self) -> float:
        return 1 / self.width

    def value(self, z: Array, y: Array) -> Array:
        g = -self.slope(z, y)
        return g * (y - z) - self.width * g * g / 2

    def slope(self, z: Array, y: Array) -> Array:
        return namespace(z).clip((z - y) / self.width, -self.q, 1 - self.q)

    def curvature(self, z: Array, y: Array) -> Array:
        g = (z - y) / self.width
        return ((g >= -self.q) & (g <= 1 - self.q)).astype(z.dtype) / self.width

    def conjugate(self, a: Array, y: Array) -> Array:
        domain = (a >= -self.q - 1e-12) & (a <= 1 - self.q + 1e-12)
        return limit_to_domain(domain, a * y + self.width * a * a / 2)
