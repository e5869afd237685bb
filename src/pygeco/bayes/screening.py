"""Which groups of attributes say anything of the vectors of a side, before any sweep with them.

Without an effect, tr(C⁻¹ TᵀXXᵀT) of vectors T of d numbers with covariance C has mean d tr(XᵀX)
and variance 2 d |XᵀX|². Its distance from that mean, in deviations, goes with the slope of the
evidence at 1/λ = 0: a group with too small a one says nothing, and sweeps would only watch it fade.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pygeco.arrays.kinds import host, on, times
from pygeco.arrays.low_rank import Array
from pygeco.bayes.effects import PROBES, draw_signs
from pygeco.bayes.posterior import Known, Posterior
from pygeco.bayes.priors import FLOAT, Gaussian, stack_vectors
from pygeco.bayes.ridge import RidgeGroup
from pygeco.engines.columns import Rows, steps_of
from pygeco.objectives.entries.half_sweep import Side

MIN_SCORE = 2.0  # deviations of a normal: noise is rarely above, and later sweeps drop what is
MIN_SPREAD_SHARE = 1e-9  # of the largest variance; directions with less are none


def drop_silent(now: Posterior, known: Known) -> Known:
    """The groups that say something of their side's vectors, and those that stay."""
    return Known(
        keep_telling(now.rows, now.row_prior, known.rows),
        keep_telling(now.cols, now.col_prior, known.cols),
    )


def keep_telling(
    side: Side, prior: Gaussian, groups: Sequence[RidgeGroup]
) -> tuple[RidgeGroup, ...]:
    """The groups of one side that say something, and those that stay."""
    if not groups:
        return ()
    scores = score_groups(side, prior, groups)
    pairs = zip(groups, scores, strict=True)
    return tuple(group for group, score in pairs if group.stays or score >= MIN_SCORE)


def score_groups(side: Side, prior: Gaussian, groups: Sequence[RidgeGroup]) -> list[float]:
    """How much more than nothing each group says, in deviations. O(|X| d) each."""
    X = stack_vectors(side)
    found = steps_of(side.bias).measure_rows(Rows(*side, prior.some), prior.center)
    middle, covariance = found.mean, found.covariance
    sizes, basis = np.linalg.eigh(covariance)
    free = sizes > MIN_SPREAD_SHARE * max(sizes[-1], 1e-300)
    white = (basis[:, free] / np.sqrt(sizes[free])).astype(FLOAT)
    there = prior.there(X)
    T = there * times(X - on(middle.astype(FLOAT), X), white)
    return [_score(group, draw_signs(group, t), T, there) for t, group in enumerate(groups)]


def _score(group: RidgeGroup, signs: Array, T: Array, there: Array) -> float:
    d = T.shape[1]
    squares = group.X.rmatmat(there * group.X.matmat(signs))
    spread = (2 * d * _sum_squares(squares) / PROBES) ** 0.5
    mean = d * float(host(np.sum(group.diagonal, dtype=float)))
    return (_sum_squares(group.X.rmatmat(T)) - mean) / max(spread, 1e-300)


def _sum_squares(X: Array) -> float:
    return float(host(np.sum(X * X, dtype=float)))
