"""A low-rank matrix, kept as its factors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.kinds import (
    HOST,
    Array,
    contiguous,
    empty,
    foreign,
    inner,
    on,
    ones,
    parts,
    scaled,
    stack,
    times,
    zeros,
)
from pygeco.arrays.linalg import qr
from pygeco.arrays.short_repr import show_size

__all__ = ["Array", "LowRank"]

BLOCK = 1 << 16  # cells that are gathered at once
PAIRS = 1 << 10  # of them whose rows stay in the cache of a core


@dataclass(frozen=True, eq=False)
class LowRank:
    """`A = U diag(s) Vᵀ`, never formed.

    U (m, k) and V (n, k) have orthonormal columns unless the correction is diagonal, in
    which case the columns have norm one only; `svd()` gives the orthonormal form of either.

    Parameters
    ----------
    U : array (m, k)
        Of any kind: NumPy's, or a device's.
    s : array (k,)
        Always on the host.
    V : array (n, k)
        Of the kind of U.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import LowRank
    >>> A = LowRank.from_dense(np.outer([1.0, 2.0], [3.0, 4.0]))
    >>> A.rank, A.shape
    (1, (2, 2))
    >>> A.entries([1], [0]).round(6).tolist()
    [6.0]
    """

    U: Array
    s: Array
    V: Array

    def __repr__(self) -> str:
        return f"LowRank({show_size(self.shape)}, rank {self.rank}, {self.U.dtype})"

    def on_host(self) -> tuple[str, ...]:
        return ("s",)

    @classmethod
    def zero(cls, shape: tuple[int, int], like: Array = HOST) -> LowRank:
        """The zero matrix: rank 0, the start of Algorithm 1."""
        m, n = shape
        return cls(zeros((m, 0), like), np.zeros(0), zeros((n, 0), like))

    @classmethod
    def product(cls, L: Array, R: Array) -> LowRank:
        """L Rᵀ for any two factors; `svd()` makes their columns orthonormal."""
        return cls(L, np.ones(L.shape[1]), R)

    @classmethod
    def within(cls, U: Array, W: Array) -> LowRank:
        """U Wᵀ as `svd()` gives it, where the columns of U are orthonormal already."""
        Q, R = qr(W)
        P, s, Qt = np.linalg.svd(R.T, full_matrices=False)
        return cls(times(U, P), s, times(Q, Qt.T))

    @classmethod
    def from_dense(cls, A: ArrayLike, rank: int | None = None) -> LowRank:
        """The best approximation of a dense matrix at `rank` (its numerical rank by default)."""
        dense = np.asarray(A, dtype=float)
        P, s, Qt = np.linalg.svd(dense, full_matrices=False)
        if rank is None:
            rank = int(np.sum(s > s[:1] * max(dense.shape) * np.finfo(float).eps))
        return cls(P[:, :rank], s[:rank], np.ascontiguousarray(Qt[:rank].T))

    @property
    def shape(self) -> tuple[int, int]:
        return self.U.shape[0], self.V.shape[0]

    @property
    def rank(self) -> int:
        """The number of columns. Trailing singular values may be zero."""
        return len(self.s)

    @property
    def kind(self) -> Array:
        """An array of the factors' kind."""
        return self.U[:0]

    @property
    def left(self) -> Array:
        """U diag(s), so that A = left Vᵀ."""
        return scaled(self.U, self.s)

    @property
    def orthonormal(self) -> bool:
        """Whether the columns of U and of V are orthonormal and s ≥ 0. O((m + n) k²)."""
        eye = np.eye(self.rank)
        grams = (inner(self.U, self.U), inner(self.V, self.V))
        return bool(
            np.all(self.s >= 0) and all(np.abs(g - eye).max(initial=0) < 1e-10 for g in grams)
        )

    @property
    def T(self) -> LowRank:
        return LowRank(self.V, self.s, self.U)

    def append(self, u: Array, v: Array) -> LowRank:
        """The same matrix with (u, v) added to the spans, with weight zero.

        A vector already in the span is replaced by another one outside it: the span only
        grows, so whatever a minimization over the larger span guaranteed still holds.
        """
        return LowRank(
            stack([self.U, _orthonormal(self.U, u)]),
            np.append(self.s, 0.0),
            stack([self.V, _orthonormal(self.V, v)]),
        )

    def rotate(self, P: Array, s: Array, Q: Array) -> LowRank:
        """`(U P) diag(s) (V Q)ᵀ`: step 8 of Algorithm 1."""
        return LowRank(times(self.U, P), s, times(self.V, Q))

    def truncate(self, rank: int) -> LowRank:
        """The leading `rank` columns: the best approximation when the columns are orthonormal."""
        return LowRank(
            contiguous(self.U[:, :rank]),
            self.s[:rank],
            contiguous(self.V[:, :rank]),
        )

    def svd(self, dtype: Any = None) -> LowRank:
        """The same matrix with orthonormal columns and s ≥ 0, largest first. O((m + n) k²).

        The columns have this dtype, or else that of U, s and V together.
        """
        Qu, Ru = qr(self.U)
        Qv, Rv = qr(self.V)
        P, s, Qt = np.linalg.svd((Ru * self.s) @ Rv.T, full_matrices=False)
        if dtype is not None:
            P, Qt = P.astype(dtype), Qt.astype(dtype)
        return LowRank(times(Qu, P), s, times(Qv, Qt.T))

    def entries(self, rows: ArrayLike, cols: ArrayLike) -> Array:
        """`A[rows[t], cols[t]]` for each t. O(k) each, in blocks, so memory stays bounded."""
        i, j = np.broadcast_arrays(on(rows, self.U), on(cols, self.U))
        out = empty(i.shape, self.U, np.result_type(self.U, self.V))
        flat, i, j = out.reshape(-1), i.reshape(-1), j.reshape(-1)
        left = self.left
        for part in parts(len(flat), BLOCK):
            flat[part] = multiply_pairs(left, self.V, i[part], j[part])
        return out

    def matvec(self, x: Array) -> Array:
        """`A x`. O((m + n) k)."""
        return self.U @ (on(self.s, self.U) * (self.V.T @ x))

    def rmatvec(self, y: Array) -> Array:
        """`Aᵀ y`. O((m + n) k)."""
        return self.V @ (on(self.s, self.U) * (self.U.T @ y))

    def matmat(self, X: Array) -> Array:
        """`A X` for a few columns."""
        return _pass_through(self.V, self.s, self.U, X)

    def rmatmat(self, Y: Array) -> Array:
        """`Aᵀ Y` for a few columns."""
        return _pass_through(self.U, self.s, self.V, Y)

    def to_dense(self) -> Array:
        """The m × n matrix itself. Everything else in pygeco avoids it."""
        return self.left @ self.V.T

    def astype(self, dtype: np.dtype[Any] | type) -> LowRank:
        return LowRank(self.U.astype(dtype), self.s.astype(dtype), self.V.astype(dtype))


