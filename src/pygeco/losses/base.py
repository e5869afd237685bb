"""What a loss is, and the few functions that the formulas share."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.kinds import as_array, distant, host
from pygeco.arrays.low_rank import Array

# Data may be as large as this: sums of squares, and squares of those times a few, stay in range.
MAX_SIZE = 1e100
MAX_SINGLE_SIZE = 1e15


class Loss:
    """ℓ(z, y), its first two derivatives in z, and L with ℓ″ ≤ L.

    A loss of your own needs `value` and `slope`, functions of two arrays of equal shape. It may
    state its `curvature` or its `smoothness`; without either, the curvature is measured.

    Attributes
    ----------
    name : str
        The name by which estimators know it.
    regression : bool
        Whether z is itself a prediction of y, in its unit: a curvature that is measured then is so
        over shares of the residual.
    nonnegative : bool
        Whether ℓ ≥ 0. A sum of such losses bounds the trace norm of every better matrix, which
        proofs of optimality need.
    robust : bool
        Whether large residuals have less pull than under the squared loss; see
        `Regression.weights`.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Loss
    >>> class Quartic(Loss):
    ...     regression = True
    ...
    ...     def value(self, z, y):
    ...         return (z - y) ** 4
    ...
    ...     def slope(self, z, y):
    ...         return 4 * (z - y) ** 3
    >>> Quartic().curvature(np.array([1.0]), np.array([0.0])).round(1).tolist()
    [12.0]
    """

    name: ClassVar[str] = "loss"
    regression: bool = False
    nonnegative: bool = False
    robust: ClassVar[bool] = False  # see `Regression.weights`

    @property
    def smoothness(self) -> float:
        """L, the largest curvature; infinite where it is not known."""
        return math.inf

    @property
    def clipped(self) -> tuple[float, float] | None:
        """(δ, scale) where ℓ′ is scale · clip(z − y, ±δ): engines have a fused pass for it."""
        return None

    def value(self, z: Array, y: Array) -> Array:
        raise TypeError(f"loss: {type(self).__name__} has no `value(z, y)`; write one.")

    def slope(self, z: Array, y: Array) -> Array:
        raise TypeError(f"loss: {type(self).__name__} has no `slope(z, y)`; write one.")

    def curvature(self, z: Array, y: Array) -> Array:
        """ℓ″. Where it is not stated: L, or the larger of two differences of the slope.

        Over a share of the residual, where z is a prediction of y: data may be of any size.
        """
        if math.isfinite(self.smoothness):
            return 0 * z + self.smoothness
        xp, share = namespace(z), 1e-4 if z.dtype.itemsize > 4 else 1e-2
        step = share * (1 + xp.abs(z))
        if self.regression:
            told_apart = float(np.finfo(z.dtype).eps) ** 0.5 * (xp.abs(z) + xp.abs(y))
            near = xp.maximum(share * xp.abs(z - y), told_apart)
            step = xp.where(near > 0, near, step)
        here = self.slope(z, y)
        ahead, behind = self.slope(z + step, y) - here, here - self.slope(z - step, y)
        return xp.maximum(xp.maximum(ahead, behind), 0) / step

    def stiffness(self, z: Array, y: Array) -> Array:
        """The curvature that Newton steps use: ℓ″, but positive wherever the slope is not zero.

        A tenth of |ℓ′| / (1 + |z| + |y|) at least; where z is a prediction of y, of the mean
        curvature between the two, which knows the unit of the data.
        """
        xp, slope = namespace(z), self.slope(z, y)
        if self.regression:
            rise, run = slope - self.slope(y.astype(z.dtype, copy=False), y), xp.abs(z - y)
            floor = xp.abs(rise) / xp.maximum(run, np.finfo(z.dtype).tiny)
        else:
            floor = xp.abs(slope) / (1 + xp.abs(z) + xp.abs(y))
        return xp.maximum(self.curvature(z, y), 0.1 * floor)

    def conjugate(self, a: Array, y: Array) -> Array:
        """ℓ*(a) = max_z a z − ℓ(z, y); infinite outside its domain."""
        raise TypeError(f"loss: the conjugate of {type(self).__name__} is not known.")

    @property
    def has_conjugate(self) -> bool:
        """Whether `conjugate` is written out."""
        return type(self).conjugate is not Loss.conjugate

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        """ℓ(z) + ℓ*(a) − a z ≥ 0 at the slope a = scale · ℓ′(z), scale in [0, 1]; at 1 it is zero.

        Certificates are sums of it. Large terms cancel here, and what their rounding may hide is
        added; pygeco's own losses have forms in which nothing cancels.
        """
        xp, a = namespace(z), scale * self.slope(z, y)
        terms = self.value(z, y), self.conjugate(a, y), -a * z
        hidden = 8 * float(np.finfo(z.dtype).eps) * sum(xp.abs(term) for term in terms)
        return xp.maximum(sum(terms), 0) + hidden

    def targets(self, y: ArrayLike) -> Array:
        """Targets as the formulas want them; an error where they are outside the domain."""
        return as_array(y)

    def response(self, z: Array) -> Array:
        """A prediction on the scale of the targets."""
        return z

    def bounds(self, y: Array) -> tuple[float, float]:
        """The range of the responses that these targets make believable."""
        return float(y.min()), float(y.max())

    def probabilities(self, z: Array) -> Array:
        """P(y = each class), one column a class."""
        raise TypeError(f"loss: {type(self).__name__} has no probabilities; use 'logistic'.")

    def fitted(
        self, y: Array, residuals: Array | None = None, weights: Array | None = None
    ) -> Loss:
        """The same loss with what it leaves to the data (a scale, thresholds) estimated.

        A target of weight w counts as w targets; all weights are positive.
        """
        return self


def check_size(name: str, x: Array, *, single: bool = False) -> None:
    """Raise an error if the squares of these numbers overflow.

    Parameters
    ----------
    name : str
        What the error calls them.
    x : array
        The numbers.
    single : bool, default=False
        Whether float32 numbers stay in float32, of which less is in range.
    """
    limit = MAX_SINGLE_SIZE if single and x.dtype == np.float32 else MAX_SIZE
    top = max(float(x.max()), -float(x.min())) if x.size else 0.0
    if top > limit:
        remedy = "pass float64, or divide the data" if limit < MAX_SIZE else "divide the data"
        raise ValueError(
            f"{name}: the largest is {top:.3g} in size, above {limit:g}, so that sums of squares "
            f"may overflow; {remedy}."
        )


def robust_scale(residuals: Array, weights: Array | None = None) -> float:
    """Measure 1.4826 · median |x − median x|: the standard deviation, for Gaussian residuals.

    Parameters
    ----------
    residuals : array
        x.
    weights : array or None, default=None
        A residual of weight w counts as w of them.

    Returns
    -------
    float
    """
    return 1.4826 * median(np.abs(residuals - median(residuals, weights)), weights)


def find_scale(x: Array, weights: Array | None = None) -> float:
    """The robust scale of numbers; where most are alike, 1.25 · mean |x − median x|, or one."""
    scale = robust_scale(x, weights)
    if scale > 0 or not len(x):
        return scale or 1.0
    away = np.abs(x - median(x, weights)).astype(float)
    total = float(away.sum() if weights is None else (away * weights).sum())
    return 1.2533 * total / float(x.size if weights is None else weights.sum()) or 1.0


def median(x: Array, weights: Array | None = None) -> float:
    """The median; with weights, that of x_i given w_i times: halfway where two would do."""
    if weights is None:
        return float(np.median(x))
    x, w = ((a if distant(a) else host(a)).astype(float) for a in (x, weights))
    lower = float(np.quantile(x, 0.5, weights=w, method="inverted_cdf"))
    upper = -float(np.quantile(-x, 0.5, weights=w, method="inverted_cdf"))
    return (lower + upper) / 2


def sigmoid(z: Array) -> Array:
    """1 / (1 + e^(−z)), without overflow and with all digits where it is small.

    Parameters
    ----------
    z : array

    Returns
    -------
    array
    """
    xp = namespace(z)
    e = xp.exp(-xp.abs(z))
    return xp.maximum(e, z >= 0) / (1 + e)


def sigmoid_slope(z: Array) -> Array:
    """σ(z) σ(−z), the slope of the sigmoid: 1 − σ has no digits where σ is near one."""
    xp = namespace(z)
    e = xp.exp(-xp.abs(z))
    return e / (1 + e) ** 2


def softplus(z: Array) -> Array:
    """log(1 + e^z), without overflow."""
    xp = namespace(z)
    return xp.maximum(z, 0) + xp.log1p(xp.exp(-xp.abs(z)))


def xlogx(x: Array) -> Array:
    """The function x log x, zero at zero (and below, where a caller's domain ends)."""
    xp = namespace(x)
    return xp.where(x > 0, x * xp.log(xp.where(x > 0, x, 1)), 0)


def limit_to_domain(domain: Any, value: Array) -> Array:
    """The value on its domain, infinity elsewhere."""
    return namespace(value).where(domain, value, math.inf)


def namespace(z: Array) -> Any:
    """The functions that go with the array: numpy, or CuPy for CuPy arrays."""
    return z.__array_namespace__() if hasattr(z, "__array_namespace__") else np


def check_positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name}: must be a finite number > 0, not {value!r}.")
