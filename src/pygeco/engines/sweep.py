"""The half-sweep: one small ridge problem for every row, solved a register's width at a time.

For row i with cells E_i, partners P_j and targets r_e = y_e − offset_j the system is
Λ_i = ridge_i prior + τ Σ_j w_e (P_j P_jᵀ + diag(W_j)),  b_i = ridge_i shift + τ Σ_j w_e r_e P_j.
Partners are gathered into a block and multiplied as tiles; the systems of `lanes` rows are then
factorised together, one row a lane. |E| s² + m s³/3 multiply-adds.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from pygeco.engines.simd import (
    BYTES,
    TILE,
    gram_tile,
    project,
    scale_row,
    subtract_dot,
    subtract_multiple,
)

CHUNK = 128  # partners gathered at once: with s = 64 floats they fill half of a 64 KiB cache
_FAST = {"reassoc", "contract", "nsz"}


@njit(inline="always")
def _gather(indices, values, weights, start, count, P, width, offset, X, factors, roots, totals):
    """√w P_j into X, √w r and √w into the factors; Σ w r², Σ w r and Σ w into the totals."""
    squares, plain, heavy = 0.0, 0.0, 0.0
    for t in range(count):
        e = np.uint64(start + t)
        j = np.uint32(indices[e])
        root = P.dtype.type(math.sqrt(weights[e])) if len(weights) else P.dtype.type(1)
        r = root * P.dtype.type(values[e] - offset[j])
        factors[np.uint64(t)], roots[np.uint64(t)] = r, root
        squares += r * r
        plain += root * r
        heavy += root * root
        scale_row(P, np.int64(j) * width, root, X, t * width, width)
    totals[0] += squares
    totals[1] += plain
    totals[2] += heavy


@njit(inline="always")
def _gather_variances(indices, start, count, W, width, roots, offset_variance, X, totals):
    """√w W_j into X; Σ w Var(offset_j) into the totals."""
    offsets = 0.0
    for t in range(count):
        j = np.uint32(indices[np.uint64(start + t)])
        root = roots[np.uint64(t)]
        offsets += root * root * offset_variance[j]
        scale_row(W, np.int64(j) * width, root, X, t * width, width)
    totals[0] += offsets


@njit(inline="always")
def _accumulate(
    indices, values, weights, start, stop, P, W, width, height, offset, offset_variance,
    X, factors, roots, G, sides, sums, spread, totals,
):  # fmt: skip
    """One row's Gram, right side and sums, a chunk of its cells at a time."""
    lanes = BYTES // P.itemsize
    G[:] = 0
    sides[:] = 0
    sums[:] = 0
    spread[:] = 0
    totals[:] = 0
    for at in range(start, stop, CHUNK):
        count = min(CHUNK, stop - at)
        _gather(indices, values, weights, at, count, P, width, offset, X, factors, roots, totals)
        for q in range(0, width, lanes):
            project(X, width, count, q, factors, sides)
            project(X, width, count, q, roots, sums)
            for k in range(q, height, TILE):
                gram_tile(X, width, count, k, q, G)
        if len(W):
            _gather_variances(indices, at, count, W, width, roots, offset_variance, X, totals)
            for q in range(0, width, lanes):
                project(X, width, count, q, roots, spread)


@njit(inline="always")
def _place(M, lane, lanes, s, bias, G, width, sides, sums, spread, totals, tau):
    """One row's τ Σ w P Pᵀ into its lane, row-wise from 0, and τ Σ w r P as row d."""
    d = s + bias
    for k in range(s):
        for q in range(k):
            M[(k * d + q) * lanes + lane] = tau * G[k * width + q]
        M[(k * d + k) * lanes + lane] = tau * (G[k * width + k] + spread[k])
        M[(d * d + k) * lanes + lane] = tau * sides[k]
    if bias:
        for q in range(s):
            M[(s * d + q) * lanes + lane] = tau * sums[q]
        M[(s * d + s) * lanes + lane] = tau * totals[2]
        M[(d * d + s) * lanes + lane] = tau * totals[1]


