"""Every loss with targets from its domain: what the laws run over."""

from __future__ import annotations

import numpy as np

from pygeco import losses


def _real(rng, size):
    return rng.standard_normal(size)


def _labels(rng, size):
    return rng.choice([-1.0, 1.0], size)


def _counts(rng, size):
    return rng.poisson(2.0, size).astype(float)


def _levels(rng, size):
    return rng.integers(0, 4, size).astype(float)


def cube_value(z, y):
    return np.abs(z - y) ** 3 / 3 + (z - y) ** 2 / 20


def cube_slope(z, y):
    return (z - y) * np.abs(z - y) + (z - y) / 10


CASES = {
    "squared": (losses.Squared(), _real),
    "huber": (losses.Huber(0.7), _real),
    "pseudo-huber": (losses.PseudoHuber(0.5), _real),
    "log-cosh": (losses.LogCosh(1.0), _real),
    "absolute": (losses.Absolute(0.3), _real),
    "quantile": (losses.Quantile(0.8, 0.4), _real),
    "logistic": (losses.Logistic(), _labels),
    "smoothed-hinge": (losses.SmoothedHinge(0.6), _labels),
    "poisson": (losses.Poisson(), _counts),
    "poisson-capped": (losses.Poisson(cap=0.5), _counts),
    "ordinal": (losses.Ordinal((0, 1, 2, 3), (-1.0, 0.2, 1.5)), _levels),
    "custom": (losses.Custom(cube_value, cube_slope), _real),
}
KINKED = ("huber", "quantile", "smoothed-hinge")
CONJUGATE = tuple(name for name in CASES if name not in ("ordinal", "custom"))


def sample(name, size, seed=0):
    """(loss, z, y) with predictions spread over a few units."""
    loss, targets = CASES[name]
    rng = np.random.default_rng(seed)
    return loss, 2 * rng.standard_normal(size), targets(rng, size)
