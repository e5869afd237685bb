"""Steps of block conjugate gradients on the cores of one machine, some rows a part; see `ridge`."""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.memory import give_back, take_memory
from pygeco.engines.cpu.parallel import spread
from pygeco.engines.cpu.tall_kernels import add_product, multiply_transposed


@spread("sums")
def multiply_directions(b, address, P, Q, R, scale, rows, sums):
    """PᵀQ, PᵀR, QᵀSQ and QᵀSR of some rows, S = diag(scale): four squares, in float64."""
    width, first = P.shape[1], b * rows
    count, at = min(rows, len(P) - first), first * width
    Z = take_memory(count * width, P.dtype)
    square = take_memory(width * width, P.dtype)
    for i in range(np.uint64(count)):
        for k in range(np.uint64(width)):
            Z[i * np.uint64(width) + k] = scale[np.uint64(first) + i] * Q[np.uint64(first) + i, k]
    for t in range(4):
        right = Q if t % 2 == 0 else R
        if t < 2:
            multiply_transposed(address, P, at, right, at, square, 0, count, width)
        else:
            multiply_transposed(address, Z, 0, right, at, square, 0, count, width)
        for k in range(np.uint64(width * width)):
            sums[b, np.uint64(t * width * width) + k] = square[k]
    give_back(Z)
    give_back(square)


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
