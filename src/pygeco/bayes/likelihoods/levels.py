"""Ordered levels: the cumulative logistic likelihood, its cut points estimated with the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pygeco.arrays.kinds import host, look_up, on
from pygeco.arrays.low_rank import Array
from pygeco.bayes.likelihoods.base import (
    Likelihood,
    Softplus,
    WorkingSquares,
    expect_sigmoid,
    make_logistic_squares,
    place_response_nodes,
    score_nodes,
)
from pygeco.bayes.likelihoods.polya_gamma import draw_polya_gamma
from pygeco.losses import Ordinal
from pygeco.losses.base import namespace, sigmoid, softplus

FAR = 1e3  # stands for an infinite cut point: σ is one there to all digits
MAX_MOVE = 1.0  # of a cut point in one step
CUT_STEPS = 3  # of Newton, each time that cut points are estimated anew
CUT_PULL = 1e-2  # precision about their last place: a level without a cell has no say


@dataclass(frozen=True)
class Levels(Likelihood):
    """P(y ≤ k) = σ(θ_k − z) for y = 0 … K − 1; `levels` are the values that these stand for.

    P(y = k) = σ(θ_k − z) σ(z − θ_(k−1)) (1 − e^(θ_(k−1) − θ_k)): two logistic terms and a constant
    that holds the cut points apart.
    """

    levels: tuple[float, ...]
    cuts: tuple[float, ...]

    @classmethod
    def of(cls, loss: Ordinal) -> Levels:
        """From a loss whose levels and thresholds are settled."""
        if loss.levels is None or loss.thresholds is None:
            raise ValueError("loss: Ordinal needs levels and thresholds; call `fitted(y)` first.")
        return cls(loss.levels, loss.thresholds)

    @property
    def loss(self) -> Ordinal:
        return Ordinal(self.levels, self.cuts)

    def find_constant(self, y: Array, weights: Array | None = None) -> float:
        return 0.0

    def make_squares(self, y: Array, mean: Array, variance: Array) -> WorkingSquares:
        above, below = self._terms(y, mean, variance)
        return make_logistic_squares(mean, above.slope - below.slope, above, below)

    def draw_squares(
        self, y: Array, z: Array, rng: np.random.Generator, weights: Array | None = None
    ) -> WorkingSquares:
        high, low, has_high, has_low = self._ends(y)
        upper = draw_polya_gamma(z - high, rng, weights=weights).astype(z.dtype) * has_high
        lower = draw_polya_gamma(z - low, rng, weights=weights).astype(z.dtype) * has_low
        drawn = upper + lower
        pulls = upper * high + lower * low + (has_low - has_high) / 2
        return WorkingSquares(drawn, pulls / drawn)

    def expect_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        above, below = self._terms(y, mean, variance)
        gaps = [-math.log1p(-math.exp(-gap)) for gap in np.diff(self.cuts)]
        constant = on([0.0, *gaps, 0.0], mean, mean.dtype)
        return above.value + below.value + look_up(constant, y.astype(np.int64))

    def update(
        self, y: Array, mean: Array, variance: Array, weights: Array | None = None
    ) -> Levels:
        """The cut points by a few steps of Newton on the expected log-likelihood."""
        found = self
        for _ in range(CUT_STEPS):
            cuts = found._step(y, mean, variance, weights)
            moved = max(abs(a - b) for a, b in zip(cuts, found.cuts, strict=True))
            found = replace(found, cuts=cuts)
            if moved < 1e-5:
                break
        return found

    def average(self, draws: Sequence[Levels]) -> Levels:
        cuts = np.mean([draw.cuts for draw in draws], axis=0)
        return replace(self, cuts=tuple(float(cut) for cut in cuts))

    def match(self, other: Levels) -> tuple[Levels, float]:
        move = float(np.mean(other.cuts) - np.mean(self.cuts))
        return replace(self, cuts=tuple(cut + move for cut in self.cuts)), move

    def find_move(
        self, constant: float, mean: Array, variance: Array, weights: Array | None = None
    ) -> float:
        """None: cut points have a place of their own for each level."""
        return 0.0

    def score_loss(self, y: Array, mean: Array, variance: Array) -> Array:
        low_ends, high_ends = self._bounds(y, mean)
        k, xp = y.astype(np.int64), namespace(mean)

        def score(shrink: Array, z: Array) -> Array:
            high, low = (shrink * (end - z) for end in (high_ends, low_ends))
            gap = xp.where((k > 0) & (k < len(self.cuts)), high - low, FAR)
            return softplus(-high) + softplus(low) - xp.log(-xp.expm1(-gap))

        return score_nodes(score, mean, variance)

    def respond(self, mean: Array, variance: Array) -> Array:
        out = 0 * mean + self.levels[0]
        for k, cut in enumerate(self.cuts):
            above = expect_sigmoid(mean - cut, variance)
            out = out + (self.levels[k + 1] - self.levels[k]) * above
        return out

    def deviate(self, mean: Array, variance: Array) -> Array:
        """With gaps d_k from level to level, Var y is Σ_k d_k² F_k (1 − F_k) + 2 Σ_j<k d_j d_k F_j
        (1 − F_k) for F_k = P(y ≤ k): no term cancels, where E[y²] − E[y]² would.
        """
        kind, mean, variance = mean.dtype, mean.astype(float), variance.astype(float)
        out, lower = 0 * mean, 0 * mean
        for k, share in enumerate(self._shares_below(mean, variance)):
            gap = self.levels[k + 1] - self.levels[k]
            above = expect_sigmoid(mean - self.cuts[k], variance)
            out = out + gap * above * (gap * share + 2 * lower)
            lower = lower + gap * share
        return (out**0.5).astype(kind)

    def find_quantile(self, mean: Array, variance: Array, q: float) -> Array:
        """The least level that is not exceeded with probability q; the median for ½."""
        out = 0 * mean + self.levels[0]
        for k, share in enumerate(self._shares_below(mean, variance)):
            out = out + (self.levels[k + 1] - self.levels[k]) * (share < q).astype(mean.dtype)
        return out

    def find_probabilities(self, mean: Array, variance: Array) -> Array:
        """Products at each node: the small ones are lost in differences of P(y ≤ k)."""
        xp, one = namespace(mean), 0 * mean + 1
        out = xp.stack([0 * mean] * len(self.levels), axis=-1)
        for share, shrink, z in place_response_nodes(mean, variance):
            below = [*(sigmoid(shrink * (cut - z)) for cut in self.cuts), one]
            above = [one, *(sigmoid(shrink * (z - cut)) for cut in self.cuts)]
            rest = [one, *(-xp.expm1(-shrink * gap) for gap in np.diff(self.cuts).tolist()), one]
            parts = [p * q * r for p, q, r in zip(below, above, rest, strict=True)]
            out = out + share * xp.stack(parts, axis=-1)
        return out

    def _shares_below(self, mean: Array, variance: Array) -> list[Array]:
        """P(y ≤ k) for all k but the last."""
        return [expect_sigmoid(cut - mean, variance) for cut in self.cuts]

    def _ends(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """The cut points above and below each cell's level, and one where there is one."""
        k, last = y.astype(np.int64), len(self.cuts)
        cuts = on([0.0, *self.cuts, 0.0], y, y.dtype)
        high, low = look_up(cuts, k + 1), look_up(cuts, k)
        return high, low, (k < last).astype(y.dtype), (k > 0).astype(y.dtype)

    def _terms(self, y: Array, mean: Array, variance: Array) -> tuple[Softplus, Softplus]:
        """E softplus(z − θ_k) and E softplus(θ_(k−1) − z); next to nothing at the ends."""
        low, high = self._bounds(y, mean)
        return Softplus(mean - high, variance), Softplus(low - mean, variance)

    def _bounds(self, y: Array, mean: Array) -> tuple[Array, Array]:
        """The cut points below and above each cell's level; far away at the ends."""
        cuts, k = on([-FAR, *self.cuts, FAR], mean, mean.dtype), y.astype(np.int64)
        return look_up(cuts, k), look_up(cuts, k + 1)

    def _step(
        self, y: Array, mean: Array, variance: Array, weights: Array | None
    ) -> tuple[float, ...]:
        """One step of Newton in the cut points, which stay in order."""
        above, below = self._terms(y, mean, variance)
        k, count = y.astype(np.int64), len(self.levels)

        def total(x: Array | None) -> Array:
            if x is None:
                x = weights
            elif weights is not None:
                x = x * weights
            return host(np.bincount(k, x, count)).astype(float)

        # Cut point k is above level k and below level k + 1.
        slope = total(below.slope)[1:] - total(above.slope)[:-1]
        bend = np.diag(total(below.curvature)[1:] + total(above.curvature)[:-1] + CUT_PULL)
        gaps = np.diff(self.cuts)
        cells = total(None)[1:-1]
        pull, stiff = cells / np.expm1(gaps), cells / (4 * np.sinh(gaps / 2) ** 2)
        for i in range(len(gaps)):
            # −log(1 − e^−gap) falls with the gap.
            slope[i] += pull[i]
            slope[i + 1] -= pull[i]
            bend[i : i + 2, i : i + 2] += stiff[i] * np.array([[1.0, -1.0], [-1.0, 1.0]])
        step = -np.linalg.solve(bend, slope)
        step *= min(1.0, MAX_MOVE / max(np.abs(step).max(), 1e-300))
        cuts = np.array(self.cuts)
        while np.any(np.diff(cuts + step) < 0.2 * gaps):
            step *= 0.5
        return tuple(float(cut) for cut in cuts + step)
