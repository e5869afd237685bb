"""EASE: a linear autoencoder without a hidden layer, in closed form.

H. Steck, "Embarrassingly shallow autoencoders for sparse data", WWW 2019; arXiv:1905.03375.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from pygeco.arrays.kinds import parts
from pygeco.arrays.low_rank import Array
from pygeco.rivals.click_scores import ClickScores, take_clicks

MAX_COLUMNS = 50_000  # of a dense n × n matrix: 10 GB in float32, 20 GB in float64
MAX_BLOCK = 8192  # of a matrix that LAPACK inverts at once
LINES_AT_ONCE = 512  # of that matrix, for passes beside the factorization


@dataclass(frozen=True, eq=False)
class Ease(ClickScores):
    """Scores X B with B = I − P diag(P)⁻¹, whose diagonal is zero.

    Attributes
    ----------
    clicks : sparse matrix (m, n)
        Ones where a row clicked.
    weights : array (n, n)
        B.
    """

    weights: Array

    def score_clicks(self, X: Any) -> Array:
        return np.asarray(X @ self.weights)


def ease(
    clicks: Any, alpha: float = 500.0, *, dtype: Any = np.float64, max_columns: int = MAX_COLUMNS
) -> Ease:
    """Minimize ‖X − X B‖² + α‖B‖² such that diag(B) = 0.

    With P = (XᵀX + α I)⁻¹ it is B_ij = −P_ij / P_jj for i ≠ j (equation 8). O(n³), and one dense
    n × n matrix in memory.

    Parameters
    ----------
    clicks : sparse matrix or array (m, n)
        X: what is not zero is a click, and counts one.
    alpha : float, default=500.0
        α, λ in the paper.
    dtype : type, default=numpy.float64
        Of B: float32 takes half of the memory and of the time.
    max_columns : int, default=50_000
        More are refused.

    Returns
    -------
    Ease

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.rivals import ease
    >>> ease(np.array([[1, 1, 0], [1, 1, 1]]), 1.0).weights.round(2)[0]
    array([0. , 0.6, 0.2])
    """
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype: expected float32 or float64, not {dtype}.")
    if not (isinstance(alpha, (int, float, np.number)) and np.isfinite(alpha) and alpha > 0):
        raise ValueError(f"alpha: expected a number above 0, not {alpha!r}.")
    X = take_clicks(clicks, dtype=dtype)
    n = X.shape[1]
    if n > max_columns:
        raise ValueError(
            f"clicks: EASE keeps a dense matrix of {n:,} × {n:,} numbers, "
            f"{n * n * dtype.itemsize / 1e9:.1f} GB, in memory; it is refused above "
            f"{max_columns:,} columns, unless max_columns says otherwise."
        )
    P = _invert(_gram(X), alpha)
    scale = -1 / np.diagonal(P)
    P *= scale
    np.fill_diagonal(P, 0)
    return Ease(X, P)


def _gram(X: Any) -> Array:
    """XᵀX, dense, a few lines at a time."""
    n = X.shape[1]
    G = np.empty((n, n), X.dtype)
    lines = X.T.tocsr()
    for part in parts(n, LINES_AT_ONCE):
        G[part] = (lines[part] @ X).toarray()
    return G


def _invert(G: Array, alpha: float) -> Array:
    """(G + α I)⁻¹ in the place of a symmetric G."""
    G.reshape(-1)[:: len(G) + 1] += alpha
    _invert_block(G)
    return G


def _invert_block(A: Array) -> None:
    """The inverse of a definite matrix in its place: by Cholesky, or by halves where it is large.

    With T = A₂₁ A₁₁⁻¹ and S = A₂₂ − T A₂₁ᵀ the blocks are A₁₁⁻¹ + Tᵀ S⁻¹ T, −S⁻¹ T and S⁻¹. LAPACK
    has been seen to crash with several threads at matrices of more than 10 GB.
    """
    n = len(A)
    if n <= MAX_BLOCK:
        _invert_by_cholesky(A)
        return
    half = n // 2
    first, last = A[:half, :half], A[half:, half:]
    _invert_block(first)
    T = A[half:, :half] @ first
    last -= T @ A[:half, half:]
    _invert_block(last)
    np.matmul(last, T, out=A[half:, :half])
    first += T.T @ A[half:, :half]
    np.negative(A[half:, :half], out=A[half:, :half])
    A[:half, half:] = A[half:, :half].T


def _invert_by_cholesky(A: Array) -> None:
    single = A.dtype == np.float32
    factor, invert = (lapack.spotrf, lapack.spotri) if single else (lapack.dpotrf, lapack.dpotri)
    C, wrong = factor(np.array(A, order="F"), lower=True, overwrite_a=True, clean=False)
    if wrong:
        raise ValueError("alpha: too small for this dtype; XᵀX + α I is not definite.")
    P, _ = invert(C, lower=True, overwrite_c=True)
    for part in parts(len(P), LINES_AT_ONCE):  # the other half is that of A still
        A[part, : part.start] = P[part, : part.start]
        A[: part.start, part] = P[part, : part.start].T
        A[part, part] = np.tril(P[part, part]) + np.tril(P[part, part], -1).T
