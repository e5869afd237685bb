"""The half-sweep before a background: every row's own system, whose shared part is diagonal.

Λ_i = diag(d_i) + Σ_j w_e v_j v_jᵀ,  d_i = background_i e + ridge_i,  b_i = Σ_j w_e y_e v_j.

With k cells, B = diag(√w) V_i diag(d)^-½ (k, s) and r = √w y, u_i = d^-½ Bᵀ (I + B Bᵀ)⁻¹ r: a row
of fewer cells than s solves a system of its k cells, k² s/2 multiply-adds, and any other the one of
s unknowns, k s²/2. Both are exact. In single precision, rows of more than a few dozen cells take a
few steps of conjugate gradients on I + BᵀB, 2 k s each, to the digits that such numbers have, and
go the exact way where these do not end. A system M is kept as its upper triangle by rows, M = RᵀR.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pygeco.engines.cpu.lane_simd import begin_at, fill
from pygeco.engines.cpu.launching import claim
from pygeco.engines.cpu.memory import give_back, take_memory
from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.row_simd import add_multiples, scale_row_by, take_inverse_roots
from pygeco.engines.cpu.row_systems import (
    add_products,
    ask_for,
    iterate,
    multiply_rows,
    solve_system,
)
from pygeco.engines.cpu.simd import SIDE, scale_row
from pygeco.engines.cpu.vectors import BYTES, dot

AHEAD = 16  # cells from the one that is gathered to the one whose partner is asked for
MAX_AHEAD = 128  # cells of later rows whose partners are asked for while a row is worked on
CHUNK = 96  # partners gathered at once for s unknowns
MIN_ITERATED, MAX_ITERATED = 32, 2048  # cells of a row that is iterated, in single precision


@njit(inline="always")
def _root(weights, at, real):
    return real(math.sqrt(weights[at])) if len(weights) else real(1)


@njit(inline="always")
def _gather(indices, values, weights, start, count, V, width, roots, base, B, wide, x, ahead):
    """B and r of a row, with d^-½ = roots, and rows of zeros up to a multiple of four.

    `ahead` is the first cell whose partner was not asked for yet; that after it.
    """
    real = V.dtype.type
    size = -(-count // SIDE) * SIDE
    ahead, last = max(ahead, start), len(indices)
    for t in range(count):
        while ahead < min(start + t + AHEAD, last):
            ask_for(indices, ahead, V, width)
            ahead += 1
        at = np.int64(np.uint32(indices[np.uint64(start + t)])) * width
        root = _root(weights, start + t, real)
        scale_row_by(V, at, root, roots, B, t * wide, width)
        y = real(values[start + t])
        if len(base):
            y -= dot(V, at, base, 0, width)
        x[t] = root * y
    for t in range(count, size):
        for q in range(t * wide, t * wide + width):
            B[q] = 0
        x[t] = 0
    return ahead


@njit(inline="always")
def _solve_by_cells(B, wide, width, size, M, inverse, x, u):
    """u = Bᵀ (I + B Bᵀ)⁻¹ x; what is left of the squares."""
    for t in range(size):
        M[t * wide + t] += 1
    left = solve_system(M, wide, size, inverse, x)
    for k in range(width):
        u[k] = 0
    for t in range(0, size, SIDE):
        add_multiples(u, B, wide, t, x, width)
    return left


@njit(inline="always")
def _solve_by_unknowns(
    indices, values, weights, start, count, V, width, s, e, factor, addend, X, sides, wide,
    M, inverse, u,
):  # fmt: skip
    """The same by the system of s unknowns; u holds what is added to the right side."""
    real = V.dtype.type
    size = -(-s // SIDE) * SIDE
    fill(M, 0, size * wide, 0)
    squares = 0.0
    for first in range(start, start + count, CHUNK):
        some = min(CHUNK, start + count - first)
        for t in range(some):
            cell = first + t
            root = _root(weights, cell, real)
            at = np.int64(np.uint32(indices[np.uint64(cell)])) * width
            scale_row(V, at, root, X, t * wide, width)
            sides[t] = y = root * real(values[cell])
            squares += np.float64(y) * np.float64(y)
        for t in range(some, -(-some // SIDE) * SIDE):
            sides[t] = 0
        for t in range(0, some, SIDE):
            add_multiples(u, X, wide, t, sides, width)
        ahead, last = first + CHUNK, min(first + 2 * CHUNK, start + count)
        add_products(X, wide, some, width, size, indices, ahead, last, V, M)
    for k in range(size):
        M[k * wide + k] += max(factor * e[k] + addend, real(1e-30)) if k < s else real(1)
    return squares - solve_system(M, wide, size, inverse, u)


@njit(inline="always")
def _mean_curvature(indices, weights, start, count, V, width, s):
    """Σ w |v|² / s over a row's cells."""
    total = 0.0
    for e in range(start, start + count):
        at = np.int64(np.uint32(indices[np.uint64(e)])) * width
        weight = weights[e] if len(weights) else weights.dtype.type(1)
        total += weight * dot(V, at, V, at, width)
    return total / s


