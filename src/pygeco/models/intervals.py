"""Bounds of new observations: by a likelihood, or by the residuals of the fit.

How far they lie out is the deviation of a new observation, what the residuals tell is the shape of
the noise. They do not tell its size: where rows have few cells, a fit leaves next to nothing of it.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from pygeco.arrays.checks import is_real
from pygeco.arrays.kinds import host, on
from pygeco.arrays.low_rank import Array
from pygeco.bayes.average import Average
from pygeco.models.base import FittedModel
from pygeco.models.seen import Positions

MAX_CELLS = 200_000  # whose residuals are looked at
LEAST_RESIDUAL = 1e-7  # of the largest value: smaller ones are rounding, and have no shape


def find_interval(
    model: FittedModel,
    rows: Positions,
    cols: Positions,
    coverage: float,
    times: Array | None = None,
) -> tuple[Array, Array]:
    """The quantiles (1 ∓ coverage) / 2 of new observations at cells."""
    if not is_real(coverage) or not 0 < coverage < 1:
        raise ValueError(f"coverage: must be strictly between 0 and 1, not {coverage!r}.")
    levels = (1 - coverage) / 2, (1 + coverage) / 2
    model.expect_evidence()
    z, likelihood = model.linear(rows, cols, times), model.likelihood
    if likelihood is not None:
        variance = model.spread(rows, cols).astype(z.dtype)
        low, high = (likelihood.find_quantile(z, variance, q) for q in levels)
        return low, high
    wild = model.noise * (model.expect_evidence().tails - 1)  # the quantiles know of these
    squares = model.deviation(rows, cols, times).astype(float) ** 2 - wild
    size = squares**0.5
    if isinstance(model.doubt, Average):
        known = np.maximum(model.spread(rows, cols).astype(float), 1e-300)
        degrees = model.doubt.degrees * (squares / known) ** 2
        size = size * widen_for_degrees(levels[1], degrees)
    low, high = (z + (q * size).astype(z.dtype) for q in measure_tails(model, levels))
    if model.clips:
        low, high = np.clip(low, *model.bounds), np.clip(high, *model.bounds)
    return low, high


def widen_for_degrees(level: float, degrees: Array) -> Array:
    """How much further out a quantile of Student's t lies than that of a Gaussian, nearly.

    The variance of a new observation is that of the noise and that of a few draws, by which it is
    known to so many degrees of freedom (Welch and Satterthwaite); the expansion is that of Fisher
    and Cornish.
    """
    x, n = NormalDist().inv_cdf(level) ** 2, np.maximum(degrees, 1.0)
    terms = (x + 1) / 4, (5 * x**2 + 16 * x + 3) / 96, (3 * x**3 + 19 * x**2 + 17 * x - 15) / 384
    out: Array = 1 + ((terms[2] / n + terms[1]) / n + terms[0]) / n
    return out


def measure_tails(model: FittedModel, levels: tuple[float, ...]) -> list[float]:
    """These quantiles of residuals of the fit, in deviations of theirs.

    Under a robust loss, of those of ordinary cells.
    """
    gauss = [NormalDist().inv_cdf(q) for q in levels]
    if not model.is_here:  # the cells are with the workers: noise is taken for Gaussian
        return gauss
    seen = model.seen
    step = max(1, -(-len(seen.values) // MAX_CELLS))
    like = model.factors.V
    rows, cols = seen.rows()[::step], host(seen.indices)[::step]
    times = seen.times[::step] if len(seen.times) else None
    values = host(seen.values)[::step].astype(float)
    left = values - host(model.linear(on(rows, like), on(cols, like), times))
    weights = host(seen.weights)[::step].astype(float) if len(seen.weights) else None
    weighing = model.expect_evidence().weighing
    ordinary = left**2 if weighing is None else left**2 * weighing.weights(left)
    size = float(np.average(ordinary, weights=weights)) ** 0.5
    if not size > LEAST_RESIDUAL * float(np.max(np.abs(values), initial=0.0)):
        return gauss
    if weights is None:
        return [float(np.quantile(left, q)) / size for q in levels]
    found = (np.quantile(left, q, weights=weights, method="inverted_cdf") for q in levels)
    return [float(x) / size for x in found]
