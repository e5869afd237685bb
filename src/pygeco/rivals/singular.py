"""Leading singular triplets of an operator (ARPACK, through SciPy), and shrinkage by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, svds

from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Multiple, Operator, Sum

Product = Callable[[Array], Array]


class Triplets(NamedTuple):
    """The leading triplets, largest first, and the products with the operator that they took."""

    A: LowRank
    passes: int


def find_leading(G: Operator, count: int, rng: np.random.Generator) -> Triplets:
    """The leading `count` triplets to the last digits, from products with G and Gᵀ."""
    m, n = G.shape
    short = min(m, n)
    if 2 * count >= short:  # ARPACK finds a part of the triplets, not all of them
        dense = G.matmat(np.eye(n)) if n <= m else G.rmatmat(np.eye(m)).T
        return Triplets(LowRank.from_dense(dense, min(count, short)), short)
    start = rng.standard_normal(short)
    size = float(np.max(np.abs(G.matvec(start) if n <= m else G.rmatvec(start))))
    if size == 0.0:  # ARPACK knows no zero matrix
        return Triplets(LowRank(np.eye(m, count), np.zeros(count), np.eye(n, count)), 1)
    products = [1]

    def counted(product: Product) -> Product:
        def run(x: Array) -> Array:
            products[0] += 1
            return product(np.ravel(x)) / size  # nor a tiny one

        return run

    operator = LinearOperator(G.shape, counted(G.matvec), counted(G.rmatvec), dtype=float)
    U, s, Vt = svds(operator, count, v0=start)
    order = np.argsort(-s)
    return Triplets(LowRank(U[:, order], size * s[order], Vt[order].T.copy()), products[0])


def shrink(
    G: Operator, threshold: float, guess: int, most: int, rng: np.random.Generator
) -> Triplets:
    """D_τ(G) = Σ max(σ − τ, 0) u vᵀ, its rank at most `most`.

    `guess` triplets are computed, then five more at a time until one is below the threshold
    (Cai, Candès and Shen 2010, section 5.1.1).
    """
    count, passes = min(guess, most), 0
    while True:
        A, more = find_leading(G, count, rng)
        passes += more
        if count == most or A.s[-1] <= threshold:
            break
        count = min(count + 5, most)
    kept = int(np.count_nonzero(A.s > threshold))
    A = A.truncate(kept)
    return Triplets(LowRank(A.U, A.s - threshold, A.V), passes)


def step_back(A: LowRank, G: Operator, beta: float) -> Operator:
    """A − G/β: a low-rank matrix minus a sparse one, never formed."""
    return Sum(A, Multiple(G, -1 / beta))


def distance(A: LowRank, B: LowRank) -> float:
    """‖A − B‖_F from the factors. O((m + n) k²)."""
    both = LowRank(
        np.column_stack([A.U, B.U]), np.concatenate([A.s, -B.s]), np.column_stack([A.V, B.V])
    )
    return float(np.linalg.norm(both.svd().s))
