"""How strongly a covariance is shrunk: κ, the rows' worth of belief in unrelated columns.

The evidence of κ is that of the scatter S of the rows. Where cells are missing only the mean of S
is at hand, in which the products of missing cells are nearly those of unrelated columns. Taken for
observed they speak for a large κ, which draws more of the next S to unrelated columns: with few
rows and half of the cells missing, that ended at column means. So the variance of S counts as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # scipy.special is imported when used
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.bayes.row_gaps import Gaps

# κ, in rows: from next to none, for columns that follow from each other, to unrelated columns.
STRENGTHS = np.geomspace(1e-6, 1e6, 145)


class ScatterDoubt(NamedTuple):
    """What is not known of the scatter of rows: they are `rest` (n, d) from the mean, with missing
    cells at their conditional means, whose covariance is that of `precision` at the `gaps`.

    `own` are the coordinates that count.
    """

    rest: Array
    gaps: Sequence[Gaps]
    precision: Array
    own: NDArray[np.intp] | slice = slice(None)

    def take(self, own: NDArray[np.intp]) -> ScatterDoubt:
        """Of some coordinates alone."""
        return self._replace(own=own)

    def turn(self, vectors: Array) -> Array:
        """Σ_i Var(y_ie y_if) for y = x Q, Q orthonormal: about what Qᵀ S Q may vary.

        With means m and variances v of y it is m_e² v_f + v_e m_f² + v_e v_f, and twice that where
        e = f. Covariances between the y of a row are left out. O(n d (d + u²)).
        """
        Q = np.zeros((self.rest.shape[1], vectors.shape[1]))
        Q[self.own] = vectors
        variance = np.zeros((len(self.rest), Q.shape[1]))
        for gap in self.gaps:
            part = Q[gap.patterns]
            variance[gap.rows[:, 0]] = np.sum((gap.invert(self.precision) @ part) * part, axis=1)[
                gap.which
            ]
        squares = (self.rest @ Q) ** 2
        found = squares.T @ variance
        found = found + found.T + variance.T @ variance
        return np.asarray(found * (1 + np.eye(len(found))))


def list_blocks(owners: NDArray[np.intp] | None) -> list[NDArray[np.intp]]:
    """The places of coordinates that stand for one column together."""
    if owners is None:
        return []
    groups = (np.flatnonzero(owners == one) for one in np.unique(owners))
    return [group for group in groups if len(group) > 1]


def choose_strength(
    scatter: Array,
    n: int,
    blocks: Sequence[NDArray[np.intp]] = (),
    doubt: ScatterDoubt | None = None,
) -> float:
    """κ of the greatest evidence for a scatter of n degrees of freedom, over that of its blocks."""
    found = weigh_strengths(scatter, n, doubt)
    for block in blocks:
        part = None if doubt is None else doubt.take(block)
        found = found - weigh_strengths(scatter[np.ix_(block, block)], n, part)
    return float(STRENGTHS[np.argmax(found)])


def weigh_strengths(scatter: Array, n: int, doubt: ScatterDoubt | None = None) -> Array:
    """The evidence of each of `STRENGTHS`, in logarithms and up to a constant.

    log p = log Γ_d((ν + n)/2) − log Γ_d(ν/2) + (ν d/2) log κ − ((ν + n)/2) log |κ I + S|,
    ν = κ + d + 1, Γ_d the multivariate gamma function. S is not known where cells are missing, and
    E log |κ I + S| is less than the logarithm at its mean: with the variance w_ef of S between the
    eigenvectors of its mean, by about ½ Σ log (1 + w_ef / ((κ + λ_e)(κ + λ_f))).
    """
    d, (values, vectors) = len(scatter), np.linalg.eigh(scatter)
    shares = 1 / (STRENGTHS[:, None] + np.maximum(values, 0.0))
    logs = -np.log(shares).sum(axis=1)
    if doubt is not None:
        variance = doubt.turn(vectors)
        logs -= [np.log1p(variance * np.outer(one, one)).sum() / 2 for one in shares]
    return np.asarray(_sum_gammas(d, n) - (STRENGTHS + (d + 1 + n)) / 2 * logs)


@lru_cache(maxsize=64)
def _sum_gammas(d: int, n: int) -> Array:
    """What of log p does not depend on the scatter, for each of `STRENGTHS`."""
    k = STRENGTHS[:, None]
    nu, j = k + d + 1, np.arange(d)
    terms = scipy.special.gammaln((nu + n - j) / 2) - scipy.special.gammaln((nu - j) / 2)
    terms += nu / 2 * np.log(k)
    return np.asarray(terms.sum(axis=1))
