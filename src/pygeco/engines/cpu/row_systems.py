"""One dense system at a time: its products, Cholesky's factor, conjugate gradients."""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.keeping import njit
from pygeco.engines.cpu.lane_simd import begin_at
from pygeco.engines.cpu.panel_simd import clear_lanes, finish_panel, solve_panel
from pygeco.engines.cpu.row_simd import (
    add_multiples,
    add_tile,
    apply_rows,
    multiply_pairs,
    subtract_tile,
)
from pygeco.engines.cpu.simd import SIDE
from pygeco.engines.cpu.vectors import BYTES, dot, fetch

MAX_ITERATIONS = 30
ITERATION_TOLERANCE = 1e-5  # of the residual, as a share of the right side
PANEL = 16  # rows that are multiplied with all others before the next: they stay in the first cache


@njit(inline="always")
def ask_for(indices, at, V, width):
    """Ask for the partner of a cell before it is needed."""
    fetch(V, np.int64(np.uint32(indices[np.uint64(at)])) * width, width)


# These are functions of their own: inlined, their loops would run out of registers.


@njit(no_cpython_wrapper=True)
def solve_system(M, stride, size, inverse, x):
    """x = M⁻¹ x by Cholesky, M of `size` rows, a multiple of four; xᵀM⁻¹x as it was before."""
    lanes = BYTES // M.itemsize
    for k in range(size):
        clear_lanes(M, k * stride + size)
    clear_lanes(x, size)
    for first in range(0, size, PANEL):
        end = min(first + PANEL, size)
        for q in range(first, size if first else 0, lanes):
            for k in range(first, min(end, q + lanes), SIDE):
                subtract_tile(M, stride, 0, first, k, q, M, stride)
        for k in range(first, end, SIDE):
            for q in range(k, size if k > first else 0, lanes):
                subtract_tile(M, stride, first, k - first, k, q, M, stride)
            finish_panel(M, stride, k, size, inverse, x)
    clear_lanes(x, size)
    total = dot(x, 0, x, 0, size)
    for k in range(size - SIDE, -1, -SIDE):
        solve_panel(M, stride, k, size, inverse, x)
    return np.float64(total)


@njit(no_cpython_wrapper=True)
def multiply_rows(B, wide, width, size, indices, ahead, last, V, M):
    """M = B Bᵀ, upper half, while the partners of cells from `ahead` on are asked for."""
    for first in range(0, size, PANEL):
        end = min(first + PANEL, size)
        for b in range(0, end, 2):
            if ahead < last:
                ask_for(indices, ahead, V, width)
                ahead += 1
            for a in range(max(first, b // 4 * 4), end, 4):
                multiply_pairs(B, wide, width, a, b, M, wide)
    return ahead


@njit(no_cpython_wrapper=True)
def add_products(X, wide, count, width, size, indices, ahead, last, V, M):
    """M += XᵀX, upper half, of `count` rows of X."""
    lanes = BYTES // X.itemsize
    for q in range(0, size, lanes):
        for k in range(0, min(q + lanes, size), SIDE):
            add_tile(X, wide, 0, count, k, q, M, wide)
            for _ in range(2):
                if ahead < last:
                    ask_for(indices, ahead, V, width)
                    ahead += 1


@njit(no_cpython_wrapper=True)
def iterate(B, wide, width, size, x, vectors, u):
    """u = (I + BᵀB)⁻¹ Bᵀ x by conjugate gradients; what is left of the squares, −1 where they fail.

    The background is the preconditioner: eigenvalues lie between 1 and a few.
    """
    residual, p, image = vectors, begin_at(vectors, width), begin_at(vectors, 2 * width)
    for k in range(width):
        u[k] = residual[k] = 0
    for t in range(0, size, SIDE):
        add_multiples(residual, B, wide, t, x, width)
    norm = dot(residual, 0, residual, 0, width)
    least, gain = ITERATION_TOLERANCE**2 * norm, 0.0
    for k in range(width):
        p[k] = residual[k]
    for _ in range(MAX_ITERATIONS):
        for k in range(width):
            image[k] = p[k]
        for t in range(0, size, SIDE):
            apply_rows(B, wide, t, p, image, width)
        step = norm / max(dot(p, 0, image, 0, width), B.dtype.type(1e-37))
        for k in range(width):
            u[k] += step * p[k]
            residual[k] -= step * image[k]
        gain += np.float64(step) * np.float64(norm)
        before, norm = norm, dot(residual, 0, residual, 0, width)
        if norm <= least:
            return max(0.0, np.float64(dot(x, 0, x, 0, size)) - gain)
        share = norm / max(before, B.dtype.type(1e-37))
        for k in range(width):
            p[k] = residual[k] + share * p[k]
    return -1.0
