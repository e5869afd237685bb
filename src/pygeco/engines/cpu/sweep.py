"""The half-sweep: one small ridge problem for every row, solved a register's width at a time.

For row i with cells E_i, partners P_j and targets r_e = y_e − offset_j the system is
Λ_i = ridge_i prior + τ Σ_j w_e (P_j P_jᵀ + diag(W_j)),  b_i = ridge_i shift + τ Σ_j w_e r_e P_j.
The sums are a row's table G, see `row_tables`; the systems of `lanes` rows, M, are then factorised
together, one row a lane. |E| s² + m s³/3 multiply-adds.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pygeco.engines.cpu.lane_simd import add_squares, begin_at, fill, solve_back
from pygeco.engines.cpu.memory import give_back, take_memory
from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.row_tables import CHUNK, SUMS, accumulate, tables
from pygeco.engines.cpu.simd import SIDE, factor_corner, place, solve_four, solve_one
from pygeco.engines.cpu.vectors import BYTES


@njit(inline="always")
def _assemble(G, size, M, d, d4, stride, lanes, tau, ridge, prior, rows, spread, width, pull):
    """M = τ tables + ridge prior, one row a lane; variances and the pull go to the diagonal."""
    for k in range(d + 1):
        row, stop = (k, k + 1) if k < d else (d4, d)
        for q in range(0, stop, lanes):
            place(G, size, row * stride + q, M, row * stride + q, tau, ridge, prior)
    for lane in range(rows):
        for k in range(d):
            own = spread[lane * width + k] if k < width else G.dtype.type(0)
            M[(k * stride + k) * lanes + lane] += tau * own + pull[lane]


@njit(inline="always")
def _factorise(M, inverse, d4, stride):
    """Cholesky of `lanes` systems by blocks; the right sides, as row d4, become L⁻¹ b."""
    for k in range(0, d4, SIDE):
        for q in range(0, k, SIDE):
            solve_four(M, k * stride, M, stride, inverse, 0, q)
        factor_corner(M, stride, inverse, k)
    for q in range(0, d4, SIDE):
        solve_one(M, d4 * stride, M, stride, inverse, 0, q)


@njit(inline="always")
def _variances(M, inverse, d4, stride, lanes, Z, out):
    """out[q] = Σ_k L⁻¹[k, q]², the diagonal of Λ⁻¹; Z takes four columns of L⁻¹ at a time."""
    fill(out, 0, d4 * lanes, 0)
    for q in range(0, d4, SIDE):
        fill(Z, 0, SIDE * stride * lanes, 0)
        for i in range(SIDE):
            fill(Z, (i * stride + q + i) * lanes, lanes, 1)
        for k in range(q, d4, SIDE):
            solve_four(Z, 0, M, stride, inverse, q, k)
        for i in range(SIDE):
            add_squares(Z, i * stride + q, d4 - q, out, q + i)


@njit(inline="always")
def _draw(M, inverse, s, d, d4, stride, lanes, rows, first, noise, mean, mean_bias):
    """The means to `mean`, and the noise added to row d4, where L⁻ᵀ is still to come."""
    for k in range(d):
        for lane in range(rows):
            at = (d4 * stride + k) * lanes + lane
            M[at + stride * lanes] = M[at]
            M[at] += noise[first + lane, k]
    solve_back(M, (d4 + 1) * stride, inverse, stride, d)
    for lane in range(rows):
        at = (d4 + 1) * stride * lanes + lane
        for k in range(s):
            mean[first + lane, k] = M[at + k * lanes]
        if d > s:
            mean_bias[first + lane] = M[at + s * lanes]


@njit(inline="always")
def _finish(M, inverse, s, d, d4, stride, lanes, rows, first, out, out_bias):
    """The solutions to `out`, and their last numbers to `out_bias`."""
    solve_back(M, d4 * stride, inverse, stride, d)
    for lane in range(rows):
        size, at = 0.0, d4 * stride * lanes + lane
        for k in range(d):
            size += abs(M[at + k * lanes])
        # Cells whose partners all but vanish ask for numbers beyond the precision: as at the start.
        if size < np.inf:
            for k in range(s):
                out[first + lane, k] = M[at + k * lanes]
            if d > s:
                out_bias[first + lane] = M[at + s * lanes]


@spread("blocks", ends=1)
def half_sweep(
    b, pointers, indices, values, weights, blocks,
    P, vague, width, s, bias, offsets, ridge, prior, shifts, tau, jitter, noise,
    out, out_bias, mean, mean_bias, variance, variance_bias, uncertainty,
):  # fmt: skip
    """Solve every row's system into `out` (m, s) and `out_bias`, which hold the start on entry.

    P is (n, width), flat, the width a multiple of the lanes, with zeros beyond s; `bias` adds a
    last unknown whose partner is the constant 1, d = s + bias. Where `vague` is 1, each vector of P
    is followed by its variances, W; `offsets` (n, 2) are offsets and their variances. `variance`
    (m, s) takes the rows' own, `variance_bias` those of the last unknown, unless they are empty. A
    `noise` (m, d) of standard normals draws from the posterior; its mean then goes to `mean` and
    `mean_bias`. `jitter` pulls a singular system to its start. `prior` is a table like a row's own,
    flat, with the shift as its row d4; its lower half is read. `shifts` (m, d), empty where all are
    the same, are those of the rows beyond it. uncertainty_i is Σ w Var(ŷ) over the row. The
    residuals' own squares are for a pass over the cells: they would drown in these tables.
    """
    lanes = BYTES // P.itemsize
    d = s + bias
    d4, stride, size = tables(s, d, lanes)
    # Of multiples of the lanes: each array begins with a line of the cache.
    chunk, whole, column = CHUNK + lanes, (d4 + 2) * stride * lanes, d4 * lanes
    taken = take_memory(
        chunk * (width + 2) + lanes * (size + width + 2) + whole + (SIDE * stride + 2 * d4) * lanes,
        P.dtype,
    )
    sums = take_memory(2 * lanes, np.float64)
    places = take_memory(chunk, np.int64)
    X, factors = taken, begin_at(taken, chunk * width)
    roots = begin_at(factors, chunk)
    G = begin_at(roots, chunk)
    spread = begin_at(G, lanes * size)
    M = begin_at(spread, lanes * width)
    Z = begin_at(M, whole)
    inverse = begin_at(Z, SIDE * stride * lanes)
    own = begin_at(inverse, column)
    weight = begin_at(own, column)
    pull = begin_at(weight, lanes)
    total, totals = sums, begin_at(sums, lanes)
    fill(X, 0, chunk * width, 0)
    fill(M, 0, whole, 0)
    fill(G, 0, lanes * size, 0)  # of lanes without a row too: no stray number is worked on
    fill(weight, 0, lanes, 1)
    for k in range(d, d4):
        fill(M, (k * stride + k) * lanes, lanes, 1)
    for first in range(blocks[b], blocks[b + 1], lanes):
        rows = blocks[b + 1] - first
        if rows > lanes:
            rows = lanes
        for lane in range(rows):
            i = first + lane
            table = begin_at(G, lane * size)
            fill(totals, 0, SUMS, 0)
            accumulate(
                indices, values, weights, pointers[i], pointers[i + 1], P, vague, width, s, bias,
                offsets, X, factors, roots, places, table, stride, d4, size,
                begin_at(spread, lane * width), totals,
            )  # fmt: skip
            total[lane], weight[lane], pull[lane] = totals[2], ridge[i], 0
            if jitter:
                for k in range(s):
                    pull[lane] += jitter * tau * table[k * stride + k] / s
        _assemble(G, size, M, d, d4, stride, lanes, tau, weight, prior, rows, spread, width, pull)
        for lane in range(rows):
            for k in range(d):
                at = (d4 * stride + k) * lanes + lane
                if jitter:
                    before = out[first + lane, k] if k < s else out_bias[first + lane]
                    M[at] += pull[lane] * before
                if len(shifts):
                    M[at] += weight[lane] * shifts[first + lane, k]
        _factorise(M, inverse, d4, stride)
        if len(noise):
            _draw(M, inverse, s, d, d4, stride, lanes, rows, first, noise, mean, mean_bias)
        _finish(M, inverse, s, d, d4, stride, lanes, rows, first, out, out_bias)
        for lane in range(rows):
            for q in range(s):
                x = np.float64(out[first + lane, q])
                total[lane] += x * x * spread[lane * width + q]
        if len(variance):
            _variances(M, inverse, d4, stride, lanes, Z, own)
            for lane in range(rows):
                for q in range(d):
                    if q < s:
                        variance[first + lane, q] = own[q * lanes + lane]
                    else:
                        variance_bias[first + lane] = own[q * lanes + lane]
                    diagonal = G[lane * size + q * stride + q]
                    if q < width:
                        diagonal += spread[lane * width + q]
                    total[lane] += own[q * lanes + lane] * diagonal
        for lane in range(rows):
            uncertainty[first + lane] = total[lane]
    give_back(taken)
    give_back(sums)
    give_back(places)
