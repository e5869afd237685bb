"""Features in the span of the samples, where there are more of them than of samples.

The loss sees nothing outside that span and a ridge leaves nothing there, so N coordinates of N
samples, or fewer, stand for any number of features: the same minimum, at a small part of the work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy  # scipy.sparse is imported when used
from numpy.typing import NDArray

from pygeco.algorithm.path import Path
from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.linalg import qr
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives.features import subtract_center

MIN_FEATURES = 2  # for each sample: with fewer the span saves less than it costs to find
MAX_SAMPLES = 1000  # the same for more: 22 N³ operations on one thread, 1 s for a thousand


@dataclass(frozen=True, eq=False)
class RowSpan:
    """X = Z basisᵀ + center; basis (d, k ≤ N) is orthonormal, and None where Z is X itself."""

    Z: Any
    basis: Array | None = None
    center: Array | None = None

    def lift(self, V: Array) -> Array:
        """What V (k, r) is over the features, (d, r)."""
        return V if self.basis is None else self.basis @ V

    def lift_path(self, path: Path) -> Path:
        """The same of each step: objectives, norms and certificates stay."""
        if self.basis is None:
            return path
        steps = tuple(
            replace(step, A=LowRank(step.A.U, step.A.s, self.lift(step.A.V))) for step in path
        )
        return replace(path, steps=steps, shape=(path.shape[0], len(self.basis)))

    def move_intercepts(self, b: Array, A: LowRank) -> Array:
        """Those of Z for a lifted A as those of X."""
        return b if self.center is None else b - A.matvec(self.center)


def find_row_span(X: Any, weights: Array | None = None, *, center: bool = False) -> RowSpan:
    """The span of the rows of a dense X (N, d), about their mean with `center`. O(d N²)."""
    found = None if scipy.sparse.issparse(X) else _find_few_rows(X)
    if found is None:
        return RowSpan(X)
    rows, places = found
    rows, mean = rows.astype(float), None
    if center:
        counts = np.bincount(places, weights)[:, None]
        counts = counts / counts.sum()
        mean = (rows.T @ counts)[:, 0]
        rows = subtract_center(rows, mean, counts)
    with one_blas_thread():
        Q, R = qr(rows.T)
        P, s, Wt = np.linalg.svd(R)
        # In a direction that is rounding alone, coefficients without a ridge are of any size.
        k = max(1, int(np.count_nonzero(s > s[0] * max(X.shape) * np.finfo(float).eps)))
        return RowSpan((Wt[:k].T * s[:k])[places], Q @ P[:, :k], mean)


def _find_few_rows(X: Array) -> tuple[Array, NDArray[np.integer[Any]]] | None:
    """The rows that differ and where each is, if the span of so few is worth its cost.

    A row given twice is one of weight two: a fit is the same in either form.
    """
    most = min(X.shape[1] // MIN_FEATURES, MAX_SAMPLES)
    # Rows that are equal have equal sums: most samples need no comparison of whole rows.
    if len(X) > most and len(np.unique((X * np.sqrt(1 + np.arange(X.shape[1]))).sum(1))) > most:
        return None
    rows, places = np.unique(X, axis=0, return_inverse=True)
    return None if len(rows) > most else (rows, places.reshape(-1))
