"""Moments and draws of Pólya–Gamma variables, which make logistic likelihoods weighted squares."""

from __future__ import annotations

import math

import numpy as np

from pygeco.arrays.kinds import draw_like
from pygeco.arrays.low_rank import Array
from pygeco.losses.base import namespace

TERMS = 3  # of the sum that are drawn one by one; the rest has its mean and variance
LEAST_SPREAD = 1e-15  # of what is left, over its squared mean: z so far out has no other
LEAST_DRAW = 1e-12  # of a mean: gamma variables of next to no shape or weight underflow


def draw_polya_gamma(
    z: Array,
    rng: np.random.Generator,
    shape: Array | None = None,
    weights: Array | None = None,
) -> Array:
    """PG(shape, z), of the kind of z; the shape is one by default.

    With `weights`, PG(w shape, z) / w: what is drawn once for a cell that counts w times, a unit of
    weight of it.

    It is the sum over k of g_k / (2π² ((k − ½)² + z²/4π²)), g_k gamma variables of the shape. The
    first terms are drawn; what is left, which varies little, is one more gamma variable, with its
    mean and its variance.
    """
    if weights is None:
        return draw_like(_draw_sum, rng, z, *(() if shape is None else (shape,)))
    times = weights.astype(float)
    found = draw_like(_draw_sum, rng, z, times if shape is None else times * shape)
    return namespace(found).maximum(found / times, LEAST_DRAW)


def _draw_sum(rng: np.random.Generator, z: Array, shape: Array | None = None) -> Array:
    x = z.astype(float)
    mean, variance = polya_gamma_mean(x), polya_gamma_variance(x)
    if shape is not None:
        mean, variance = shape * mean, shape * variance
    least = LEAST_DRAW * mean
    found = np.zeros(x.shape)
    for k in range(1, TERMS + 1):
        size = 1 / (2 * math.pi**2 * (k - 0.5) ** 2 + x * x / 2)
        own = rng.standard_exponential(x.shape) if shape is None else rng.standard_gamma(shape)
        found += size * own
        count = 1.0 if shape is None else shape
        mean, variance = mean - count * size, variance - count * size * size
    variance = np.maximum(variance, LEAST_SPREAD * mean * mean)
    found += variance / mean * rng.standard_gamma(mean * mean / variance)
    return np.maximum(found, least)


def polya_gamma_mean(z: Array) -> Array:
    """E[ω] of PG(1, z): tanh(z/2) / (2z), ¼ at zero (Polson, Scott and Windle 2013)."""
    xp = namespace(z)
    size = xp.abs(z)
    small = size < 1e-3
    far = xp.where(small, 1.0, size)
    return xp.where(small, 0.25 - z * z / 48, xp.tanh(far / 2) / (2 * far))


def polya_gamma_variance(z: Array) -> Array:
    """Var[ω] of PG(1, z): (sinh z − z) / (4 z³ cosh²(z/2)), 1/24 at zero."""
    xp = namespace(z)
    size = xp.abs(z)
    small = size < 0.05
    far = xp.where(small, 1.0, size)
    share = xp.exp(-far)  # sinh z / cosh² (z/2) without overflow
    found = ((1 - share**2) - 2 * far * share) / (2 * far**3 * (1 + share) ** 2)
    return xp.where(small, 1 / 24 - z * z / 120, found)
