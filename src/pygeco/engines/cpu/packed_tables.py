"""A half-sweep in two parts: each row's table, which may be summed over slabs, and its solution.

A packed table has Σ w P Pᵀ (its lower half, row by row, with the offset's as the last row), then
Σ w r P, and with variances Σ w W and Σ w Var(offset). See `row_tables` for the letters.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pygeco.engines.cpu.lane_simd import begin_at, fill
from pygeco.engines.cpu.memory import give_back, take_memory
from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.row_tables import CHUNK, SUMS, accumulate, tables
from pygeco.engines.cpu.vectors import BYTES

TINY = 1e-30  # a pivot below it is none, as in `sweep`


@spread("blocks", ends=1)
def packed_tables(
    b, pointers, indices, values, weights, blocks,
    P, vague, width, s, bias, offsets, out,
):  # fmt: skip
    """Every row's packed table into `out`. |E| s²/2 multiply-adds."""
    d = s + bias
    d4, stride, size = tables(s, d, BYTES // P.itemsize)
    chunk = CHUNK + BYTES // P.itemsize
    taken = take_memory(chunk * (width + 2) + size + width, P.dtype)
    X, factors = taken, begin_at(taken, chunk * width)
    roots = begin_at(factors, chunk)
    table = begin_at(roots, chunk)
    spread = begin_at(table, size)
    totals = take_memory(SUMS, np.float64)
    places = take_memory(chunk, np.int64)
    fill(X, 0, chunk * width, 0)
    for i in range(blocks[b], blocks[b + 1]):
        fill(totals, 0, SUMS, 0)
        accumulate(
            indices, values, weights, pointers[i], pointers[i + 1], P, vague, width, s, bias,
            offsets, X, factors, roots, places, table, stride, d4, size, spread, totals,
        )  # fmt: skip
        at = 0
        for k in range(d):
            for q in range(k + 1):
                out[i, at + q] = table[k * stride + q]
            at += k + 1
        for q in range(d):
            out[i, at + q] = table[d4 * stride + q]
        if vague:
            for q in range(s):
                out[i, at + d + q] = spread[q]
            out[i, at + d + s] = totals[2]
    give_back(taken)
    give_back(totals)
    give_back(places)


@njit(inline="always")
def _system(packed, s, d, known, tau, ridge, prior, shift, pull, start, M, G, x):
    """M = Λ (its lower half, by rows of d), G its data's diagonal, x the right side."""
    at = 0
    for k in range(d):
        for q in range(k + 1):
            M[k * d + q] = ridge * prior[k, q] + tau * packed[at + q]
        at += k + 1
        G[k] = packed[at - 1]
    for k in range(d):
        if known and k < s:
            G[k] += packed[at + d + k]
            M[k * d + k] += tau * packed[at + d + k]
        M[k * d + k] += pull
        x[k] = ridge * shift[k] + tau * packed[at + k] + pull * start[k]
    return at


@njit(inline="always")
def _factorise(M, d, inverse):
    """Cholesky in place, and 1 / L_kk."""
    for k in range(d):
        for q in range(k + 1):
            total = M[k * d + q]
            for t in range(q):
                total -= M[k * d + t] * M[q * d + t]
            if q < k:
                M[k * d + q] = total * inverse[q]
            else:
                inverse[k] = 1 / np.sqrt(max(total, TINY))


@njit(inline="always")
def _forward(M, d, inverse, x, first):
    for k in range(first, d):
        for t in range(first, k):
            x[k] -= M[k * d + t] * x[t]
        x[k] *= inverse[k]


@njit(inline="always")
def _backward(M, d, inverse, x):
    for k in range(d - 1, -1, -1):
        for t in range(k + 1, d):
            x[k] -= M[t * d + k] * x[t]
        x[k] *= inverse[k]


@njit(inline="always")
def _partners_share(packed, at, s, d, x):
    """What the variances of the partners and of their offsets add to Σ w Var(ŷ)."""
    total = packed[at + d + s]
    for k in range(s):
        total += packed[at + d + k] * x[k] * x[k]
    return total


@spread("packed")
def solve_tables(
    i, packed, s, bias, known, start, ridge, prior, shift, tau, jitter, noise,
    out, mean, variance, uncertainty,
):  # fmt: skip
    """Every row's solution from its packed table, in float64; as `sweep.half_sweep` does.

    `shift` is (rows, d), or (1, d) where all have the same.
    """
    d = s + bias
    count = packed.shape[1]
    M = take_memory(d * (d + 4) + count, np.float64)
    G = begin_at(M, d * d)
    x = begin_at(G, d)
    z = begin_at(x, d)
    inverse = begin_at(z, d)
    row = begin_at(inverse, d)
    pull, place, size = 0.0, 0, 0.0
    for k in range(count):  # loops: whole arrays would take numba twice as long to compile
        row[k] = packed[i, k]
    if jitter:
        for k in range(s):
            place += k + 1
            pull += jitter * tau * row[place - 1] / s
    own_shift = shift[i] if len(shift) > 1 else shift[0]
    at = _system(row, s, d, known, tau, ridge[i], prior, own_shift, pull, start[i], M, G, x)
    _factorise(M, d, inverse)
    _forward(M, d, inverse, x, 0)
    if len(noise):
        for k in range(d):
            mean[i, k] = x[k]
            x[k] += noise[i, k]
        _backward(M, d, inverse, mean[i])
    _backward(M, d, inverse, x)
    for k in range(d):
        size += abs(x[k])
    for k in range(d):
        out[i, k] = x[k] if size <= np.finfo(out.dtype).max else start[i, k]
    uncertainty[i] = _partners_share(row, at, s, d, out[i]) if known else 0.0
    for q in range(d if len(variance) else 0):
        for k in range(q, d):
            z[k] = 1.0 if k == q else 0.0
        _forward(M, d, inverse, z, q)
        own = 0.0
        for k in range(q, d):
            own += z[k] * z[k]
        variance[i, q] = own
        uncertainty[i] += own * G[q]
    give_back(M)
