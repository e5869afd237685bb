"""Numbers of which some are wild: a robust loss as squares whose weights fall with the residual."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.bayes.likelihoods.base import Likelihood, WorkingSquares, mean_of
from pygeco.losses.base import median
from pygeco.losses.regression import Regression
from pygeco.losses.weighted_squares import Weighing

MIN_NOISE = 1e-9  # the least variance of the noise, as a share of that of the targets


@dataclass(frozen=True)
class Robust(Likelihood):
    """y = z + noise, ordinary of precision `tau`, wild beyond what `weighing` counts in full.

    `given` is the loss as it was asked for: what it leaves open follows the residuals. `tails` is
    the variance of all noise over that of ordinary one.
    """

    given: Regression
    weighing: Weighing
    tau: float = 1.0
    tails: float = 1.0

    @classmethod
    def of(cls, loss: Regression, y: Array, weights: Array | None = None) -> Robust:
        """About the median of y, before anything else is known of it."""
        middle = median(y, weights)
        start = cls(loss, Weighing.settled(loss, y - middle, weights))
        return start.update(y, 0 * y + middle, 0 * y, weights)

    @property
    def loss(self) -> Regression:
        found = self.weighing.loss
        assert isinstance(found, Regression)
        return found

    def find_constant(self, y: Array, weights: Array | None = None) -> float:
        return median(y, weights)

    def make_squares(self, y: Array, mean: Array, variance: Array) -> WorkingSquares:
        size = ((y - mean) ** 2 + variance) ** 0.5
        return WorkingSquares(self.tau * self.weighing.weights(size), y)

    def expect_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        """The squares that touch the loss, less what their weights make of a unit of noise."""
        squares = (y - mean) ** 2 + variance
        own = self.weighing.weights(squares**0.5)
        return 0.5 * self.tau * own * squares - 0.5 * float(np.log(self.tau))

    def update(
        self, y: Array, mean: Array, variance: Array, weights: Array | None = None
    ) -> Robust:
        """What the loss leaves open, the weights' mean, and the noise of ordinary and of all y."""
        squares = (y - mean) ** 2 + variance
        weighing = Weighing.settled(self.given, y - mean, weights)
        weighing = weighing._replace(mean=mean_of(weighing.weights(squares**0.5), weights))
        least = max(MIN_NOISE * mean_of((y - mean_of(y, weights)) ** 2, weights), 1e-300)
        ordinary = max(mean_of(weighing.weights(squares**0.5) * squares, weights), least)
        tails = max(1.0, mean_of(squares, weights) / ordinary)
        return replace(self, weighing=weighing, tau=1 / ordinary, tails=tails)

    def respond(self, mean: Array, variance: Array) -> Array:
        return mean

    def deviate(self, mean: Array, variance: Array) -> Array:
        return (variance + self.tails / self.tau) ** 0.5

    def find_quantile(self, mean: Array, variance: Array, q: float) -> Array:
        return mean + NormalDist().inv_cdf(q) * self.deviate(mean, variance)

    def score_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        return self.loss.value(mean, y)
