"""Half-sweeps before a background, and the products of tall arrays that go with them."""

from __future__ import annotations

import numpy as np

from pygeco.arrays.kinds import parts
from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu.background_sweep import solve_lines
from pygeco.engines.cpu.threads import each
from pygeco.engines.values import Cells, Ridges, Solved

BLOCK_ROWS = 8192  # of a tall array that are multiplied at once, on one core


def weighted_gram(X: Array, weights: Array) -> Array:
    """Xᵀ diag(weights) X, summed over blocks in float64, in order."""
    blocks = list(parts(len(X), BLOCK_ROWS))
    roots = np.sqrt(weights).astype(X.dtype)
    sums = np.zeros((len(blocks), X.shape[1], X.shape[1]), X.dtype)

    def multiply(at: int) -> None:
        Y = X[blocks[at]] * roots[blocks[at], None]
        np.matmul(Y.T, Y, out=sums[at])

    each(multiply, len(blocks))
    return sums.sum(axis=0, dtype=float)


def rotate(X: Array, Q: Array) -> Array:
    """X Q, block by block."""
    blocks = list(parts(len(X), BLOCK_ROWS))
    out = np.empty((len(X), Q.shape[1]), np.result_type(X, Q))

    def multiply(at: int) -> None:
        np.matmul(X[blocks[at]], Q, out=out[blocks[at]])

    each(multiply, len(blocks))
    return out


def half_sweep(cells: Cells, start: Array, ridges: Ridges) -> Solved:
    """See `Engine.half_sweep`: the systems of a background."""
    assert ridges.background is not None
    assert ridges.spectrum is not None
    assert ridges.ridge is not None
    real = start.dtype
    out = np.array(start, order="C")
    left = np.zeros(len(start))
    solve_lines(
        *cells[:4],
        np.ascontiguousarray(ridges.partner, dtype=real),
        ridges.spectrum.astype(real),
        ridges.background.astype(real),
        ridges.ridge.astype(real),
        real.type(ridges.jitter),
        out,
        left,
    )
    return Solved(out, None, None, 0.0, float(left.sum()))
