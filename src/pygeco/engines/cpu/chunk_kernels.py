"""What a pass over cells does inside one chunk of groups (numba, one thread, no GIL).

The loss itself is not here: it is evaluated between these kernels, as array formulas on a chunk
that fits in the cache (see `separable`). Pointers are absolute; `out`, `h` and `g` start at the
chunk's first cell.
"""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.keeping import njit

_FAST = {"reassoc", "contract", "nsz"}

# An unsigned index spares numba's test for a negative one.
_ONE, _TWO = np.uint64(1), np.uint64(2)

# Cells that are gathered together: long enough for vector sums, short enough for the first cache.
TILE = 64


@njit(cache=True, nogil=True, fastmath=_FAST)
def predictions(pointers, indices, first, last, P, Q, out):
    """out_e = ⟨P_i, Q_j⟩ for the cells of groups i = first … last − 1. O(s) each."""
    s, base = np.uint64(P.shape[1]), np.uint64(pointers[first])
    for i in range(np.uint64(first), np.uint64(last)):
        for e in range(np.uint64(pointers[i]), np.uint64(pointers[i + _ONE])):
            j = np.uint32(indices[e])
            z = P.dtype.type(0.0)
            for k in range(s):
                z += P[i, k] * Q[j, k]
            out[e - base] = z


@njit(cache=True, nogil=True)
def group_sums(pointers, first, last, x, out):
    """out_i = Σ x over the cells of group i."""
    base = pointers[first]
    for i in range(first, last):
        total = 0.0
        for e in range(pointers[i], pointers[i + 1]):
            total += x[e - base]
        out[i] = total


@njit(cache=True, nogil=True, fastmath=_FAST, _nrt=True)  # it has arrays of its own
def systems(pointers, indices, first, last, Q, h, g, grams, sides):
    """grams_i = Σ h q_j q_jᵀ and sides_i = Σ g q_j, q_j the leading entries of Q_j. O(s²) a cell.

    Without `h` and `grams` (length zero) only the sides. Cells are gathered a tile at a time and
    transposed, so that every sum runs along the tile: cell by cell takes five times as long.
    """
    s, base = sides.shape[1], pointers[first]
    T, W = np.zeros((s, TILE)), np.zeros((s, TILE))
    ht, gt = np.zeros(TILE), np.zeros(TILE)
    for i in range(first, last):
        grams[i], sides[i] = 0.0, 0.0
        for start in range(pointers[i], pointers[i + 1], TILE):
            count = min(TILE, pointers[i + 1] - start)
            ht[count:] = 0.0
            gt[count:] = 0.0
            for t in range(count):
                j = np.uint32(indices[start + t])
                gt[t] = g[start + t - base]
                if len(h):
                    ht[t] = h[start + t - base]
                for k in range(s):
                    T[k, t] = Q[j, k]
            for k in range(s):
                total = 0.0
                for t in range(TILE):
                    W[k, t] = ht[t] * T[k, t]
                    total += gt[t] * T[k, t]
                sides[i, k] += total
            if len(h):
                _tile_gram(T, W, grams[i])
        for k in range(grams.shape[1]):
            for q in range(k):
                grams[i, q, k] = grams[i, k, q]


@njit(inline="always")
def _tile_gram(T, W, gram):
    """The lower triangle of gram += T Wᵀ, two columns at a time so that T's row is read once."""
    for k in range(len(T)):
        for q in range(0, k, 2):
            a, b = 0.0, 0.0
            for t in range(TILE):
                a += T[k, t] * W[q, t]
                b += T[k, t] * W[q + 1, t]
            gram[k, q] += a
            gram[k, q + 1] += b
        if k % 2 == 0:
            a = 0.0
            for t in range(TILE):
                a += T[k, t] * W[k, t]
            gram[k, k] += a
