"""Half-sweeps before a background, and the products of tall arrays that go with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import parts
from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu.background_sweep import solve_rows
from pygeco.engines.cpu.padding import pad_rows
from pygeco.engines.cpu.threads import each, get_num_threads
from pygeco.engines.values import Cells, Ridges, Solved

BLOCK_ROWS = 8192  # of a tall array that are multiplied at once, on one core
MAX_BLOCKS = 512  # of rows that a thread takes at once
MIN_ROW_WORK = 16  # what a cell costs beside the products with its row's others, in such products


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
    real, s = start.dtype, start.shape[1]
    flat, width = pad_rows(ridges.partner.astype(real, copy=False))
    out, left = np.array(start, order="C"), np.zeros(len(start))
    solve_rows(
        *cells[:2],
        np.asarray(cells.values).astype(real, copy=False),  # one kernel for each precision
        cells.weights.astype(real, copy=False),
        *plan_work(cells.counts(), s),
        flat,
        width,
        s,
        np.pad(ridges.spectrum, (0, width - s)).astype(real),
        ridges.background.astype(real),
        ridges.ridge.astype(real),
        real.type(ridges.jitter),
        get_num_threads(),
        np.zeros(1, np.int64),
        out,
        left,
    )
    return Solved(out, None, None, 0.0, float(left.sum()))


def plan_work(counts: NDArray[np.int64], s: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of at least s cells, longest first, and blocks of rows of about the same work."""
    long_rows = np.flatnonzero(counts >= s)
    long_rows = long_rows[np.argsort(-counts[long_rows], kind="stable")]
    work = np.cumsum(np.where(counts < s, counts * (counts + float(MIN_ROW_WORK)), 0.0) + 1.0)
    marks = np.searchsorted(work, np.linspace(0, work[-1], MAX_BLOCKS + 1))
    marks[0], marks[-1] = 0, len(counts)
    return long_rows.astype(np.int64), np.unique(marks).astype(np.int64)
