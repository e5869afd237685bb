"""Dense linear algebra: small systems with a defined outcome for singular input, tall factors."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy  # its parts are imported when used
from numpy.typing import NDArray

from pygeco.arrays.kinds import Array, foreign, host, inner, parts, scaled, stack, times

# The least squared pivot of CholeskyQR in roundings: with less, two passes are not enough.
CONDITION = 1e5
# Numbers from which CholeskyQR is the faster method on the host: by a factor of 5 to 8.
LARGE = 1 << 16
# The least pivot for which double precision is enough, and rows that it takes at a time.
CAREFUL_PIVOT, CAREFUL_ROWS = 1e-4, 8192
# The least eigenvalue of a Gram of columns of length one that is more than the rounding of theirs.
LEAST_EIGENVALUE = {"f": 1e-5, "d": 1e-12}
# Up to this condition of the Gram, one pass is enough: Q is orthonormal to as many roundings.
EASY = 16.0
MAX_MEDIAN_STEPS = 100  # of Weiszfeld, which converges linearly


def solve_psd(M: Array, force: Array) -> Array:
    """M⁻¹ force by Cholesky; the least-norm solution where M is singular."""
    try:
        factor = scipy.linalg.cho_factor(M)
        x = scipy.linalg.cho_solve(factor, force)
        x = x + scipy.linalg.cho_solve(factor, force - M @ x)
        if np.all(np.isfinite(x)) and np.linalg.norm(force - M @ x) <= 1e-8 * np.linalg.norm(force):
            return x
    except scipy.linalg.LinAlgError:
        pass
    values, vectors = scipy.linalg.eigh(M)
    keep = values > len(M) * np.finfo(float).eps * max(values[-1], 0.0)
    out = vectors[:, keep] @ ((vectors[:, keep].T @ force) / values[keep])
    return out


def invert_gram(G: Array, least: float) -> Array:
    """The inverse of a small Gram of the host, in double precision; of directions in which columns
    depend on each other, up to a `least` eigenvalue of the Gram of columns of length one, none.
    """
    sizes = np.sqrt(np.maximum(np.diag(G), 0.0).astype(float))
    sizes[sizes == 0] = np.inf
    unit = (G + G.T) / (2.0 * np.outer(sizes, sizes))
    np.fill_diagonal(unit, 1.0)
    try:
        np.linalg.cholesky(unit - least * np.eye(len(unit)))
        inverse = np.linalg.inv(unit)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(unit)
        some = vectors[:, values > least]
        inverse = (some / values[values > least]) @ some.T
    return inverse / np.outer(sizes, sizes)


def find_inverse_root(M: Array) -> Array:
    """The lower triangle L with L Lᵀ = M⁻¹, for a small definite M of the host. O(s³).

    With the order turned round, M = R Rᵀ with R an upper triangle, and L = R⁻ᵀ.
    """
    turned = np.linalg.cholesky(M[::-1, ::-1])
    inverse, _ = scipy.linalg.lapack.dtrtri(turned, lower=1)
    return np.ascontiguousarray(inverse.T[::-1, ::-1])


def mirror_lower(M: Array) -> Array:
    """The symmetric matrix with the lower triangle of a small M of the host."""
    return np.where(mark_lower(len(M)), M, M.T)


@lru_cache(maxsize=64)
def mark_lower(size: int) -> NDArray[np.bool_]:
    """True in the lower triangle, with the diagonal. Made once: as long a work as small algebra."""
    return np.tri(size, dtype=bool)


def solve_triangle(L: Array, x: Array) -> Array:
    """L⁻ᵀ x for a small lower triangle of the host."""
    found, _ = scipy.linalg.lapack.dtrtrs(L, x, lower=1, trans=1)
    return found


def qr(X: Array) -> tuple[Array, Array]:
    """Q with orthonormal columns, of the kind of X, and R on the host; X = Q R. O(m s²).

    The diagonal of R is not negative: then both are unique, whatever the method.

    By Cholesky factors of XᵀX, taken twice where X is not near to that form already (CholeskyQR2:
    Yamamoto and others 2015), in a few products that run at the speed of memory: Householder's
    method takes sixty times as long on a device. Where X is too near to singular for that, in
    double precision; where it is small, or nearer, Householder's after all.
    """
    if X.shape[1] and (foreign(X) or X.size >= LARGE):
        found = _cholesky_qr(X) or _careful_qr(X)
        if found is not None:
            return found
    Q, R = np.linalg.qr(X)
    R = host(R)
    signs = np.where(np.diag(R) < 0, -1.0, 1.0).astype(R.dtype)
    return scaled(Q, signs), R * signs[:, None]


def find_triangle(X: Array) -> Array:
    """The R of `qr`, in double precision, on the host; without Q, where Cholesky's is as good."""
    if X.shape[1] and (foreign(X) or X.size >= LARGE):
        found = _factor_gram(inner(X, X).astype(float), float(np.sqrt(np.finfo(X.dtype).eps)))
        if found is not None and _is_easy(*found):
            return found[1]
    return qr(X)[1].astype(float)


