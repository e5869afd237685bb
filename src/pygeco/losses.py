"""Losses: convex smooth functions of a prediction z and a target y, as array formulas.

A loss knows nothing of matrices, sparsity or devices. Its formulas use operators and the
functions of the array's own namespace, so that one source serves every engine. A loss of your own
needs `value` and `slope`; see `Custom`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pygeco.factors import Array


class Loss:
    """ℓ(z, y), its first two derivatives in z, and L with ℓ″ ≤ L."""

    name: ClassVar[str] = "loss"

    @property
    def smoothness(self) -> float:
        """L, the largest curvature."""
        raise TypeError(f"loss: {type(self).__name__} does not state its smoothness.")

    def value(self, z: Array, y: Array) -> Array:
        raise TypeError(f"loss: {type(self).__name__} has no `value(z, y)`.")

    def slope(self, z: Array, y: Array) -> Array:
        raise TypeError(f"loss: {type(self).__name__} has no `slope(z, y)`.")

    def curvature(self, z: Array, y: Array) -> Array:
        """ℓ″, or an upper bound on it where the loss has a kink in its slope."""
        return 0 * z + self.smoothness

    def conjugate(self, a: Array, y: Array) -> Array:
        """ℓ*(a) = max_z a z − ℓ(z, y); infinite outside its domain."""
        raise TypeError(f"loss: the conjugate of {type(self).__name__} is not known.")

    def targets(self, y: ArrayLike) -> Array:
        """Targets as the formulas want them; an error where they are outside the domain."""
        return np.asarray(y)

    def response(self, z: Array) -> Array:
        """A prediction on the scale of the targets."""
        return z

    def fitted(self, y: Array, residuals: Array | None = None) -> Loss:
        """The same loss with what it leaves to the data (a scale, thresholds) estimated."""
        return self


@dataclass(frozen=True)
class Squared(Loss):
    """ℓ = (z − y)², the paper's loss for matrix completion: no factor ½, so L = 2."""

    name = "squared"

    @property
    def smoothness(self) -> float:
        return 2.0

    def value(self, z: Array, y: Array) -> Array:
        return (z - y) ** 2

    def slope(self, z: Array, y: Array) -> Array:
        return 2 * (z - y)

    def conjugate(self, a: Array, y: Array) -> Array:
        return a * y + a * a / 4


@dataclass(frozen=True)
class Huber(Loss):
    """ℓ = x²/2 for |x| ≤ δ, δ|x| − δ²/2 beyond, x = z − y (the paper's section 4 has δ = 1).

    With `delta=None` the threshold is 1.345 robust standard deviations of the residuals.
    """

    delta: float | None = None
    name = "huber"

    def __post_init__(self) -> None:
        if self.delta is not None:
            _positive("delta", self.delta)

    @property
    def smoothness(self) -> float:
        return 1.0

    @property
    def _delta(self) -> float:
        return 1.0 if self.delta is None else self.delta

    def value(self, z: Array, y: Array) -> Array:
        xp, d = _namespace(z), self._delta
        x = xp.abs(z - y)
        near = xp.minimum(x, 0 * x + d)
        return near * (x - near / 2)

    def slope(self, z: Array, y: Array) -> Array:
        return _namespace(z).clip(z - y, -self._delta, self._delta)

    def curvature(self, z: Array, y: Array) -> Array:
        return (_namespace(z).abs(z - y) <= self._delta).astype(z.dtype)

    def conjugate(self, a: Array, y: Array) -> Array:
        return _inside(abs(a) <= self._delta * (1 + 1e-12), a * y + a * a / 2)

    def fitted(self, y: Array, residuals: Array | None = None) -> Huber:
        if self.delta is not None:
            return self
        scale = robust_scale(y - np.median(y) if residuals is None else residuals)
        return replace(self, delta=1.345 * scale if scale > 0 else 1.0)


@dataclass(frozen=True)
class PseudoHuber(Loss):
    """ℓ = δ² (√(1 + (x/δ)²) − 1): Huber's shape without a kink."""

    delta: float = 1.0
    name = "pseudo-huber"

    def __post_init__(self) -> None:
        _positive("delta", self.delta)

    @property
    def smoothness(self) -> float:
        return 1.0

    def value(self, z: Array, y: Array) -> Array:
        x = (z - y) / self.delta
        # √(1+x²) − 1 = x² / (1 + √(1+x²)) keeps its digits for small x.
        return self.delta**2 * x * x / (1 + (1 + x * x) ** 0.5)

    def slope(self, z: Array, y: Array) -> Array:
        x = z - y
        return x / (1 + (x / self.delta) ** 2) ** 0.5

    def curvature(self, z: Array, y: Array) -> Array:
        return (1 + ((z - y) / self.delta) ** 2) ** -1.5

    def conjugate(self, a: Array, y: Array) -> Array:
        d = self.delta
        inside = 1 - (a / d) ** 2
        xp = _namespace(a)
        root = xp.sqrt(xp.maximum(inside, 0 * inside))
        return _inside(inside >= -1e-12, a * y + d * d * (1 - root))


