"""Labels −1 and +1: the logistic likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.bayes.likelihoods.base import (
    Likelihood,
    Softplus,
    WorkingSquares,
    expect_sigmoid,
    make_logistic_squares,
    mean_of,
    score_nodes,
)
from pygeco.bayes.likelihoods.polya_gamma import draw_polya_gamma
from pygeco.losses import Logistic
from pygeco.losses.base import namespace, softplus


@dataclass(frozen=True)
class Labels(Likelihood):
    """P(y = 1) = σ(z), for y = ±1. Answers speak of labels 0 and 1."""

    @property
    def loss(self) -> Logistic:
        return Logistic()

    def find_constant(self, y: Array, weights: Array | None = None) -> float:
        count = y.size if weights is None else float(weights.sum(dtype=float))
        share = (mean_of(y, weights) + 1) / 2
        share = (share * count + 0.5) / (count + 1)  # labels that are all alike have no logit
        return math.log(share / (1 - share))

    def make_squares(self, y: Array, mean: Array, variance: Array) -> WorkingSquares:
        found = Softplus(mean, variance)
        return make_logistic_squares(mean, found.slope - (y + 1) / 2, found)

    def draw_squares(
        self, y: Array, z: Array, rng: np.random.Generator, weights: Array | None = None
    ) -> WorkingSquares:
        drawn = draw_polya_gamma(z, rng, weights=weights)
        return WorkingSquares(drawn, y / 2 / drawn)

    def expect_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        return Softplus(-y * mean, variance).value

    def score_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        return score_nodes(lambda shrink, z: softplus(-y * shrink * z), mean, variance)

    def respond(self, mean: Array, variance: Array) -> Array:
        return expect_sigmoid(mean, variance)

    def deviate(self, mean: Array, variance: Array) -> Array:
        return (self.respond(mean, variance) * self.respond(-mean, variance)) ** 0.5

    def find_quantile(self, mean: Array, variance: Array, q: float) -> Array:
        return (self.respond(mean, variance) > 1 - q).astype(mean.dtype)

    def find_probabilities(self, mean: Array, variance: Array) -> Array:
        both = [self.respond(-mean, variance), self.respond(mean, variance)]
        return namespace(mean).stack(both, axis=-1)