@njit(inline="always")
def _solve_row(
    indices, values, weights, start, count, V, width, s, e, factor, ridge, jitter, begin,
    wide, B, M, X, sides, inverse, x, u, roots, base, vectors, asked,
):  # fmt: skip
    """One row's u, which starts at `begin`; what is left of its squares."""
    real = V.dtype.type
    pull = real(0)
    if jitter > 0:
        pull = real(jitter * _mean_curvature(indices, weights, start, count, V, width, s))
    addend = max(ridge + pull, real(1e-30))
    left, size = -1.0, -(-count // SIDE) * SIDE
    if size * wide <= len(B):
        take_inverse_roots(e, factor, addend, roots, width)
        for k in range(len(base)):
            base[k] = pull * begin[k] * roots[k] * roots[k] if k < s else real(0)
        ahead = _gather(
            indices, values, weights, start, count, V, width, roots, base, B, wide, x, asked[0]
        )
        if count >= MIN_ITERATED and s >= MIN_ITERATED and V.itemsize == 4:
            left = iterate(B, wide, width, size, x, vectors, u)
        if left < 0 and count < s:
            last = min(start + count + MAX_AHEAD, len(indices))
            ahead = multiply_rows(B, wide, width, size, indices, ahead, last, V, M)
            left = _solve_by_cells(B, wide, width, size, M, inverse, x, u)
        asked[0] = ahead
        for k in range(width):
            u[k] *= roots[k]
        for k in range(len(base)):
            u[k] += base[k]
    if left < 0:
        fill(u, 0, wide, 0)
        for k in range(s):
            u[k] = pull * begin[k]
        left = _solve_by_unknowns(
            indices, values, weights, start, count, V, width, s, e, factor, addend, X, sides, wide,
            M, inverse, u,
        )  # fmt: skip
    return left


@spread("threads")
def solve_rows(
    thread, pointers, indices, values, weights, long_rows, blocks, V, width, s, spectrum,
    background, ridge, jitter, threads, counter, out, unexplained,
):  # fmt: skip
    """Solve every row's system into `out` (m, s), which holds the start on entry.

    V is (n, width), flat, the width a multiple of the lanes, with zeros beyond s, and `spectrum`
    holds e, as many. `long_rows`, those of at least s cells, are taken one by one, then the others
    in `blocks` of rows, each by the thread that is free first: a row's bits depend on its own cells
    alone. unexplained_i is Σ w y² − ⟨b_i, u_i⟩. A `jitter` pulls rows to their start.
    """
    lanes, size = BYTES // V.itemsize, -(-s // SIDE) * SIDE
    wide = width + lanes * (1 + width // lanes % 2)  # odd vectors: rows start in different sets
    most = max(size, MAX_ITERATED if V.itemsize == 4 else 0)
    B, asked = take_memory(most * wide, V.dtype), take_memory(1, np.int64)
    base = take_memory(width if jitter > 0 else 0, V.dtype)
    rest = (size + CHUNK + 1) * wide + CHUNK + size + most + 2 * lanes + 4 * width
    M = take_memory(rest, V.dtype)
    X = begin_at(M, size * wide)
    u = begin_at(X, CHUNK * wide)
    sides = begin_at(u, wide)
    vectors = begin_at(sides, CHUNK)
    roots = begin_at(vectors, 3 * width)
    x = begin_at(roots, width)
    inverse = begin_at(x, most + lanes)
    fill(B, 0, most * wide, 0)
    fill(M, 0, rest, 0)
    fill(roots, 0, width, 1)
    while True:
        task = claim(counter)
        if task >= len(long_rows) + len(blocks) - 1:
            break
        alone = task < len(long_rows)
        first = long_rows[task] if alone else blocks[task - len(long_rows)]
        stop = first + 1 if alone else blocks[task - len(long_rows) + 1]
        asked[0] = 0
        for i in range(first, stop):
            start, count = pointers[i], pointers[i + 1] - pointers[i]
            if count >= s and not alone:
                continue
            if count == 0:
                for k in range(s):
                    out[i, k] = 0
                unexplained[i] = 0
                continue
            unexplained[i] = _solve_row(
                indices, values, weights, start, count, V, width, s, spectrum, background[i],
                ridge[i], jitter, out[i], wide, B, M, X, sides, inverse, x, u, roots, base,
                vectors, asked,
            )  # fmt: skip
            if dot(u, 0, u, 0, s) < np.inf:  # beyond the precision: as at the start
                for k in range(s):
                    out[i, k] = u[k]
    give_back(B)
    give_back(base)
    give_back(M)
    give_back(asked)
