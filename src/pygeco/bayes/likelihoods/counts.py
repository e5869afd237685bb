"""Counts: Poisson about e^z, or with more spread, negative binomial."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # its parts are imported when used

from pygeco.arrays.kinds import host, on
from pygeco.arrays.low_rank import Array
from pygeco.bayes.likelihoods.base import MIN_WEIGHT, Likelihood, WorkingSquares, mean_of
from pygeco.bayes.likelihoods.polya_gamma import draw_polya_gamma
from pygeco.losses import Poisson
from pygeco.losses.base import namespace, xlogx

MAX_SHAPE, MIN_SHAPE = 1e6, 1e-2  # of the dispersion: with the largest, counts are Poisson
MAX_DRAWN_SHAPE = 10.0  # in mean counts
LARGE_COUNT = 30  # from which on draws of z are by a Gaussian: Pólya–Gamma ones hardly move it
MAX_SHAPE_RATIO = 1.3  # of the dispersion from draw to draw: at a poor start z would be all noise
MAX_STEP = 2.0  # of z in one sweep, that one cell may ask for
SHAPE_STEPS = 3  # each with the weights of the last
MAX_VARIANCE = 5.0  # of z, that is believed: of e^z it is e^5 times its square


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
        r, slope, bend = self.shape, 0 * mean, 0 * mean
        for share, z in place_nodes(mean, variance):
            rate = self._rate(z)
            left = r / (r + rate)
            slope = slope + share * left * (rate - y)
            bend = bend + share * left * rate * ((y + r) / (r + rate))
        # Far above the rate, the curvature there says too little of how far to go.
        xp = namespace(mean)
        weights = xp.maximum(xp.maximum(bend, xp.abs(slope) / MAX_STEP), MIN_WEIGHT)
        return WorkingSquares(weights, mean - slope / weights)

    def draw_squares(
        self, y: Array, z: Array, rng: np.random.Generator, weights: Array | None = None
    ) -> WorkingSquares:
        """By a Pólya–Gamma variable of shape y + r about log r, or for large y by squares about z.

        Where counts are nearly Poisson, a smaller r stands in, by which draws move faster.
        """
        r = min(self.shape, MAX_DRAWN_SHAPE * max(1.0, mean_of(y)))
        about = math.log(r)
        drawn = draw_polya_gamma(z - about, rng, y.astype(float) + r, weights)
        targets = about + (y - r) / 2 / drawn
        is_large, xp = y > LARGE_COUNT, namespace(z)
        if not bool(xp.any(is_large)):
            return WorkingSquares(drawn, targets)
        near, where = self.make_squares(y, z, 0 * z), xp.where
        return WorkingSquares(
            where(is_large, near.weights, drawn), where(is_large, near.targets, targets)
        )

    def draw_parameters(
        self, y: Array, z: Array, rng: np.random.Generator, weights: Array | None = None
    ) -> Counts:
        found, most = self.update(y, z, 0 * z, weights).shape, self.shape * MAX_SHAPE_RATIO
        return replace(self, shape=min(max(found, self.shape / MAX_SHAPE_RATIO), most))

    def expect_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        """−E log p of the negative binomial, above the least that it can be for y.

        In double precision: of a large count little is left of large terms.
        """
        xp, r, dtype = namespace(mean), self.shape, mean.dtype
        y, mean, variance = (x.astype(float) for x in (y, mean, variance))
        found = xlogx(y) - y * mean - (y + r) * xp.log1p(y / r)
        for share, z in place_nodes(mean, variance):
            found = found + share * (y + r) * xp.log1p(self._rate(z) / r)
        return found.astype(dtype)

    def update(
        self, y: Array, mean: Array, variance: Array, weights: Array | None = None
    ) -> Counts:
        """The shape by which expected squared errors go with the rate, by weighted least squares.

        E[(y − e^z)²] is λ + λ² / shape, itself known to a precision of (λ + λ² / shape)^-2.
        """
        xp = namespace(mean)
        rate = self.respond(mean, variance).astype(float)
        squares = rate**2
        excess = (y - rate) ** 2 + squares * xp.expm1(xp.minimum(variance, MAX_VARIANCE)) - rate
        inverse = 1 / self.shape
        for _ in range(SHAPE_STEPS):
            w = (1 + inverse * rate) ** -2.0
            found = mean_of(w * excess, weights) / max(mean_of(w * squares, weights), 1e-300)
            inverse = min(max(found, 1 / MAX_SHAPE), 1 / MIN_SHAPE)
        return replace(self, shape=1 / inverse)

    def average(self, draws: Sequence[Counts]) -> Counts:
        return replace(self, shape=1 / float(np.mean([1 / draw.shape for draw in draws])))

    def score_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        """The loss of Poisson at the mean count, whatever the dispersion."""
        rate = self.respond(mean, variance)
        return rate - y * namespace(rate).log(rate)

    def respond(self, mean: Array, variance: Array) -> Array:
        return self._rate(mean + namespace(mean).minimum(variance, MAX_VARIANCE) / 2)

    def deviate(self, mean: Array, variance: Array) -> Array:
        rate = self.respond(mean, variance)
        return (rate + rate**2 / self._spread_shape(variance)) ** 0.5

    def find_quantile(self, mean: Array, variance: Array, q: float) -> Array:
        rate = host(self.respond(mean, variance)).astype(float)
        r = host(self._spread_shape(variance)).astype(float)
        return on(scipy.stats.nbinom.ppf(q, r, r / (r + rate)), mean, mean.dtype)

    def _rate(self, z: Array) -> Array:
        """e^z, within what floats hold."""
        xp = namespace(z)
        return xp.exp(xp.minimum(z, self.cap))

    def _spread_shape(self, variance: Array) -> Array:
        """The shape of a negative binomial that has the variance of g and that of e^z."""
        more = namespace(variance).expm1(namespace(variance).minimum(variance, MAX_VARIANCE))
        return 1 / (more + (1 + more) / self.shape)


def place_nodes(mean: Array, variance: Array) -> Iterator[tuple[float, Array]]:
    """Three places, with their shares, that have the first five moments of a Gaussian."""
    far = (3 * variance) ** 0.5
    yield 2 / 3, mean
    yield 1 / 6, mean - far
    yield 1 / 6, mean + far
