"""Smoothed losses of the absolute residual: the absolute error and the pinball loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from pygeco.arrays.low_rank import Array
from pygeco.losses.base import (
    check_positive,
    find_scale,
    limit_to_domain,
    namespace,
)
from pygeco.losses.duals import corner_slack, root_slack
from pygeco.losses.regression import Regression

DEFAULT_WIDTH = 0.1  # of the rounded corner, in robust standard deviations


class Rounded(Regression):
    """A loss with its corner rounded over a width: a dataclass, one of whose fields that is."""

    width: float | None

    def __post_init__(self) -> None:
        if self.width is not None:
            check_positive("width", self.width)

    @property
    def _width(self) -> float:
        return DEFAULT_WIDTH if self.width is None else self.width

    def fitted(
        self, y: Array, residuals: Array | None = None, weights: Array | None = None
    ) -> Self:
        """The width from the residuals, or from the values about their median."""
        if self.width is not None:
            return self
        scale = find_scale(y if residuals is None else residuals, weights)
        return replace(self, width=DEFAULT_WIDTH * scale)  # type: ignore[type-var]

    @property
    def smoothness(self) -> float:
        return 1 / self._width


@dataclass(frozen=True)
class Absolute(Rounded):
    """ℓ = √(x² + ε²) − ε: the absolute error, smoothed over a width ε, x = z − y.

    Parameters
    ----------
    width : float or None, default=None
        ε, in the units of the data. None is a tenth of the robust standard deviation of the
        residuals; 0.1 before these are known.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Absolute
    >>> Absolute(0.1).value(np.array([100.0]), np.zeros(1)).round(1).tolist()
    [99.9]
    """

    width: float | None = None
    name = "absolute"
    robust = True
    settled_power = 1  # squares of the weights would count next to nothing but the nearest cells

    def value(self, z: Array, y: Array) -> Array:
        x = z - y
        return x * x / (self._width + (x * x + self._width**2) ** 0.5)

    def slope(self, z: Array, y: Array) -> Array:
        x = z - y
        return x / (x * x + self._width**2) ** 0.5

    def curvature(self, z: Array, y: Array) -> Array:
        root = ((z - y) ** 2 + self._width**2) ** 0.5
        return (self._width / root) ** 2 / root

    def conjugate(self, a: Array, y: Array) -> Array:
        left = (1 - a) * (1 + a)
        root = namespace(a).maximum(left, 0) ** 0.5
        return limit_to_domain(left >= -1e-12, a * y + self._width * (a * a / (1 + root)))

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        return root_slack(z - y, self._width, scale)


@dataclass(frozen=True)
class Quantile(Rounded):
    """The pinball loss of quantile q, smoothed (Moreau) over a width μ.

    With x = y − z: q x for x > 0, (q − 1) x below, less μ/2 times the squared factor, and
    x²/2μ for −μ(1 − q) ≤ x ≤ μq.

    Parameters
    ----------
    q : float, default=0.5
        The quantile, strictly between 0 and 1.
    width : float or None, default=None
        μ, in the units of the data. None is a tenth of the robust standard deviation of the
        residuals; 0.1 before these are known.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Quantile
    >>> Quantile(0.9).slope(np.array([-5.0, 5.0]), np.zeros(2)).round(1).tolist()
    [-0.9, 0.1]
    """

    q: float = 0.5
    width: float | None = None
    name = "quantile"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.q < 1:
            raise ValueError(f"q: must be strictly between 0 and 1, not {self.q!r}.")

    def value(self, z: Array, y: Array) -> Array:
        g = -self.slope(z, y)
        return g * (y - z) - self._width * g * g / 2

    def slope(self, z: Array, y: Array) -> Array:
        return namespace(z).clip((z - y) / self._width, -self.q, 1 - self.q)

    def curvature(self, z: Array, y: Array) -> Array:
        g = (z - y) / self._width
        return ((g >= -self.q) & (g <= 1 - self.q)).astype(z.dtype) / self._width

    def conjugate(self, a: Array, y: Array) -> Array:
        domain = (a >= -self.q - 1e-12) & (a <= 1 - self.q + 1e-12)
        return limit_to_domain(domain, a * y + self._width * a * a / 2)

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        x = z - y
        near = namespace(z).clip(x, -self._width * self.q, self._width * (1 - self.q))
        return corner_slack(x, near, scale) / self._width
