"""Steps of block conjugate gradients on the cores of one machine, some rows a part; see `ridge`."""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.memory import give_back, take_memory
from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.tall_kernels import add_product, add_transposed

WIDE_ROWS = 128  # that are multiplied at once in float64


@spread("sums")
def multiply_directions(b, address, P, Q, R, scale, rows, sums):
    """sums[b] = [P, SQ]ᵀ [Q, R] of some rows, S = diag(scale), by BLAS's product in float64.

    A turn is a small difference of such sums: in float32 directions would not stay conjugate.
    """
    k, first, last = P.shape[1], b * rows, min((b + 1) * rows, len(P))
    width = 2 * k
    left = take_memory(WIDE_ROWS * width, np.float64)
    right = take_memory(WIDE_ROWS * width, np.float64)
    sums[b, :] = 0.0
    for start in range(first, last, WIDE_ROWS):
        count = min(WIDE_ROWS, last - start)
        for i in range(np.uint64(count)):
            own, at, beside = np.uint64(start) + i, i * np.uint64(width), np.uint64(k)
            for c in range(np.uint64(k)):
                left[at + c] = P[own, c]
                left[at + beside + c] = np.float64(scale[own]) * Q[own, c]
                right[at + c] = Q[own, c]
                right[at + beside + c] = R[own, c]
        add_transposed(address, left, 0, right, 0, sums, b * width * width, count, width)
    give_back(left)
    give_back(right)


@spread("sums")
def take_step(b, address, X, R, P, Q, scale, mean, step, back, turn, rows, sums):
    """X += P step, R += Q back and P = S R + P turn for some rows, S = diag(scale).

    The sums are those of the new S R R, number by number, and of meanᵀ P.
    """
    width, first = P.shape[1], b * rows
    count, at = min(rows, len(P) - first), first * width
    Z = take_memory(count * width, P.dtype)
    columns = np.uint64(width)
    add_product(address, P, at, step, 0, X, at, count, width)
    add_product(address, Q, at, back, 0, R, at, count, width)
    for k in range(columns):
        sums[b, k] = sums[b, columns + k] = 0.0
    for i in range(np.uint64(count)):
        own = np.uint64(first) + i
        for k in range(columns):
            z = scale[own] * R[own, k]
            Z[i * columns + k] = z
            sums[b, k] += R[own, k] * z
    add_product(address, P, at, turn, 0, Z, 0, count, width)
    for i in range(np.uint64(count)):
        own = np.uint64(first) + i
        for k in range(columns):
            P[own, k] = Z[i * columns + k]
            sums[b, columns + k] += mean[own] * Z[i * columns + k]
    give_back(Z)
