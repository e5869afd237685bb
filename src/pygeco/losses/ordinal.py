"""Ordered levels: the cumulative logistic loss."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.kinds import as_array, host, on
from pygeco.arrays.low_rank import Array
from pygeco.losses.base import Loss, namespace, sigmoid, sigmoid_slope, softplus


@dataclass(frozen=True)
class Ordinal(Loss):
    """Cumulative logistic: P(y ≤ k) = σ(θ_k − z) for ordered levels y = 0, 1, …, K − 1.

    The response is the mean level.

    Parameters
    ----------
    levels : tuple of float or None, default=None
        The values that the targets take, rising; None takes those of the data.
    thresholds : tuple of float or None, default=None
        The K − 1 rising θ; None estimates them from the shares of the levels.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Ordinal
    >>> loss = Ordinal().fitted(np.array([1.0, 2.0, 3.0, 3.0]))
    >>> loss.levels
    (1.0, 2.0, 3.0)
    >>> loss.probabilities(np.zeros(1)).round(2).tolist()
    [[0.25, 0.25, 0.5]]
    """

    levels: tuple[float, ...] | None = None
    thresholds: tuple[float, ...] | None = None
    name = "ordinal"
    nonnegative = True

    def __post_init__(self) -> None:
        for name, given in (("levels", self.levels), ("thresholds", self.thresholds)):
            if given is not None and not all(a < b for a, b in pairwise(given)):
                raise ValueError(f"{name}: must increase strictly, unlike {given!r}.")
        if self.levels is not None and len(self.levels) < 2:
            raise ValueError(f"levels: at least two are needed, not {self.levels!r}.")
        if self.levels is None or self.thresholds is None:
            return
        if len(self.thresholds) != len(self.levels) - 1:
            raise ValueError(
                f"thresholds: {len(self.levels)} levels have {len(self.levels) - 1} thresholds "
                f"between them, not {len(self.thresholds)}."
            )

    @property
    def smoothness(self) -> float:
        return 0.5

    def value(self, z: Array, y: Array) -> Array:
        # P = σ(b)σ(−a)(1 − e^(a−b)) with a < b the two ends, each factor kept as a logarithm.
        low, high = self._ends(z, y)
        _, thresholds = self._settled()
        gaps = [-_log_of_rest(gap) for gap in np.diff(thresholds)]
        constant = on([0.0, *gaps, 0.0], z, z.dtype)
        return softplus(-high) + softplus(low) + constant[y.astype(np.int64)]

    def slope(self, z: Array, y: Array) -> Array:
        low, high = self._ends(z, y)
        return sigmoid(-high) - sigmoid(low)

    def curvature(self, z: Array, y: Array) -> Array:
        low, high = self._ends(z, y)
        return sigmoid_slope(low) + sigmoid_slope(high)

    def stiffness(self, z: Array, y: Array) -> Array:
        return self.curvature(z, y)

    def targets(self, y: ArrayLike) -> Array:
        given = as_array(y)
        kind = given.dtype if given.dtype.kind == "f" else np.dtype(float)
        levels = on(self._levels(given), given, kind)
        wrong = ~np.isin(given, levels)
        if np.any(wrong):
            shown = ", ".join(f"{level:g}" for level in host(levels[:10]))
            raise ValueError(
                f"values: {float(given[wrong][0]):g} is not one of the ordinal levels {shown}."
            )
        return np.searchsorted(levels, given).astype(kind)

    def fitted(
        self, y: Array, residuals: Array | None = None, weights: Array | None = None
    ) -> Ordinal:
        """`y` as given by the user, before `targets`."""
        levels = self._levels(y)
        if len(levels) < 2:
            raise ValueError("values: the ordinal loss needs at least two different levels.")
        if self.thresholds is not None:
            return replace(self, levels=levels)
        codes = self.targets(y).astype(np.int64).reshape(-1)  # of several outputs, all together
        each = None if weights is None else weights.reshape(-1)
        counts = host(np.bincount(codes, each, len(levels))).astype(float)
        least = 1.0 if weights is None else min(1.0, float(counts[counts > 0].min()))
        share = np.where(counts > 0, counts, 0.5 * least)  # a small one for a level without a cell
        below = np.cumsum(share)[:-1] / share.sum()
        theta = tuple(float(t) for t in np.log(below / (1 - below)))
        return replace(self, levels=levels, thresholds=theta)

    def response(self, z: Array) -> Array:
        levels, thresholds = self._settled()
        mean = 0 * z + levels[0]
        for k, theta in enumerate(thresholds):
            mean = mean + (levels[k + 1] - levels[k]) * sigmoid(z - theta)
        return mean

    def bounds(self, y: Array) -> tuple[float, float]:
        levels, _ = self._settled()
        return levels[int(y.min())], levels[int(y.max())]

    def probabilities(self, z: Array) -> Array:
        """P(y = each level), one column a level: a product, for a difference loses small ones."""
        _, thresholds = self._settled()
        below = [*(sigmoid(theta - z) for theta in thresholds), 0 * z + 1]
        above = [0 * z + 1, *(sigmoid(z - theta) for theta in thresholds)]
        rest = [1.0, *(-math.expm1(a - b) for a, b in pairwise(thresholds)), 1.0]
        return namespace(z).stack(
            [p * q * r for p, q, r in zip(below, above, rest, strict=True)], axis=-1
        )

    def _levels(self, y: Any) -> tuple[float, ...]:
        if self.levels is not None:
            return self.levels
        return tuple(float(level) for level in host(np.unique(as_array(y))))

    def _settled(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        if self.levels is None or self.thresholds is None:
            raise ValueError("loss: Ordinal needs levels and thresholds; call `fitted(y)` first.")
        return self.levels, self.thresholds

    def _ends(self, z: Array, y: Array) -> tuple[Array, Array]:
        """θ_(y−1) − z and θ_y − z; the outermost thresholds are infinite."""
        _, thresholds = self._settled()
        theta = on((-math.inf, *thresholds, math.inf), z, z.dtype)
        k = y.astype(np.int64)
        return theta[k] - z, theta[k + 1] - z


def _log_of_rest(gap: float) -> float:
    """Log(1 − e^−gap) to all digits, however small the gap is."""
    if gap < math.log(2):
        return math.log(-math.expm1(-gap))
    return math.log1p(-math.exp(-gap))
