"""Losses of the margin y z, for labels y = ±1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.kinds import as_array, host
from pygeco.arrays.low_rank import Array
from pygeco.losses.base import (
    Loss,
    check_positive,
    limit_to_domain,
    namespace,
    sigmoid,
    sigmoid_slope,
    softplus,
    xlogx,
)
from pygeco.losses.duals import corner_slack, label_slack


class Binary(Loss):
    """Targets −1 and +1 (0 and 1 are taken as such)."""

    def targets(self, y: ArrayLike) -> Array:
        given = as_array(y)
        ones = given == 1
        if not (np.all(ones | (given == -1)) or np.all(ones | (given == 0))):
            labels = host(np.unique(given))
            shown = ", ".join(f"{label:g}" for label in labels[:4])
            raise ValueError(
                f"values: the {self.name} loss needs labels −1 and +1 (or 0 and 1), "
                f"but the data hold {shown}{', …' if len(labels) > 4 else ''}."
            )
        return np.where(ones, 1, -1).astype(given.dtype if given.dtype.kind == "f" else float)

    def bounds(self, y: Array) -> tuple[float, float]:
        """None: a margin may be as large as it likes."""
        return -math.inf, math.inf


@dataclass(frozen=True)
class Logistic(Binary):
    """ℓ = log(1 + e^(−yz)) for labels y = ±1. The response is P(y = 1).

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Logistic
    >>> Logistic().response(np.array([0.0])).tolist()
    [0.5]
    """

    name = "logistic"
    nonnegative = True

    @property
    def smoothness(self) -> float:
        return 0.25

    def value(self, z: Array, y: Array) -> Array:
        return softplus(-y * z)

    def slope(self, z: Array, y: Array) -> Array:
        return -y * sigmoid(-y * z)

    def curvature(self, z: Array, y: Array) -> Array:
        return sigmoid_slope(z)

    def stiffness(self, z: Array, y: Array) -> Array:
        return self.curvature(z, y)

    def conjugate(self, a: Array, y: Array) -> Array:
        b = -a * y
        xp = namespace(a)
        rest = (1 - b) * xp.log1p(-xp.where(b < 1, b, 0))  # 1 − b has not the digits of a small b
        return limit_to_domain((b >= -1e-12) & (b <= 1 + 1e-12), xlogx(b) + rest)

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        return label_slack(y * z, scale)

    def response(self, z: Array) -> Array:
        return sigmoid(z)

    def probabilities(self, z: Array) -> Array:
        return namespace(z).stack([sigmoid(-z), sigmoid(z)], axis=-1)


@dataclass(frozen=True)
class SmoothedHinge(Binary):
    """The hinge max(0, 1 − yz) for labels y = ±1, smoothed over a width γ of the margin.

    Parameters
    ----------
    width : float, default=1.0
        γ; smaller is closer to the hinge, and less smooth.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import SmoothedHinge
    >>> SmoothedHinge(0.5).value(np.array([-1.0, 1.0]), np.array([1.0, 1.0])).tolist()
    [1.75, 0.0]
    """

    width: float = 1.0
    name = "smoothed-hinge"
    nonnegative = True

    def __post_init__(self) -> None:
        check_positive("width", self.width)

    @property
    def smoothness(self) -> float:
        return 1 / self.width

    def value(self, z: Array, y: Array) -> Array:
        short = 1 - y * z
        g = namespace(z).clip(short / self.width, 0, 1)
        return g * short - self.width * g * g / 2

    def slope(self, z: Array, y: Array) -> Array:
        return -y * namespace(z).clip((1 - y * z) / self.width, 0, 1)

    def curvature(self, z: Array, y: Array) -> Array:
        short = (1 - y * z) / self.width
        return ((short >= 0) & (short <= 1)).astype(z.dtype) / self.width

    def conjugate(self, a: Array, y: Array) -> Array:
        b = -a * y
        return limit_to_domain((b >= -1e-12) & (b <= 1 + 1e-12), -b + self.width * b * b / 2)

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        short = 1 - y * z
        near = namespace(z).clip(short, 0, self.width)
        return corner_slack(short, near, scale) / self.width
