"""A loss of the user's own, and the test that it must pass."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.losses.base import Loss

Formula = Callable[[Array, Array], Array]


class Custom(Loss):
    """A loss of your own: array functions of (z, y).

    Without `curvature`, Newton steps use `smoothness`, or differences of the slope if that is not
    given either. The functions are checked on the targets before the first fit.

    Parameters
    ----------
    value : callable
        ℓ(z, y), convex in z and finite everywhere.
    slope : callable
        ℓ′ in z.
    curvature : callable or None, default=None
        ℓ″ in z.
    smoothness : float, default=inf
        The largest second derivative.
    regression : bool, default=True
        Whether z is itself a prediction of y.

    Examples
    --------
    >>> from pygeco import MatrixCompletion
    >>> from pygeco.losses import Custom
    >>> quartic = Custom(lambda z, y: (z - y) ** 4, lambda z, y: 4 * (z - y) ** 3)
    >>> MatrixCompletion(2, loss=quartic).loss.name
    'custom'
    """

    name = "custom"

    def __init__(
        self,
        value: Formula,
        slope: Formula,
        curvature: Formula | None = None,
        *,
        smoothness: float = math.inf,
        regression: bool = True,
    ) -> None:
        if not smoothness > 0:
            raise ValueError(f"smoothness: must be > 0, not {smoothness!r}.")
        self._value, self._slope, self._curvature = value, slope, curvature
        self._smoothness = smoothness
        self.regression = regression

    @property
    def smoothness(self) -> float:
        return self._smoothness

    def value(self, z: Array, y: Array) -> Array:
        return self._value(z, y)

    def slope(self, z: Array, y: Array) -> Array:
        return self._slope(z, y)

    def curvature(self, z: Array, y: Array) -> Array:
        return super().curvature(z, y) if self._curvature is None else self._curvature(z, y)


def check_loss(loss: Loss, y: Array) -> None:
    """Raise unless `loss` is finite, convex and agrees with its own slope near these targets.

    Parameters
    ----------
    loss : Loss
        The loss to check.
    y : array
        Targets; about fifty of them are used.
    """
    some = host(np.unique(y[:: max(1, len(y) // 50)])).astype(float) if len(y) else np.zeros(1)
    reach = np.linspace(-3, 3, 23) + 0.0123
    z = np.add.outer(np.zeros(len(some)), reach * (1 + np.abs(some).max())).reshape(-1)
    targets = np.repeat(some, len(reach))
    name = type(loss).__name__ if loss.name in ("loss", "custom") else loss.name
    step = 1e-5 * (1 + np.abs(z))
    values = [np.asarray(loss.value(z + t * step, targets), dtype=float) for t in (-1, 0, 1)]
    slope = np.asarray(loss.slope(z, targets), dtype=float)
    for what, found in (("value", values[1]), ("slope", slope)):
        if found.shape != z.shape:
            raise ValueError(
                f"loss: the {what} of {name} has shape {found.shape} for predictions of shape "
                f"{z.shape}; return one number for each."
            )
        if not np.all(np.isfinite(found)):
            at = np.flatnonzero(~np.isfinite(found))[0]
            raise ValueError(
                f"loss: the {what} of {name} is {found[at]} at z = {z[at]:.4g}, y = "
                f"{targets[at]:.4g}; it must be finite everywhere."
            )
    _check_slope(name, z, targets, values, slope, step)
    _check_convex(name, z, targets, slope, len(reach))


def _check_slope(
    name: str, z: Array, targets: Array, values: list[Array], slope: Array, step: Array
) -> None:
    # The slope lies between the two difference quotients; what is left is noise.
    behind, ahead = (values[1] - values[0]) / step, (values[2] - values[1]) / step
    noise = 1e-4 * (1 + np.abs(slope)) + 1e-14 * np.abs(values[1]) / step
    wrong = np.flatnonzero((slope < behind - noise) | (slope > ahead + noise))
    if len(wrong):
        at = wrong[0]
        raise ValueError(
            f"loss: the slope of {name} is {slope[at]:.6g} at z = {z[at]:.4g}, y = "
            f"{targets[at]:.4g}, but its value rises by {(behind[at] + ahead[at]) / 2:.6g} there."
        )


def _check_convex(name: str, z: Array, targets: Array, slope: Array, count: int) -> None:
    """The slope of a convex function never falls: over `count` predictions for each target."""
    falls = np.diff(slope.reshape(-1, count), axis=1, append=np.inf).reshape(-1)
    bent = np.flatnonzero(falls < -1e-5 * (1 + np.abs(slope)))
    if len(bent):
        at = bent[0]
        raise ValueError(
            f"loss: the value of {name} is not convex near z = {z[at]:.4g}, y = {targets[at]:.4g}; "
            "only convex losses can be minimized here."
        )
