"""What a likelihood is: how p(y | z) becomes weighted squares about what is known of z.

All methods are plain formulas of arrays of equal shape, one number a cell. Targets y are as
`Loss.targets` codes them. What is known of z is a Gaussian, its `mean` and `variance`.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import scipy  # its parts are imported when used

from pygeco.arrays.kinds import distant, foreign, parts
from pygeco.arrays.low_rank import Array
from pygeco.losses.base import Loss, namespace, sigmoid, softplus

MIN_WEIGHT = 1e-6  # of a cell's squares: what is certain already underflows
MAX_VARIANCE = 100.0  # of a working target about a z near zero; that of labels of even odds is 4
MAX_STEP = 70.0  # of z in one sweep, that one label or level may ask for
MAX_MEAN_MOVE, MEAN_MOVE_DIGITS = 3.0, 1e-4  # of z, for the mean answer to be that of the data
RESPONSE_NODES = 9  # of Gauss and Hermite, for E[σ(z)]: 1e-6 at a variance of 1, 5e-4 at 4
SQUARES_NODES, MAX_SQUARES_VARIANCE = 4, 2.0  # of the same for squares, which need fewer digits
PART_CELLS = 1 << 15  # whose squares are made at once, in a third of the time that a million take
MAX_NODE_VARIANCE = 8.0  # of z, that is met by nodes; σ is flattened for what is beyond


class WorkingSquares(NamedTuple):
    """½ ω (ŷ − z)² in the place of −log p(y | z): weights ω > 0 and working targets ŷ."""

    weights: Array
    targets: Array


class Likelihood(ABC):
    """p(y | z), with what of it is estimated beside z: a noise, cut points, a dispersion.

    The approximations are those of a Gaussian q(z): the working squares have the slope and the
    curvature of E[−log p] in the mean of z, so that a fit to them that no longer moves is at the
    optimum of the variational bound (Opper and Archambeau 2009).
    """

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """The loss −log p(y | z), a constant apart, with what was estimated of it."""

    @abstractmethod
    def find_constant(self, y: Array, weights: Array | None = None) -> float:
        """The best z where nothing is known but y: a mean, or its logit or logarithm."""

    @abstractmethod
    def make_squares(self, y: Array, mean: Array, variance: Array) -> WorkingSquares:
        """Weighted squares about z."""

    @abstractmethod
    def draw_squares(
        self, y: Array, z: Array, rng: np.random.Generator, weights: Array | None = None
    ) -> WorkingSquares:
        """Weighted squares given a draw z, with latent variables drawn: for Gibbs sampling.

        They are of a unit of weight, in cells that have these weights.
        """

    @abstractmethod
    def expect_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        """E[−log p(y | z)] of each cell, a constant apart."""

    def update(self, y: Array, mean: Array, variance: Array, weights: Array | None = None) -> Self:
        """With what is estimated beside z at its most likely, or nearer to it."""
        return self

    def draw_parameters(
        self, y: Array, z: Array, rng: np.random.Generator, weights: Array | None = None
    ) -> Self:
        """With what is estimated beside z drawn given z, or at its most likely."""
        return self.update(y, z, 0 * z, weights)

    def average(self, draws: Sequence[Self]) -> Self:
        """With the mean of what was drawn beside z."""
        return self

    def match(self, other: Self) -> tuple[Self, float]:
        """The same likelihood of a z that lies where that of another one does, and by how much it
        is to be moved: where all of z and what goes with it can move, two fits differ in that.
        """
        return self, 0.0

    def find_move(
        self, constant: float, mean: Array, variance: Array, weights: Array | None = None
    ) -> float:
        """By how much z is to move for answers to have the mean of those at a constant z."""
        target = self.respond(np.full(1, constant), np.zeros(1))[0]

        def miss(move: float) -> float:
            return mean_of(self.respond(mean + move, variance), weights) / target - 1

        ends = -MAX_MEAN_MOVE, MAX_MEAN_MOVE
        if miss(ends[0]) >= 0 or miss(ends[1]) <= 0:
            return 0.0
        return float(scipy.optimize.brentq(miss, *ends, xtol=MEAN_MOVE_DIGITS))

    @abstractmethod
    def respond(self, mean: Array, variance: Array) -> Array:
        """E[y], on the scale of the observed values."""

    @abstractmethod
    def deviate(self, mean: Array, variance: Array) -> Array:
        """The standard deviation of a new y, on the scale of the observed values."""

    @abstractmethod
    def find_quantile(self, mean: Array, variance: Array, q: float) -> Array:
        """The quantile q of a new y, on the scale of the observed values."""

    @abstractmethod
    def score_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        """−log p(y) of new cells, z integrated out, a constant apart: the loss of a prediction."""

    def find_probabilities(self, mean: Array, variance: Array) -> Array:
        """P(y = each value), one column a value."""
        raise TypeError(f"loss: {self.loss.name!r} has no probabilities; use 'logistic'.")


class Node(NamedTuple):
    """A place of z, its share of a Gaussian, and how much flatter σ is there."""

    share: float
    shrink: Array
    z: Array


def place_nodes(mean: Array, variance: Array, count: int, most: float) -> Iterator[Node]:
    """Places with Σ share σ(shrink (z − c)) = E[σ(z − c)], nearly, for a normal z and any c.

    They are Gauss and Hermite's of a variance of `most` at most. By what is beyond that σ is
    flattened, E[σ(x)] ≈ σ((1 + π variance / 8)^-½ mean) (MacKay 1992).
    """
    xp = namespace(mean)
    near = xp.minimum(variance, most)
    shrink, deviation = 1 / xp.sqrt(1 + (math.pi / 8) * (variance - near)), xp.sqrt(near)
    places, shares = np.polynomial.hermite_e.hermegauss(count)
    for place, share in zip(places, shares / shares.sum(), strict=True):
        yield Node(float(share), shrink, mean + float(place) * deviation)


@dataclass(frozen=True)
class Softplus:
    """E[log(1 + e^x)] and its first two derivatives in the mean of a normal x, nearly.

    By places of x: flattened all over, σ is up to three times too large far below zero, and what
    is rare was fitted as still rarer.
    """

    mean: Array
    variance: Array

    @property
    def value(self) -> Array:
        return find_in_parts(sum_softplus, self.mean, self.variance)[0]

    @property
    def slope(self) -> Array:
        return self._slopes[0]

    @property
    def curvature(self) -> Array:
        return self._slopes[1]

    @functools.cached_property
    def _slopes(self) -> tuple[Array, ...]:
        return find_in_parts(sum_sigmoids, self.mean, self.variance)


def sum_softplus(mean: Array, variance: Array) -> tuple[Array, ...]:
    """E[log(1 + e^x)]."""
    total = 0 * mean
    for share, shrink, x in place_nodes(mean, variance, SQUARES_NODES, MAX_SQUARES_VARIANCE):
        total = total + share * softplus(shrink * x) / shrink
    return (total,)


def sum_sigmoids(mean: Array, variance: Array) -> tuple[Array, ...]:
    """E[σ(x)] and E[σ′(x)], with all digits where they are small."""
    xp, slope, curvature = namespace(mean), 0 * mean, 0 * mean
    for share, shrink, x in place_nodes(mean, variance, SQUARES_NODES, MAX_SQUARES_VARIANCE):
        far = xp.exp(-xp.abs(shrink * x))
        near = 1 / (1 + far)
        slope = slope + share * (xp.maximum(far, x >= 0) * near)
        curvature = curvature + share * shrink * (far * near * near)
    return slope, curvature


def find_in_parts(
    find: Callable[[Array, Array], tuple[Array, ...]], mean: Array, variance: Array
) -> tuple[Array, ...]:
    """What is found of each cell; on the host so many at a time as caches hold."""
    if foreign(mean) or distant(mean) or mean.ndim != 1 or len(mean) <= PART_CELLS:
        return find(mean, variance)
    found = (find(mean[part], variance[part]) for part in parts(len(mean), PART_CELLS))
    return tuple(np.concatenate(x) for x in zip(*found, strict=True))


def make_logistic_squares(z: Array, slope: Array, *terms: Softplus) -> WorkingSquares:
    """Squares about z of a sum of terms of this slope in all: with its curvature, or more.

    The weight is no less than 1 / (100 + 2 |x|) for the nearest term. Where labels can be told
    apart without error the curvature vanishes, and with it all that they say of a component. With
    less than this, z and its variance grow in each sweep without end: the slope of a wide x far
    below zero is larger by the approximation than it is. Far out, this is the curvature of a
    parabola above the logistic loss (Jaakkola and Jordan 2000).

    Far on the wrong side the curvature vanishes, too: there the weight bounds the step.
    """
    xp = namespace(z)
    far = functools.reduce(xp.minimum, [x.mean**2 + x.variance for x in terms]) ** 0.5
    weights = xp.maximum(sum(x.curvature for x in terms), 1 / (MAX_VARIANCE + 2 * far))
    weights = xp.maximum(weights, xp.abs(slope) / MAX_STEP)
    return WorkingSquares(weights, z - slope / weights)


def place_response_nodes(mean: Array, variance: Array) -> Iterator[Node]:
    """Places by which answers are given, which are more."""
    return place_nodes(mean, variance, RESPONSE_NODES, MAX_NODE_VARIANCE)


def expect_sigmoid(mean: Array, variance: Array) -> Array:
    """E[σ(z)] of a normal z."""
    out = 0 * mean
    for share, shrink, z in place_response_nodes(mean, variance):
        out = out + share * sigmoid(shrink * z)
    return out


def score_nodes(loss: Callable[[Array, Array], Array], mean: Array, variance: Array) -> Array:
    """−log E[p] of a normal z, with −log p = loss(shrink, z): far from what is likely too."""
    middle, total, xp = None, 0 * mean, namespace(mean)
    for share, shrink, z in place_response_nodes(mean, variance):
        if middle is None:
            middle = loss(shrink, mean)
        # A loss of slope 1 at most differs by less than the largest exponent.
        total = total + share * xp.exp(middle - loss(shrink, z))
    return middle - xp.log(total)


def mean_of(x: Array, weights: Array | None = None) -> float:
    """The mean of x, each number counted by its weight, in float64."""
    if weights is None:
        return float(x.mean(dtype=float)) if x.size else 0.0
    total = float(weights.sum(dtype=float))
    return float((x * weights).sum(dtype=float)) / max(total, 1e-300)