@dataclass(frozen=True)
class LogCosh(Loss):
    """ℓ = log cosh x: squared near zero, absolute far away."""

    name = "log-cosh"

    @property
    def smoothness(self) -> float:
        return 1.0

    def value(self, z: Array, y: Array) -> Array:
        xp = _namespace(z)
        x = xp.abs(z - y)
        return x + xp.log1p(xp.exp(-2 * x)) - math.log(2)

    def slope(self, z: Array, y: Array) -> Array:
        return _namespace(z).tanh(z - y)

    def curvature(self, z: Array, y: Array) -> Array:
        return 1 - _namespace(z).tanh(z - y) ** 2

    def conjugate(self, a: Array, y: Array) -> Array:
        xp = _namespace(a)
        b = xp.clip(a, -1, 1)
        entropy = (_xlogx(1 + b) + _xlogx(1 - b)) / 2
        return _inside(abs(a) <= 1 + 1e-12, a * y + entropy)


@dataclass(frozen=True)
class Absolute(Loss):
    """ℓ = √(x² + ε²) − ε: the absolute error, smoothed over a width ε."""

    width: float = 0.1
    name = "absolute"

    def __post_init__(self) -> None:
        _positive("width", self.width)

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
        return self.width**2 / ((z - y) ** 2 + self.width**2) ** 1.5

    def conjugate(self, a: Array, y: Array) -> Array:
        inside = 1 - a * a
        xp = _namespace(a)
        root = xp.sqrt(xp.maximum(inside, 0 * inside))
        return _inside(inside >= -1e-12, a * y + self.width * (1 - root))


@dataclass(frozen=True)
class Quantile(Loss):
    """The pinball loss of quantile q, smoothed (Moreau) over a width μ.

    With x = y − z: q x for x > 0, (q − 1) x below, and x²/2μ for −μ(1 − q) ≤ x ≤ μq.
    """

    q: float = 0.5
    width: float = 0.1
    name = "quantile"

    def __post_init__(self) -> None:
        _positive("width", self.width)
        if not 0 < self.q < 1:
            raise ValueError(f"q: must be strictly between 0 and 1, not {self.q!r}.")

    @property
    def smoothness(self) -> float:
        return 1 / self.width

    def value(self, z: Array, y: Array) -> Array:
        g = -self.slope(z, y)
        return g * (y - z) - self.width * g * g / 2

    def slope(self, z: Array, y: Array) -> Array:
        return -_namespace(z).clip((y - z) / self.width, self.q - 1, self.q)

    def curvature(self, z: Array, y: Array) -> Array:
        g = (y - z) / self.width
        return ((g >= self.q - 1) & (g <= self.q)).astype(z.dtype) / self.width

    def conjugate(self, a: Array, y: Array) -> Array:
        inside = (-a >= self.q - 1 - 1e-12) & (-a <= self.q + 1e-12)
        return _inside(inside, a * y + self.width * a * a / 2)


class _Binary(Loss):
    """Targets −1 and +1 (0 and 1 are taken as such)."""

    def targets(self, y: ArrayLike) -> Array:
        given = np.asarray(y)
        labels = np.unique(given)
        if not (np.isin(labels, (-1, 1)).all() or np.isin(labels, (0, 1)).all()):
            shown = ", ".join(f"{label:g}" for label in labels[:4])
            raise ValueError(
                f"values: the {self.name} loss needs labels −1 and +1 (or 0 and 1), "
                f"but the data hold {shown}{', …' if len(labels) > 4 else ''}."
            )
        return np.where(given > 0, 1, -1).astype(given.dtype if given.dtype.kind == "f" else float)


@dataclass(frozen=True)
class Logistic(_Binary):
    """ℓ = log(1 + e^(−yz)) for labels y = ±1. The response is P(y = 1)."""

    name = "logistic"

    @property
    def smoothness(self) -> float:
        return 0.25

    def value(self, z: Array, y: Array) -> Array:
        xp, m = _namespace(z), -y * z
        return xp.maximum(m, 0 * m) + xp.log1p(xp.exp(-xp.abs(m)))

    def slope(self, z: Array, y: Array) -> Array:
        return -y * sigmoid(-y * z)

    def curvature(self, z: Array, y: Array) -> Array:
        p = sigmoid(z)
        return p * (1 - p)

    def conjugate(self, a: Array, y: Array) -> Array:
        b = -a * y
        return _inside((b >= -1e-12) & (b <= 1 + 1e-12), _xlogx(b) + _xlogx(1 - b))

    def response(self, z: Array) -> Array:
        return sigmoid(z)


