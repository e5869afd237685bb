"""Weighted squares in place of a loss that outliers pull less than they pull the squared one."""

from __future__ import annotations

from typing import NamedTuple, cast

from pygeco.arrays.low_rank import Array
from pygeco.losses.base import Loss
from pygeco.losses.regression import Regression


class Weighing(NamedTuple):
    """Weights of cells by their residuals: the loss' own to a power, over their mean.

    To the first power, squares touch the loss; see `Regression.weights`. Where the loss leaves its
    threshold δ to the residuals, the power is two: a wild cell then adds no more than δ² to the
    noise, and δ follows the noise down to what it is without wild cells.
    """

    loss: Loss
    power: int = 1
    mean: float = 1.0

    @classmethod
    def settled(cls, given: Loss, residuals: Array, weights: Array | None = None) -> Weighing:
        """What the loss leaves open, from residuals with weights; the mean is one still."""
        loss = given.fitted(residuals, residuals, weights)
        return cls(loss, 1 if loss is given else cast(Regression, loss).settled_power)

    def weights(self, residuals: Array) -> Array:
        own = cast(Regression, self.loss).weights(residuals)
        return (own**self.power / self.mean).astype(residuals.dtype)