def _cholesky_qr(X: Array) -> tuple[Array, Array] | None:
    Q, R = X, np.eye(X.shape[1])
    least = float(np.sqrt(CONDITION * np.finfo(X.dtype).eps))
    for _ in range(2):
        found = _factor_gram(inner(Q, Q).astype(float), least)
        if found is None:
            return None
        unit, step = found
        inverse, _ = scipy.linalg.lapack.dtrtri(step)
        Q, R = times(Q, inverse.astype(X.dtype)), step @ R
        if _is_easy(unit, step):
            break
    return Q, R


def _is_easy(unit: Array, step: Array) -> bool:
    """Whether the condition of a Gram of unit columns is below `EASY`.

    Its eigenvalues are no further from one than it is from the identity; the least is at most the
    least squared pivot, the largest at least one: which often says it at once.
    """
    rest = float(np.linalg.norm(unit - np.eye(len(unit))))
    if 1 + rest < EASY * (1 - rest):
        return True
    pivots = np.diag(step) / np.linalg.norm(step, axis=0)
    if not pivots.min() ** 2 * EASY > 1:
        return False
    values = np.linalg.eigvalsh(unit)
    return bool(values[-1] < EASY * values[0])


def _careful_qr(X: Array) -> tuple[Array, Array] | None:
    """For single precision on the host: the same in double precision, in one pass.

    Q is orthonormal to some 1e-8 where the columns, scaled to one length, have pivots that large.
    """
    if foreign(X) or X.dtype != np.float32:
        return None
    gram = np.zeros((X.shape[1], X.shape[1]))
    for part in parts(len(X), CAREFUL_ROWS):
        rows = stack([X[part]], float)
        gram += inner(rows, rows)
    found = _factor_gram(gram, CAREFUL_PIVOT)
    if found is None:
        return None
    Q, R = np.empty(X.shape, X.dtype), found[1]
    inverse, _ = scipy.linalg.lapack.dtrtri(R)
    for part in parts(len(X), CAREFUL_ROWS):
        Q[part] = times(stack([X[part]], float), inverse)
    return Q, R


def _factor_gram(gram: Array, least: float) -> tuple[Array, Array] | None:
    """A Gram of columns scaled to one length, and R with RᵀR = gram; None where a pivot of the
    scaled one is below `least`.
    """
    sizes = np.sqrt(np.diag(gram))
    if not (np.isfinite(sizes).all() and sizes.min() > 0):
        return None
    unit = gram / np.outer(sizes, sizes)
    try:
        step = np.linalg.cholesky(unit).T
    except np.linalg.LinAlgError:
        return None
    return None if np.diag(step).min() < least else (unit, step * sizes)


def geometric_median(X: Array) -> Array:
    """Argmin_c Σ ‖x_i − c‖ by Weiszfeld's steps: a robust middle that turns with the axes."""
    middle = np.median(X, axis=0)
    for _ in range(MAX_MEDIAN_STEPS):
        sizes = np.linalg.norm(X - middle, axis=1)
        largest = float(sizes.max())
        if largest == 0.0:
            break
        weights = 1 / np.maximum(sizes / largest, 1e-12)
        before, middle = middle, weights @ X / weights.sum()
        if np.linalg.norm(middle - before) <= 1e-10 * largest:
            break
    return middle
