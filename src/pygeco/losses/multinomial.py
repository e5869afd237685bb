"""The multinomial logistic loss: a vector of predictions for each target."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.low_rank import Array
from pygeco.losses.base import Loss, namespace, xlogx
from pygeco.losses.duals import label_slack


@dataclass(frozen=True)
class Multinomial(Loss):
    """ℓ = log Σ_k e^(z_k) − z_y for a row z (K,) and its class y: K predictions for one target.

    Arrays are z (N, K) and y (N,), the codes 0 … K − 1 of `classes`. The slope in z is π − e_y with
    π the softmax of z, and the curvature is diag(π) − π πᵀ, at most ½ (Böhning 1992).

    Parameters
    ----------
    classes : tuple or None, default=None
        The labels, in the order of the K predictions; None takes those of the data, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.losses import Multinomial
    >>> Multinomial(("a", "b")).probabilities(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    """

    classes: tuple[Any, ...] | None = None
    name = "multinomial"
    nonnegative = True

    @property
    def smoothness(self) -> float:
        return 0.5

    def value(self, z: Array, y: Array) -> Array:
        xp = namespace(z)
        own = _codes(y)[..., None]
        above = z - xp.take_along_axis(z, own, axis=-1)
        top = _row_max(above)
        e = xp.exp(above - top[..., None])
        xp.put_along_axis(e, own, 0, axis=-1)
        # log(1 + Σ e^above of the others); where the class is all but sure, top is zero, 1 − 1 too.
        return top + xp.log1p(_row_sum(e) + (xp.exp(-top) - 1))

    def slope(self, z: Array, y: Array) -> Array:
        """π, less one at the class itself: minus what the other classes have."""
        xp, own = namespace(z), _codes(y)[..., None]
        found = self.probabilities(z)
        xp.put_along_axis(found, own, 0, axis=-1)
        xp.put_along_axis(found, own, -_row_sum(found)[..., None], axis=-1)
        return found

    def curvature(self, z: Array, y: Array) -> Array:
        """Π, of which the whole curvature diag(π) − π πᵀ is made."""
        return self.probabilities(z)

    def stiffness(self, z: Array, y: Array) -> Array:
        return self.curvature(z, y)

    def conjugate(self, a: Array, y: Array) -> Array:
        """Σ b log b where b = a + e_y is a probability vector."""
        xp, own = namespace(a), _one_hot(a, y) > 0
        b = a + own
        simplex = (xp.min(b, axis=-1) >= -1e-12) & (xp.abs(xp.sum(b, axis=-1) - 1) <= 1e-9)
        sure = b * xp.log1p(xp.where(own & (b > 0), a, 0))  # 1 + a has not the digits of a small a
        return xp.where(simplex, xp.sum(xp.where(own, sure, xlogx(b)), axis=-1), math.inf)

    def slack(self, z: Array, y: Array, scale: float) -> Array:
        """That of two labels, the class and all others together, whose shares are scaled alike."""
        xp, own = namespace(z), _codes(y)[..., None]
        above = z - xp.take_along_axis(z, own, axis=-1)
        xp.put_along_axis(above, own, -math.inf, axis=-1)
        top = _row_max(above)
        return label_slack(-(top + xp.log(_row_sum(xp.exp(above - top[..., None])))), scale)

    def targets(self, y: ArrayLike) -> Array:
        """The code of each label."""
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if self.classes is None:
            return codes.astype(float)
        known = {label: code for code, label in enumerate(self.classes)}
        unknown = [label for label in classes.tolist() if label not in known]
        if unknown:
            raise ValueError(f"Y: label {unknown[0]!r} is not one of the classes {self.classes}.")
        return np.asarray([float(known[label]) for label in classes.tolist()])[codes]

    def fitted(
        self, y: Array, residuals: Array | None = None, weights: Array | None = None
    ) -> Multinomial:
        """The classes are the labels in `y`, sorted, where they are not given."""
        classes = tuple(np.unique(y).tolist()) if self.classes is None else tuple(self.classes)
        if len(classes) < 2:
            raise ValueError(
                f"Y: the multinomial loss needs at least two classes, not only {list(classes)}."
            )
        return replace(self, classes=classes)

    def response(self, z: Array) -> Array:
        return self.probabilities(z)

    def probabilities(self, z: Array) -> Array:
        xp = namespace(z)
        e = xp.exp(z - _row_max(z)[..., None])
        return e / _row_sum(e)[..., None]


def _row_max(z: Array) -> Array:
    """The largest of each row; over a few classes, numpy is ten times faster the other way up."""
    xp = namespace(z)
    return xp.max(xp.ascontiguousarray(xp.moveaxis(z, -1, 0)), axis=0)


def _row_sum(e: Array) -> Array:
    return e @ namespace(e).ones(e.shape[-1], dtype=e.dtype)


def _codes(y: Array) -> Any:
    return y.astype(np.int64, copy=False)


def _one_hot(z: Array, y: Array) -> Array:
    xp = namespace(z)
    return (_codes(y)[..., None] == xp.arange(z.shape[-1])).astype(z.dtype)
