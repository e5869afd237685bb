"""A scale for the noise of each column: its own, as far as its cells can tell it.

1.4826 · median |r| of m cells errs by a share of about √(1.36 / m). With the table's scale for all
columns, noisy ones are full of false outliers; with each one's own, so are short ones. Empirical
Bayes lies between: the logarithms of the columns' scales are taken for Gaussian about the table's,
with a variance from the data. Where all columns are alike it is zero, and the table's scale serves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.engines.values import Deviations
from pygeco.objectives.dense.objective import Dense

# The standard deviation of a Gaussian x over the median, and over the lower quartile, of |x|.
PER_MEDIAN, PER_QUARTILE = 1.4826, 3.1388
# m · Var(log median |x|) for m Gaussian cells: 1 / (2 f(q) q)², f the density of |x|, q its median.
GAUSSIAN_VARIANCE = 1.36
# A scale may be so many times what the lower quartile says: more, and half of the column is wild.
MAX_PER_QUARTILE = 2.0
# Of the table's scale, at least: a column cannot be quieter than rounding and the fit itself.
MIN_SHARE = 0.1


def column_thresholds(
    dense: Dense,
    A: LowRank,
    scale: float,
    cutoff: float,
    least: float,
    parameters: int,
    free: float,
) -> Array:
    """`cutoff` scales of each column, and no less than `least`. See `column_scales`."""
    least_scale = least / cutoff
    scales = column_scales(dense, A, scale, parameters=parameters, free=free, least=least_scale)
    return np.maximum(cutoff * scales, least)


def column_scales(
    dense: Dense,
    A: LowRank,
    scale: float,
    *,
    parameters: int,
    least: float,
    free: float = 1.0,
    side: str = "column",
) -> Array:
    """The robust standard deviation of the noise of each column (or row), on the host. O(m n s).

    `scale` is the table's, `parameters` were fitted to each column, and residuals are about √`free`
    of the noise; below `least` one is no more than rounding. A column without a scale of its own
    (too few cells, or most of them met exactly, as in a constant one) has the table's.
    """
    found, usual = dense.deviations(A, side=side), max(scale, least)
    own, counts = own_scales(found, usual * free**0.5), host(found.counts)
    cells = np.where(own > least, np.maximum(counts - parameters, 0), 0)
    variance = median_variance(host(np.abs(dense.residual_sample(A))))
    return pool_scales(own / free**0.5, cells, usual, variance)


def own_scales(found: Deviations, scale: float) -> Array:
    """From the median |r|; from the lower quartile where outliers are so many that they are the
    median, though not below the table's scale.
    """
    middle, low = PER_MEDIAN * host(found.medians), PER_QUARTILE * host(found.quartiles)
    return np.minimum(middle, np.maximum(scale, MAX_PER_QUARTILE * low))


def median_variance(sizes: Array) -> float:
    """About m · Var(log median) of m numbers like `sizes`, from their quantiles beside the median.

    Outliers and heavy tails make it larger than for Gaussian residuals. So do columns of different
    scales, which then count as a little shorter than they are.
    """
    low, middle, high = np.quantile(sizes, [0.4, 0.5, 0.6]).tolist()
    if not middle > 0:
        return GAUSSIAN_VARIANCE
    return max(GAUSSIAN_VARIANCE, ((high - low) / (2 * 0.2 * middle)) ** 2)


def pool_scales(own: Array, cells: NDArray[np.int64], scale: float, variance: float) -> Array:
    """Scale · exp(x t / (t + v)), x = log(own / scale), v = variance / cells.

    t is the variance of the columns' true x, by moments: Σ cells (x² − v) / Σ cells, or zero.
    Zero cells say nothing: such a column has the table's scale.
    """
    some = cells > 0
    x = np.log(np.maximum(np.where(some, own, scale) / scale, MIN_SHARE))
    v = variance / np.maximum(cells, 1)
    t = max(float(np.sum(cells * (x**2 - v))), 0.0) / max(int(cells.sum()), 1)
    return scale * np.exp(x * t / (t + v))
