"""Bounds of new observations: by a likelihood, or by the residuals of the fit."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from pygeco.arrays.kinds import host, on
from pygeco.arrays.low_rank import Array
from pygeco.models.base import FittedModel
from pygeco.models.seen import Positions

MAX_CELLS = 200_000  # whose residuals are looked at
MIN_SHARE = 0.25  # of the noise, that is left of a residual's variance however little is known


def find_interval(
    model: FittedModel,
    rows: Positions,
    cols: Positions,
    coverage: float,
    times: Array | None = None,
) -> tuple[Array, Array]:
    """The quantiles (1 ∓ coverage) / 2 of new observations at cells."""
    if not 0 < coverage < 1:
        raise ValueError(f"coverage: must be strictly between 0 and 1, not {coverage!r}.")
    levels = (1 - coverage) / 2, (1 + coverage) / 2
    model.expect_evidence()
    z, likelihood = model.linear(rows, cols, times), model.likelihood
    if likelihood is not None:
        variance = model.spread(rows, cols).astype(z.dtype)
        low, high = (likelihood.find_quantile(z, variance, q) for q in levels)
        return low, high
    wild = model.noise * (model.expect_evidence().tails - 1)  # the quantiles know of these
    size = (model.deviation(rows, cols, times).astype(float) ** 2 - wild) ** 0.5
    low, high = (z + (q * size).astype(z.dtype) for q in measure_tails(model, levels))
    if model.clips:
        low, high = np.clip(low, *model.bounds), np.clip(high, *model.bounds)
    return low, high


def measure_tails(model: FittedModel, levels: tuple[float, ...]) -> list[float]:
    """These quantiles of residuals of the fit, in deviations.

    A residual of the fit is smaller than one of a new cell: with noise of variance σ² and a
    prediction known up to v, its variance is σ² − v where that of a new one is σ² + v.
    """
    if not model.is_here:  # the cells are with the workers: noise is taken for Gaussian
        return [NormalDist().inv_cdf(q) for q in levels]
    seen = model.seen
    step = max(1, -(-len(seen.values) // MAX_CELLS))
    like = model.factors.V
    rows, cols = seen.rows()[::step], host(seen.indices)[::step]
    times = seen.times[::step] if len(seen.times) else None
    values, noise = host(seen.values)[::step].astype(float), model.noise
    left = values - host(model.linear(on(rows, like), on(cols, like), times))
    known = host(model.spread(rows, cols))
    sizes = left / np.sqrt(np.maximum(noise - known, MIN_SHARE * noise))
    weights = host(seen.weights)[::step].astype(float) if len(seen.weights) else None
    if weights is None:
        return [float(np.quantile(sizes, q)) for q in levels]
    found = (np.quantile(sizes, q, weights=weights, method="inverted_cdf") for q in levels)
    return [float(x) for x in found]
