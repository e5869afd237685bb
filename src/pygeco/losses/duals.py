"""Fenchel's slack, ℓ(z) + ℓ*(a) − a z ≥ 0 at a = c ℓ′(z): the sums that a certificate needs.

Written as sums of positive terms, for what cancels could make a bound zero: a false proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pygeco.arrays.low_rank import Array, LowRank
from pygeco.losses.base import Loss, namespace, sigmoid, softplus

NEAR_ZERO = 0.1  # where fourteen terms of a power series have all digits


@dataclass(frozen=True)
class Slack(Loss):
    """ℓ(z) + ℓ*(c ℓ′(z)) − c ℓ′(z) z as a value, so that every engine's passes add it up."""

    loss: Loss
    scale: float
    name = "slack"

    def value(self, z: Array, y: Array) -> Array:
        return self.loss.slack(z, y, self.scale)

    def slope(self, z: Array, y: Array) -> Array:
        return self.loss.slope(z, y)

    def stiffness(self, z: Array, y: Array) -> Array:
        return self.loss.stiffness(z, y)


class LossSum(Protocol):
    """A sum of a loss over cells, of which there is one for another loss too."""

    loss: Loss

    def with_loss(self, loss: Loss) -> LossSum: ...

    def value(self, A: LowRank) -> float: ...


def slack_of_losses(objective: LossSum, A: LowRank) -> Callable[[float], float] | None:
    """The scale c ↦ Σ w (ℓ + ℓ*(c ℓ′) − c ℓ′ z) / Σ w at A, a pass each; None: no conjugate."""
    if not objective.loss.has_conjugate:
        return None
    return lambda scale: objective.with_loss(Slack(objective.loss, scale)).value(A)


def above_tangent(t: Array) -> Array:
    """(1 + t) log(1 + t) − t ≥ 0 for t ≥ −1, with all digits near zero, where it is t²/2."""
    xp = namespace(t)
    near, series = xp.clip(t, -NEAR_ZERO, NEAR_ZERO), 0.0
    for k in range(15, 1, -1):
        series = (-1) ** k / (k * (k - 1)) + near * series
    some = xp.where(t > -1, t, 0)
    far = (1 + t) * xp.log1p(some) - t
    return xp.where(xp.abs(t) < NEAR_ZERO, near * near * series, far)


def corner_slack(x: Array, near: Array, scale: float) -> Array:
    """The slack of ℓ = near (x − near/2), ℓ′ = near, where near is x held inside an interval."""
    rest = 1 - scale
    return rest * near * ((x - near) + near * (rest / 2))


def root_slack(x: Array, width: float, scale: float) -> Array:
    """The slack of ℓ = √(x² + ε²) − ε, multiplied out until all terms are positive."""
    rest, square = 1 - scale, width * width
    q = rest * (x * x)
    root = (x * x + square) ** 0.5
    inner = width * (square + (1 + scale) * q) ** 0.5
    return q / root * ((rest * square + q) / (square + q + inner))


def label_slack(margin: Array, scale: float) -> Array:
    """The divergence of the shares (c q, 1 − c q) from (q, 1 − q), q = σ(−margin)."""
    xp, rest = namespace(margin), 1 - scale
    if rest == 0:
        return 0 * margin
    q, p = sigmoid(-margin), sigmoid(margin)
    log_t = math.log(rest) - margin  # 1 − c q is 1 + t times what 1 − q is
    t = xp.exp(xp.minimum(log_t, math.log(NEAR_ZERO)))
    near = q * float(above_tangent(np.array(-rest))) + p * above_tangent(t)
    log_scale = math.log(scale) if scale > 0 else 0.0
    far = q * (scale * log_scale) + (p + rest * q) * softplus(log_t)
    return xp.where(log_t < math.log(NEAR_ZERO), near, far)


def cosh_slack(u: Array, scale: float) -> Array:
    """That of log cosh u: the divergence of the shares (1 ± c tanh u)/2 from (1 ± tanh u)/2."""
    xp, rest = namespace(u), 1 - scale
    if rest == 0:
        return 0 * u
    e = xp.exp(-2 * u)
    low, high, moved = e / (1 + e), 1 / (1 + e), rest * xp.tanh(u) / 2
    # The lower share is 1 + t times what it was, the upper one 1 − rest (1 − e)/2 times.
    t = rest / 2 * xp.expm1(xp.minimum(2 * u, 40))
    near = low * above_tangent(xp.minimum(t, NEAR_ZERO))
    kept = math.log1p(-rest / 2)
    log_ratio = kept + softplus(2 * u + (math.log(rest / 2) - kept))
    far = (low + moved) * log_ratio - moved
    upper = high * above_tangent(rest / 2 * xp.expm1(-2 * u))
    return xp.where(t < NEAR_ZERO, near, far) + upper