@dataclass(frozen=True)
class SmoothedHinge(_Binary):
    """The hinge max(0, 1 − yz), smoothed over a width γ of the margin."""

    width: float = 1.0
    name = "smoothed-hinge"

    def __post_init__(self) -> None:
        _positive("width", self.width)

    @property
    def smoothness(self) -> float:
        return 1 / self.width

    def value(self, z: Array, y: Array) -> Array:
        short = 1 - y * z
        g = _namespace(z).clip(short / self.width, 0, 1)
        return g * short - self.width * g * g / 2

    def slope(self, z: Array, y: Array) -> Array:
        return -y * _namespace(z).clip((1 - y * z) / self.width, 0, 1)

    def curvature(self, z: Array, y: Array) -> Array:
        short = (1 - y * z) / self.width
        return ((short >= 0) & (short <= 1)).astype(z.dtype) / self.width

    def conjugate(self, a: Array, y: Array) -> Array:
        b = -a * y
        return _inside((b >= -1e-12) & (b <= 1 + 1e-12), -b + self.width * b * b / 2)


@dataclass(frozen=True)
class Poisson(Loss):
    """ℓ = e^z − y z + log y! for counts y, the mean being e^z.

    Above z = `cap` the exponential continues as its own parabola, so nothing overflows and the
    loss is smooth: L = e^cap.
    """

    cap: float = 20.0
    name = "poisson"

    @property
    def smoothness(self) -> float:
        return math.exp(self.cap)

    def value(self, z: Array, y: Array) -> Array:
        xp = _namespace(z)
        over = xp.maximum(z - self.cap, 0 * z)
        return xp.exp(xp.minimum(z, 0 * z + self.cap)) * (1 + over + over * over / 2) - y * z

    def slope(self, z: Array, y: Array) -> Array:
        xp = _namespace(z)
        over = xp.maximum(z - self.cap, 0 * z)
        return xp.exp(xp.minimum(z, 0 * z + self.cap)) * (1 + over) - y

    def curvature(self, z: Array, y: Array) -> Array:
        xp = _namespace(z)
        return xp.exp(xp.minimum(z, 0 * z + self.cap))

    def conjugate(self, a: Array, y: Array) -> Array:
        rate = a + y
        return _inside(rate >= -1e-12, _xlogx(rate) - rate)

    def targets(self, y: ArrayLike) -> Array:
        given = np.asarray(y)
        if given.size and given.min() < 0:
            raise ValueError(
                f"values: the poisson loss needs counts ≥ 0, but the data hold {given.min():g}."
            )
        return given

    def response(self, z: Array) -> Array:
        xp = _namespace(z)
        return xp.exp(xp.minimum(z, 0 * z + self.cap))


