"""Islands of a fit: what their own cells do not tell, and what the priors may not settle.

On an island, rows and columns that share no cell with the others,

    u' = Aᵀu + d,  b' = b − uᵀA e − t,    v' = A⁻¹v + e,  c' = c − dᵀ(A⁻¹v + e) + t

change no prediction, for any A, d, e and t. With noise the priors settle these in a few sweeps;
with next to none they have no say beside the cells. What an island began with stays then: vectors
of any size, whose products with those of other islands are of any size too. Such an island is
turned beside the largest one, as if both were of one kind: their vectors have one mean, and
N = cov u and M = cov v stand to each other as there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host, on
from pygeco.arrays.low_rank import Array
from pygeco.bayes.posterior import Posterior, update_priors
from pygeco.bayes.priors import FLOAT, Gaussian
from pygeco.bayes.sweep import sweep
from pygeco.objectives.entries.half_sweep import Side
from pygeco.objectives.entries.objective import Entries
from pygeco.objectives.islands import Islands

# Mean squares between two islands, in those on either: of 36 sets of groups without noise, 31 have
# at most 3, and five 6 to 9000.
MAX_BETWEEN = 4.0
MAX_COMPARED = 256  # of the largest islands, beside which another is looked at
MIN_EIGENVALUE = 1e-12  # of a covariance, as a share of its largest

Members = list[NDArray[np.integer]]


class Balance(NamedTuple):
    """A and its inverse with AᵀNA = A⁻¹MA⁻ᵀ."""

    turn: Array
    inverse: Array


class Island(NamedTuple):
    """The rows and the columns of an island."""

    rows: Side
    cols: Side

    def moments(self) -> tuple[Array, Array]:
        """Means of p pᵀ and of q qᵀ, where z = pᵀq with p = (u, b, 1) and q = (v, 1, c)."""
        (u, b, *_), (v, c, *_) = self
        P = np.column_stack([u, b, np.ones(len(b))])
        Q = np.column_stack([v, np.ones(len(c)), c])
        return P.T @ P / len(P), Q.T @ Q / len(Q)

    def balance(self) -> Balance:
        """A is symmetric, and A² the geometric mean of N⁻¹ and M."""
        N, M = map(_measure_covariance, self)
        root, inverse = _raise(N, 0.5), _raise(N, -0.5)
        square = inverse @ _raise(root @ M @ root, 0.5) @ inverse
        return Balance(_raise(square, 0.5), _raise(square, -0.5))

    def turn_beside(self, other: Island, priors: tuple[Gaussian, Gaussian]) -> Island:
        """The same predictions, with vectors and offsets like the other's.

        Offsets that are switched off stay zero, and means that they would have to make up for.
        """
        (A, B), (E, F) = self.balance(), other.balance()
        A, B = A @ F, E @ B
        (u, b, w, r), (v, c, x, q) = self
        u, v, w, x = u @ A, v @ B.T, _turn_variances(w, B), _turn_variances(x, A.T)
        d = (other.rows.factor.mean(axis=0) - u.mean(axis=0)) * priors[1].offset
        e = (other.cols.factor.mean(axis=0) - v.mean(axis=0)) * priors[0].offset
        b, c = b - u @ e, c - (v + e) @ d
        if priors[0].offset and priors[1].offset:
            row, col = (
                len(bias) * prior.precision[-1, -1]
                for bias, prior in zip((b, c), priors, strict=True)
            )
            above, beyond = b.mean() - other.rows.bias.mean(), c.mean() - other.cols.bias.mean()
            t = (row * above - col * beyond) / (row + col)
            b, c = b - t, c + t
        return Island(Side(u + d, b, w, r), Side(v + e, c, x, q))


def settle_islands(data: Entries, now: Posterior) -> Posterior:
    """The posterior with strange islands turned beside the largest, and one more sweep.

    As it was where there is none.
    """
    if data.islands is None or now.rank == 0:
        return now
    turned = turn_strange(now, data.islands)
    return now if turned is now else sweep(data, turned)[0]


def turn_strange(now: Posterior, islands: Islands) -> Posterior:
    """Islands whose products with larger ones are too large beside the largest; priors follow."""
    priors = now.row_prior, now.col_prior
    sides = [Side(*(host(x).astype(float) for x in side)) for side in (now.rows, now.cols)]
    parts = [
        _list_members(names, host(prior.some), islands.total)
        for names, prior in zip(islands[1:], priors, strict=True)
    ]
    sizes = [len(i) + len(j) for i, j in zip(*parts, strict=True)]
    order = np.argsort(np.negative(sizes), kind="stable")
    largest = _take(sides, parts, int(order[0]))
    P, Q = (np.zeros((MAX_COMPARED, now.rank + 2, now.rank + 2)) for _ in sides)
    is_turned = False
    for place, k in enumerate(order):
        island = _take(sides, parts, int(k))
        known = min(place, MAX_COMPARED)
        if _is_strange(island, P[:known], Q[:known]):
            is_turned, island = True, island.turn_beside(largest, priors)
            for side, part, found in zip(sides, parts, island, strict=True):
                for old, new in zip(side, found, strict=True):
                    old[part[k]] = new
        if place < MAX_COMPARED:
            P[place], Q[place] = island.moments()
    if not is_turned:
        return now
    rows, cols = (Side(*(on(x.astype(FLOAT), now.rows.bias) for x in side)) for side in sides)
    return update_priors(replace(now, rows=rows, cols=cols))


def _is_strange(island: Island, P: Array, Q: Array) -> bool:
    """Whether what is said between it and islands of these moments is far beyond both."""
    left, right = island.moments()
    own = max(float(np.sum(left * right)), 1.0)  # in variances of the data
    theirs = np.sum(P * Q, axis=(1, 2))
    between = np.maximum(np.sum(left * Q, axis=(1, 2)), np.sum(P * right, axis=(1, 2)))
    return bool((between > MAX_BETWEEN * np.maximum(theirs, own)).any())


def _take(sides: list[Side], parts: list[Members], k: int) -> Island:
    rows, cols = (
        Side(*(x[part[k]] for x in side)) for side, part in zip(sides, parts, strict=True)
    )
    return Island(rows, cols)


def _raise(S: Array, power: float) -> Array:
    """A power of a symmetric matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    least = max(MIN_EIGENVALUE * float(values[-1]), np.finfo(float).tiny)
    found: Array = (vectors * np.maximum(values, least) ** power) @ vectors.T
    return found


def _measure_covariance(side: Side) -> Array:
    rest = side.factor - side.factor.mean(axis=0)
    return (rest.T @ rest) / len(rest) + np.diag(side.variance.mean(axis=0))


def _turn_variances(w: Array, inverse: Array) -> Array:
    """Those of independent numbers in another basis that are nearest to a Gaussian of these.

    They are 1 / diag(Aᵀ diag(w) A)⁻¹. The diagonal itself is far too large where some w are small.
    """
    found: Array = 1 / ((1 / np.maximum(w, np.finfo(FLOAT).tiny)) @ (inverse**2).T)
    return found


def _list_members(names: NDArray[np.integer], some: NDArray[np.bool_], total: int) -> Members:
    """The rows of each island that have cells."""
    order = np.argsort(names, kind="stable")
    order = order[some[order]]
    return np.split(order, np.searchsorted(names[order], np.arange(1, total)))
