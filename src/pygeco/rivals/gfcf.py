"""GF-CF: a low-pass filter over the graph of columns.

Y. Shen, Y. Wu, Y. Zhang, C. Shan, J. Zhang, K. B. Letaief and D. Li, "How powerful is graph
convolution for recommendation?", CIKM 2021; arXiv:2108.07567.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from pygeco.arrays.checks import check_rank
from pygeco.arrays.kinds import parts
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.rivals.click_scores import ClickScores, take_clicks

ROWS_AT_ONCE = 32  # so that their part of a dense m × rows matrix stays in the cache


@dataclass(frozen=True, eq=False)
class GraphFilter(ClickScores):
    """Scores x (R̃ᵀR̃ + w D^-½ V Vᵀ D^½) of a row with the clicks x.

    Attributes
    ----------
    clicks : sparse matrix (m, n)
        Ones where a row clicked.
    normalized : sparse matrix
        R̃ of the rows of the fit.
    basis : array (n, rank)
        V, the leading right singular vectors of R̃.
    roots : array (n,)
        The diagonal of D^½, square roots of how many rows clicked each column.
    weight : float
        w.
    """

    normalized: Any
    basis: Array
    roots: Array
    weight: float

    def score_clicks(self, X: Any) -> Array:
        R = self.normalized.T.tocsr()
        alike = (X @ R).tocsr()
        out = np.empty(X.shape)
        for part in parts(len(out), ROWS_AT_ONCE):
            out[part] = (R @ np.ascontiguousarray(alike[part].toarray().T)).T
        if self.basis.shape[1]:
            low = (X.multiply(_invert(self.roots)).tocsr() @ self.basis) @ self.basis.T
            low *= self.weight * self.roots
            out += low
        return out


def gfcf(clicks: Any, rank: int = 256, *, weight: float = 0.3) -> GraphFilter:
    """Filter a row's clicks over the graph of columns (equation 8), without any training.

    R̃ = D_u^-½ R D_i^-½ with the counts of rows and columns; scores are
    r (R̃ᵀR̃ + w D_i^-½ V Vᵀ D_i^½), a linear filter and an ideal low-pass one.

    Parameters
    ----------
    clicks : sparse matrix or array (m, n)
        R: what is not zero is a click, and counts one.
    rank : int, default=256
        Columns of V; 0 leaves the ideal filter out.
    weight : float, default=0.3
        w, α in the paper.

    Returns
    -------
    GraphFilter

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.rivals import gfcf
    >>> gfcf(np.array([[1, 1, 0], [0, 1, 1]]), rank=1).score_rows(np.array([0])).round(2)
    array([[1.  , 1.15, 0.5 ]])
    """
    if not isinstance(weight, (int, float, np.number)) or not np.isfinite(weight):
        raise ValueError(f"weight: expected a finite number, not {weight!r}.")
    R = take_clicks(clicks)
    rank = check_rank(rank, least=0)
    rows, cols = (np.asarray(R.sum(axis=side), dtype=float).reshape(-1) for side in (1, 0))
    normalized = (sp.diags(_invert(np.sqrt(rows))) @ R @ sp.diags(_invert(np.sqrt(cols)))).tocsr()
    basis = _find_basis(normalized, min(rank, *R.shape))
    return GraphFilter(R, normalized, basis, np.sqrt(cols), weight)


def _find_basis(R: Any, rank: int) -> Array:
    """The leading right singular vectors; whole decompositions where the matrix is small."""
    if not rank:
        return np.zeros((R.shape[1], 0))
    if rank >= min(R.shape) - 1:
        return np.ascontiguousarray(np.linalg.svd(R.toarray(), full_matrices=False)[2][:rank].T)
    start = stream(Purpose.RIVAL).standard_normal(min(R.shape))
    return np.ascontiguousarray(svds(R, rank, v0=start, return_singular_vectors="vh")[2].T)


def _invert(x: Array) -> Array:
    """1 / x, and 0 where x is."""
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)