@dataclass(frozen=True)
class Ordinal(Loss):
    """Cumulative logistic: P(y ≤ k) = σ(θ_k − z) for ordered levels y = 0, 1, …, K − 1.

    `levels` are the values that the targets take, `thresholds` the K − 1 increasing θ. Both are
    estimated where they are None: θ from the shares of the levels. The response is the mean level.
    """

    levels: tuple[float, ...] | None = None
    thresholds: tuple[float, ...] | None = None
    name = "ordinal"

    @property
    def smoothness(self) -> float:
        return 0.5

    def value(self, z: Array, y: Array) -> Array:
        # P = σ(b)σ(−a)(1 − e^(a−b)) with a < b the two ends, each factor kept as a logarithm.
        low, high = self._ends(z, y)
        xp = _namespace(z)
        return _softplus(-high) + _softplus(low) - xp.log1p(-xp.exp(low - high))

    def slope(self, z: Array, y: Array) -> Array:
        low, high = self._ends(z, y)
        return sigmoid(-high) - sigmoid(low)

    def curvature(self, z: Array, y: Array) -> Array:
        low, high = self._ends(z, y)
        p, q = sigmoid(low), sigmoid(high)
        return p * (1 - p) + q * (1 - q)

    def targets(self, y: ArrayLike) -> Array:
        given = np.asarray(y)
        levels = self._levels(given)
        at = np.searchsorted(levels, given)
        wrong = np.asarray(levels)[np.minimum(at, len(levels) - 1)] != given
        if np.any(wrong):
            raise ValueError(
                f"values: {given[wrong].flat[0]:g} is not one of the ordinal levels {levels}."
            )
        return at.astype(given.dtype if given.dtype.kind == "f" else float)

    def fitted(self, y: Array, residuals: Array | None = None) -> Ordinal:
        """`y` as given by the user, before `targets`."""
        levels = self._levels(y)
        if len(levels) < 2:
            raise ValueError("values: the ordinal loss needs at least two different levels.")
        if self.thresholds is not None:
            return replace(self, levels=levels)
        share = np.cumsum([np.mean(y == level) for level in levels])[:-1]
        theta = tuple(float(t) for t in np.log(share / (1 - share)))
        return replace(self, levels=levels, thresholds=theta)

    def response(self, z: Array) -> Array:
        levels, thresholds = self._settled()
        mean = 0 * z + levels[-1]
        for k, theta in enumerate(thresholds):
            mean = mean - (levels[k + 1] - levels[k]) * sigmoid(theta - z)
        return mean

    def _levels(self, y: Any) -> tuple[float, ...]:
        if self.levels is not None:
            return self.levels
        return tuple(float(level) for level in np.unique(np.asarray(y)))

    def _settled(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        if self.levels is None or self.thresholds is None:
            raise ValueError("loss: Ordinal needs levels and thresholds; call `fitted(y)` first.")
        return self.levels, self.thresholds

    def _ends(self, z: Array, y: Array) -> tuple[Array, Array]:
        """θ_(y−1) − z and θ_y − z, with ±40 standing for ±∞ (σ(−40) is below 1e-17)."""
        _, thresholds = self._settled()
        xp = _namespace(z)
        theta = xp.asarray((-math.inf, *thresholds, math.inf), dtype=z.dtype)
        k = y.astype(np.int64)
        return xp.clip(theta[k] - z, -500, 500), xp.clip(theta[k + 1] - z, -500, 500)


@dataclass(frozen=True)
class Custom(Loss):
    """A loss of your own: `Custom(value, slope)`, array functions of (z, y).

    `curvature` is optional; without it every Newton step uses the bound `smooth`, which must
    then be at least the largest second derivative.
    """

    value_of: Any
    slope_of: Any
    curvature_of: Any = None
    smooth: float = 1.0
    name = "custom"

    @property
    def smoothness(self) -> float:
        return self.smooth

    def value(self, z: Array, y: Array) -> Array:
        return self.value_of(z, y)

    def slope(self, z: Array, y: Array) -> Array:
        return self.slope_of(z, y)

    def curvature(self, z: Array, y: Array) -> Array:
        return super().curvature(z, y) if self.curvature_of is None else self.curvature_of(z, y)


LOSSES: dict[str, type[Loss]] = {
    kind.name: kind
    for kind in (
        Squared, Huber, PseudoHuber, LogCosh, Absolute, Quantile,
        Logistic, SmoothedHinge, Poisson, Ordinal,
    )
}  # fmt: skip


def named(loss: str | Loss) -> Loss:
    """The loss called `loss`; a loss object is returned as it is."""
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str):
        raise ValueError(f"loss: expected a name or a pygeco.losses.Loss, not {loss!r}.")
    if loss not in LOSSES:
        raise ValueError(f"loss: unknown name {loss!r}; use one of {sorted(LOSSES)}.")
    return LOSSES[loss]()


def robust_scale(residuals: Array) -> float:
    """1.4826 · median |x − median x|: the standard deviation, for Gaussian residuals."""
    return 1.4826 * float(np.median(np.abs(residuals - np.median(residuals))))


def sigmoid(z: Array) -> Array:
    """1 / (1 + e^(−z)), without overflow."""
    return 0.5 * (1 + _namespace(z).tanh(z / 2))


def _softplus(z: Array) -> Array:
    xp = _namespace(z)
    return xp.maximum(z, 0 * z) + xp.log1p(xp.exp(-xp.abs(z)))


def _xlogx(x: Array) -> Array:
    xp = _namespace(x)
    safe = xp.where(x > 0, x, 0 * x + 1)
    return xp.where(x > 0, x * xp.log(safe), 0 * x)


def _inside(domain: Any, value: Array) -> Array:
    xp = _namespace(value)
    return xp.where(domain, value, 0 * value + math.inf)


def _namespace(z: Array) -> Any:
    """The functions that go with the array: numpy, or CuPy for CuPy arrays."""
    return z.__array_namespace__() if hasattr(z, "__array_namespace__") else np


def _positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name}: must be a finite number > 0, not {value!r}.")