@njit(inline="always")
def _add_prior(M, d, lanes, prior, shift, ridge, pull, start):
    """ridge · prior and pull · I to the systems, ridge · shift and pull · start to the sides."""
    for k in range(d):
        for q in range(k + 1):
            for t in range(lanes):
                M[(k * d + q) * lanes + t] += ridge[t] * prior[k, q]
        for t in range(lanes):
            M[(k * d + k) * lanes + t] += pull[t]
            M[(d * d + k) * lanes + t] += ridge[t] * shift[k] + pull[t] * start[t, k]


@njit(inline="always")
def _factorise(M, inverse, d, lanes):
    """Cholesky of `lanes` systems; the right sides, as row d, become L⁻¹ b on the way."""
    for k in range(d + 1):
        for q in range(min(k, d)):
            at = k * d + q
            subtract_dot(M, at, k * d, q * d, q)
            for t in range(lanes):
                M[at * lanes + t] *= inverse[q * lanes + t]
        if k < d:
            at = k * d + k
            subtract_dot(M, at, k * d, k * d, k)
            for t in range(lanes):
                inverse[k * lanes + t] = 1 / math.sqrt(max(M[at * lanes + t], M.dtype.type(1e-30)))


@njit(inline="always")
def _back(M, row, inverse, d, lanes):
    """L⁻ᵀ times a row, in its place."""
    for k in range(d - 1, -1, -1):
        at = row * d + k
        for t in range(lanes):
            M[at * lanes + t] *= inverse[k * lanes + t]
        subtract_multiple(M, row * d, k * d, at, k)


@njit(inline="always")
def _invert(M, inverse, d, lanes):
    """L⁻¹ in the place of L. Row d + 1 is scratch."""
    scratch = (d + 1) * d
    for k in range(d):
        for q in range(k * lanes):
            M[scratch * lanes + q] = M[k * d * lanes + q]
            M[k * d * lanes + q] = 0
        for q in range(k):
            subtract_multiple(M, k * d, q * d, scratch + q, q + 1)
        for q in range(k):
            for t in range(lanes):
                M[(k * d + q) * lanes + t] *= inverse[k * lanes + t]
        for t in range(lanes):
            M[(k * d + k) * lanes + t] = inverse[k * lanes + t]


@njit(inline="always")
def _variances(M, d, lanes, out):
    """out[q] = Σ_k L⁻¹[k, q]², the diagonal of Λ⁻¹, from L⁻¹ in M."""
    out[:] = 0
    for k in range(d):
        for q in range(k + 1):
            for t in range(lanes):
                out[q * lanes + t] += M[(k * d + q) * lanes + t] * M[(k * d + q) * lanes + t]


@njit(inline="always")
def _draw(M, inverse, d, lanes, rows, first, noise, mean):
    """The means to `mean`, and the noise added to row d, where L⁻ᵀ is still to come."""
    for k in range(d):
        for lane in range(rows):
            at = (d * d + k) * lanes + lane
            M[at + d * lanes] = M[at]
            M[at] += noise[first + lane, k]
    _back(M, d + 1, inverse, d, lanes)
    for lane in range(rows):
        for k in range(d):
            mean[first + lane, k] = M[(d * d + d + k) * lanes + lane]


@njit(inline="always")
def _finish(M, inverse, d, lanes, rows, first, tau, total, out):
    """The solutions to `out`; xᵀΛx / τ to the totals."""
    # xᵀΛx = ‖Lᵀx‖², and Lᵀx stands in row d now: no second use of the Grams is needed.
    for k in range(d):
        for lane in range(rows):
            total[lane] += M[(d * d + k) * lanes + lane] ** 2 / tau
    _back(M, d, inverse, d, lanes)
    for lane in range(rows):
        for k in range(d):
            out[first + lane, k] = M[(d * d + k) * lanes + lane]