def multiply_pairs(P: Array, Q: Array, i: Any, j: Any) -> Array:
    """⟨P_i, Q_j⟩ for each pair of rows."""
    if foreign(P):
        return np.einsum("tk,tk->t", P[i], Q[j])
    out = np.empty(len(i), np.result_type(P, Q))
    for part in parts(len(out), PAIRS):
        own, other = P.take(i[part], axis=0), Q.take(j[part], axis=0)
        out[part] = np.einsum("tk,tk->t", own, other)
    return out


def _pass_through(V: Array, s: Array, U: Array, X: Array) -> Array:
    """U diag(s) Vᵀ X, which stays where the arrays are."""
    if foreign(U):
        return U @ (on(s, U)[:, None] * (V.T @ X))
    return times(U, s[:, None] * inner(V, X))


def _orthonormal(Q: Array, x: Array) -> Array:
    """The vector x made orthogonal to Q's columns, twice (once is not enough), with norm one."""
    for candidate in _candidates(x, Q.shape[1]):
        size = np.linalg.norm(candidate)
        if not size > 0:
            continue
        y = candidate / size
        y = y - times(Q, inner(Q, y[:, None]))[:, 0]
        again = inner(Q, y[:, None])
        size = np.linalg.norm(y)
        if size > 1e-10:
            y = (y - times(Q, again)[:, 0]) / size
            return y / np.linalg.norm(y)
    raise ValueError(f"rank: {Q.shape[1] + 1} columns do not fit in dimension {len(x)}.")


def _candidates(x: Array, columns: int) -> Iterator[Array]:
    """The vector x, then others, one of them outside any span of this many columns, if any is."""
    yield x
    yield ones(len(x), x)
    for k in range(min(len(x), columns + 1)):
        axis = np.zeros_like(x)
        axis[k] = 1.0
        yield axis
