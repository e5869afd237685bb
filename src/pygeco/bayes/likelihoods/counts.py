"""Counts: Poisson about e^z, or with more spread, negative binomial."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln
from scipy.stats import nbinom

from pygeco.arrays.kinds import host, on
from pygeco.arrays.low_rank import Array
from pygeco.bayes.likelihoods.base import Likelihood, WorkingSquares, mean_of
from pygeco.losses import Poisson
from pygeco.losses.base import namespace

MAX_SHAPE, MIN_SHAPE = 1e6, 1e-2  # of the dispersion: with the largest, counts are Poisson
MAX_STEP = 2.0  # of z in one sweep, that one cell may ask for
SHAPE_STEPS = 12  # of a search for the dispersion, by halves


@dataclass(frozen=True)
class Counts(Likelihood):
    """y ~ Poisson(e^z g), where g varies about one with variance 1 / `shape`.

    g integrated out, that is the negative binomial of mean e^z and variance e^z + e^2z / shape. The
    shape comes from the data: counts that are Poisson have a large one.
    """

    shape: float = MAX_SHAPE
    cap: float = 20.0

    @property
    def loss(self) -> Poisson:
        return Poisson(self.cap)

    def find_constant(self, y: Array, weights: Array | None = None) -> float:
        count = y.size if weights is None else float(weights.sum(dtype=float))
        return math.log(max(mean_of(y, weights), 0.5 / max(count, 1.0)))

    def make_squares(self, y: Array, mean: Array, variance: Array) -> WorkingSquares:
        rate = self.respond(mean, variance)
        share = self.shape / (self.shape + rate)
        # Far above the rate, the curvature there says too little of how far to go.
        xp = namespace(mean)
        weights = share * xp.maximum(rate, xp.abs(y - rate) / MAX_STEP)
        return WorkingSquares(weights, mean + share * (y - rate) / weights)

    def draw_squares(self, y: Array, z: Array, rng: np.random.Generator) -> WorkingSquares:
        return self.make_squares(y, z, 0 * z)

    def expect_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        """−E log p of the negative binomial, at E e^z within the logarithm."""
        r, rate = self.shape, self.respond(mean, variance)
        return (y + r) * namespace(mean).log1p(rate / r) - y * mean

    def update(
        self, y: Array, mean: Array, variance: Array, weights: Array | None = None
    ) -> Counts:
        """The shape at which the expected squared errors, each over its variance, are one."""
        xp = namespace(mean)
        rate = self.respond(mean, variance).astype(float)
        errors = (y - rate) ** 2 + rate**2 * xp.expm1(xp.minimum(variance, 5.0))
        low, high = math.log(MIN_SHAPE), math.log(MAX_SHAPE)
        for _ in range(SHAPE_STEPS):
            middle = (low + high) / 2
            found = mean_of(errors / (rate + rate**2 / math.exp(middle)), weights)
            low, high = (low, middle) if found > 1 else (middle, high)
        return replace(self, shape=math.exp((low + high) / 2))

    def respond(self, mean: Array, variance: Array) -> Array:
        xp = namespace(mean)
        return xp.exp(xp.minimum(mean + variance / 2, self.cap))

    def deviate(self, mean: Array, variance: Array) -> Array:
        rate = self.respond(mean, variance)
        return (rate + rate**2 / self._spread_shape(variance)) ** 0.5

    def find_quantile(self, mean: Array, variance: Array, q: float) -> Array:
        rate = host(self.respond(mean, variance)).astype(float)
        r = host(self._spread_shape(variance)).astype(float)
        return on(nbinom.ppf(q, r, r / (r + rate)), mean, mean.dtype)

    def log_probability(self, y: Array, mean: Array, variance: Array) -> Array:
        """Log p of a new count, z integrated out; on the host."""
        rate = host(self.respond(mean, variance)).astype(float)
        r, y = host(self._spread_shape(variance)).astype(float), host(y).astype(float)
        ways = gammaln(y + r) - gammaln(r) - gammaln(y + 1)
        return ways + r * np.log(r / (r + rate)) + y * np.log(rate / (r + rate))

    def _spread_shape(self, variance: Array) -> Array:
        """The shape of a negative binomial that has the variance of g and that of e^z."""
        more = namespace(variance).expm1(namespace(variance).minimum(variance, 5.0))
        return 1 / (more + (1 + more) / self.shape)