@njit(inline="always")
def _error(x, d, prior, kept, weight, tau):
    """What xᵀΛx / τ counts too much: 2 xᵀb and the prior's share."""
    error = 0.0
    for k in range(d):
        own = 0.5 * prior[k, k] * x[k]
        for q in range(k):
            own += prior[k, q] * x[q]
        error += 2 * x[k] * (kept[k] + weight * own / tau)
    return error


@njit(cache=True, parallel=True, fastmath=_FAST)
def half_sweep(
    pointers, indices, values, weights, blocks,
    P, width, s, bias, W, offset, offset_variance, ridge, prior, shift, tau, jitter, noise,
    out, mean, variance, errors,
):  # fmt: skip
    """Solve every row's system into `out` (m, s + bias), which holds the start on entry.

    P is (n, width), flat, the width a multiple of the lanes, with zeros beyond s; `bias` adds a
    last unknown whose partner is the constant 1, d = s + bias. W, like P, holds the partners'
    variances, and `variance` (m, d) takes the rows' own; both are empty where there are none.
    A `noise` of standard normals draws from the posterior; its mean then goes to `mean`. `jitter`
    pulls a singular system to its start. Of `prior` (d, d) the lower half is read. errors_i is
    Σ w E[(y − ŷ)²] over the row.
    """
    lanes = BYTES // P.itemsize
    d = s + bias
    height = -(-s // TILE) * TILE
    for b in prange(len(blocks) - 1):
        X = np.empty(CHUNK * width, P.dtype)
        factors, roots = np.empty(CHUNK, P.dtype), np.empty(CHUNK, P.dtype)
        G = np.empty(width * width, P.dtype)
        sides, sums = np.empty(width, P.dtype), np.empty(width, P.dtype)
        spread = np.empty(width, P.dtype)
        M = np.zeros((d + 2) * d * lanes, P.dtype)
        inverse = np.empty(d * lanes, P.dtype)
        diagonal, kept = np.empty((lanes, d)), np.empty((lanes, d))
        own = np.empty(d * lanes, P.dtype)
        total, totals = np.empty(lanes), np.empty(3)
        weight, pull = np.ones(lanes, P.dtype), np.zeros(lanes, P.dtype)
        start = np.zeros((lanes, d), P.dtype)
        for first in range(blocks[b], blocks[b + 1], lanes):
            rows = min(lanes, blocks[b + 1] - first)
            for lane in range(rows):
                i = first + lane
                _accumulate(
                    indices, values, weights, pointers[i], pointers[i + 1], P, W, width, height,
                    offset, offset_variance, X, factors, roots, G, sides, sums, spread, totals,
                )  # fmt: skip
                _place(M, lane, lanes, s, bias, G, width, sides, sums, spread, totals, tau)
                total[lane], weight[lane], pull[lane] = totals[0], ridge[i], 0
                for k in range(s):
                    diagonal[lane, k], kept[lane, k] = G[k * width + k] + spread[k], sides[k]
                    pull[lane] += jitter * tau * G[k * width + k] / s
                if bias:
                    diagonal[lane, s], kept[lane, s] = totals[2], totals[1]
                for k in range(d):
                    start[lane, k] = out[i, k]
            _add_prior(M, d, lanes, prior, shift, weight, pull, start)
            _factorise(M, inverse, d, lanes)
            if len(noise):
                _draw(M, inverse, d, lanes, rows, first, noise, mean)
            _finish(M, inverse, d, lanes, rows, first, tau, total, out)
            if len(variance):
                _invert(M, inverse, d, lanes)
                _variances(M, d, lanes, own)
                for lane in range(rows):
                    for q in range(d):
                        variance[first + lane, q] = own[q * lanes + lane]
                        total[lane] += own[q * lanes + lane] * diagonal[lane, q]
            for lane in range(rows):
                i = first + lane
                errors[i] = total[lane] - _error(out[i], d, prior, kept[lane], weight[lane], tau)
