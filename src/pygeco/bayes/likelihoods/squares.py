"""Numbers with Gaussian noise: the squared loss, whose squares are its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.bayes.likelihoods.base import Likelihood, WorkingSquares, mean_of
from pygeco.losses import Squared
from pygeco.losses.base import namespace

MIN_NOISE = 1e-9  # the least variance of the noise, as a share of that of the targets


@dataclass(frozen=True)
class Squares(Likelihood):
    """y = z + noise of precision `tau`."""

    tau: float = 1.0

    @property
    def loss(self) -> Squared:
        return Squared()

    def find_constant(self, y: Array, weights: Array | None = None) -> float:
        return mean_of(y, weights)

    def make_squares(self, y: Array, mean: Array, variance: Array) -> WorkingSquares:
        return WorkingSquares(0 * mean + self.tau, y)

    def expect_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        return 0.5 * self.tau * ((y - mean) ** 2 + variance) - 0.5 * float(np.log(self.tau))

    def update(
        self, y: Array, mean: Array, variance: Array, weights: Array | None = None
    ) -> Squares:
        """1 / τ is the mean expected squared error."""
        error = mean_of((y - mean) ** 2 + variance, weights)
        return replace(self, tau=1 / max(error, self._least(y, weights)))

    def draw_parameters(
        self, y: Array, z: Array, rng: np.random.Generator, weights: Array | None = None
    ) -> Squares:
        error = max(mean_of((y - z) ** 2, weights), self._least(y, weights))
        half = 0.5 * (y.size if weights is None else float(weights.sum(dtype=float)))
        return replace(self, tau=rng.gamma(half) / (half * error))

    def score_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        spread = variance + 1 / self.tau
        return 0.5 * ((y - mean) ** 2 / spread + namespace(mean).log(spread))

    def respond(self, mean: Array, variance: Array) -> Array:
        return mean

    def deviate(self, mean: Array, variance: Array) -> Array:
        return (variance + 1 / self.tau) ** 0.5

    def find_quantile(self, mean: Array, variance: Array, q: float) -> Array:
        return mean + NormalDist().inv_cdf(q) * self.deviate(mean, variance)

    def _least(self, y: Array, weights: Array | None) -> float:
        middle = mean_of(y, weights)
        return max(MIN_NOISE * mean_of((y - middle) ** 2, weights), 1e-300)
