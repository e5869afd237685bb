"""A row's table: the sums over its cells of which its system is made.

The table G holds Σ w P Pᵀ in its first s rows, then Σ w P where there is an offset, then nothing
up to a multiple of four, d4, and Σ w r P in row d4, r_e = y_e − offset_j. Sums of vectors are made
in its last two rows, beyond what the tiles of eight rows write. Partners are gathered in chunks
and multiplied as tiles, while those of the chunk after are asked for. Where their variances W are
known, a partner's vectors and those of its variances take turns, so that one place of memory
serves both.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pygeco.engines.cpu.reading import read_value
from pygeco.engines.cpu.simd import AHEAD, SIDE, TILE, gather, gram_half, gram_tile
from pygeco.engines.cpu.vectors import BYTES

SUMS = 3  # of a row: Σ w r, Σ w and Σ w Var(offset)
CHUNK = 128  # partners gathered at once: with s = 64 floats they fill half of a 64 KiB cache


@njit(inline="always")
def tables(s, d, lanes):
    """The row of the right side, the stride and the size of a row's table."""
    d4 = -(-d // SIDE) * SIDE
    stride = -(-d // lanes) * lanes
    height = -(-s // TILE) * TILE if s else TILE  # one tile is written even without components
    return d4, stride, ((height if height > d4 else d4) + 2) * stride


@njit(inline="always")
def _read_cells(
    indices, values, weights, start, count, record, offsets, factors, roots, places, totals
):  # fmt: skip
    """√w r, √w and where the partners begin; Σ w r, Σ w and Σ w Var(offset) into the totals."""
    real = factors.dtype.type
    plain, heavy, vague = 0.0, 0.0, 0.0
    for t in range(count):
        e, at = np.uint64(start + t), np.uint64(t)
        j = np.uint64(np.uint32(indices[e]))
        root = real(math.sqrt(weights[e])) if len(weights) else real(1)
        r = root * real(read_value(values, e) - offsets[j, 0])
        factors[at], roots[at], places[at] = r, root, j * record
        plain += root * r
        heavy += root * root
        vague += root * root * offsets[j, 1]
    last = len(indices) - 1
    for t in range(count, count + AHEAD if count else 0):
        e = np.uint64(min(start + t, last))
        places[np.uint64(t)] = np.uint64(np.uint32(indices[e])) * record
    totals[0] += plain
    totals[1] += heavy
    totals[2] += vague


@njit(inline="always")
def accumulate(
    indices, values, weights, start, stop, P, vague, width, s, bias, offsets,
    X, factors, roots, places, table, stride, d4, size, spread, totals,
):  # fmt: skip
    """One row's table, its Σ w W and its sums, a chunk of its cells at a time; these hold zeros."""
    lanes = BYTES // P.itemsize
    height = -(-s // TILE) * TILE
    sides, sums = size - 2 * stride, size - stride
    record = 2 * width if vague else width  # numbers of a partner
    for first in range(start, stop if stop > start else start + 1, CHUNK):
        fresh, count = first == start, stop - first
        if count > CHUNK:
            count = CHUNK
        _read_cells(
            indices, values, weights, first, count, np.uint64(record), offsets,
            factors, roots, places, totals,
        )  # fmt: skip
        gather(
            P, places, count, lanes if vague else 0, P.dtype.type(vague), factors, roots, X, width,
            fresh, table, sides, sums, spread,
        )  # fmt: skip
        ahead, last, line = first + CHUNK, len(indices) - 1, 0
        for q in range(0, width, lanes):
            begin = q
            if lanes == 2 * TILE:
                gram_half(
                    X, width, count, q, q, s - q <= TILE // 2, table, stride, fresh,
                    P, indices, ahead, last, record, line,
                )  # fmt: skip
                begin, line = q + TILE, min(line + lanes, record - lanes)
            for k in range(begin, height, TILE):
                gram_tile(
                    X, width, count, k, q, s - k <= TILE // 2, table, stride, fresh,
                    P, indices, ahead, last, record, line,
                )  # fmt: skip
                line = min(line + lanes, record - lanes)
    for q in range(s):
        table[d4 * stride + q] = table[sides + q]
        if bias:
            table[s * stride + q] = table[sums + q]
    if bias:
        table[s * stride + s] = totals[1]
        table[d4 * stride + s] = totals[0]
