"""Passes over observed cells for any separable loss.

Predictions are made chunk by chunk, the loss's array formulas run on each chunk while it is in the
cache, and the results are summed. Chunks depend on the data alone and each has its own partial
sums, so the result has the same bits for any number of threads. numba and NumPy both let go of the
interpreter's lock, so plain threads serve.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu import chunk_kernels as kernels
from pygeco.engines.cpu.cells import block_bounds
from pygeco.engines.cpu.parallel import lend
from pygeco.engines.cpu.threads import get_num_threads
from pygeco.engines.values import Cells, Formulas, Slopes, Systems

CHUNK_CELLS = 1 << 15  # whose numbers stay in the cache of a core


def total(cells: Cells, loss: Formulas, P: Array, Q: Array) -> float:
    """Σ w ℓ(⟨P_i, Q_j⟩, y). O(|E| s)."""
    chunks = _Chunks(cells, P, Q)
    sums = np.zeros(chunks.count)

    def run_chunk(c: int) -> None:
        z, y, w = chunks.at(c)
        sums[c] = np.sum(_times(loss.value(z, y), w), dtype=float)

    chunks.each(run_chunk)
    return float(sums.sum())


def slopes(cells: Cells, loss: Formulas, P: Array, Q: Array, *, sums: bool = True) -> Slopes:
    """The slope of every cell; with `sums`, what goes with it. O(|E| s)."""
    chunks = _Chunks(cells, P, Q)
    out = np.empty(cells.size, cells.values.dtype)
    parts = np.zeros((chunks.count, 2))

    def run_chunk(c: int) -> None:
        z, y, w = chunks.at(c)
        g = _times(loss.slope(z, y), w)
        out[chunks.cells(c)] = g
        if sums:
            parts[c, 0] = np.sum(_times(loss.value(z, y), w), dtype=float)
            parts[c, 1] = np.sum(g * z, dtype=float)

    chunks.each(run_chunk)
    return Slopes(out, *(float(part) for part in parts.sum(axis=0)))


def systems(
    cells: Cells, loss: Formulas, P: Array, Q: Array, size: int, *, curved: bool = True
) -> Systems:
    """The Newton system of each group in the first `size` columns of Q. O(|E| size²).

    Without `curved` the Grams are left out: O(|E| s).
    """
    chunks = _Chunks(cells, P, Q)
    groups = len(cells.pointers) - 1
    grams = np.empty((groups, size, size) if curved else (groups, 0, 0))
    sides, values = np.empty((groups, size)), np.empty(groups)
    flat = cells.values[:0]

    def run_chunk(c: int) -> None:
        z, y, w = chunks.at(c)
        first, last = chunks.marks[c], chunks.marks[c + 1]
        g = _times(loss.slope(z, y), w)
        h = _times(loss.stiffness(z, y), w) if curved else flat
        kernels.systems(cells.pointers, cells.indices, first, last, chunks.Q, h, g, grams, sides)
        kernels.group_sums(cells.pointers, first, last, _times(loss.value(z, y), w), values)

    chunks.each(run_chunk)
    return Systems(grams, sides, values)


def moments(cells: Cells, Q: Array) -> tuple[Array, Array]:
    """Of each group: Σ w q qᵀ (s, s) and Σ w y q (s,), in float64 throughout. O(|E| s²)."""
    Q = lend(np.ascontiguousarray(Q, dtype=float))
    chunks = _Chunks(cells, Q[:0], Q[:0])
    groups, size = len(cells.pointers) - 1, Q.shape[1]
    grams, sides = np.empty((groups, size, size)), np.empty((groups, size))

    def run_chunk(c: int) -> None:
        first, last, part = chunks.marks[c], chunks.marks[c + 1], chunks.cells(c)
        g = cells.values[part].astype(float)
        h = cells.weights[part].astype(float) if len(cells.weights) else np.ones_like(g)
        g *= h
        kernels.systems(cells.pointers, cells.indices, first, last, Q, h, g, grams, sides)

    chunks.each(run_chunk)
    return grams, sides


class _Chunks:
    """Runs of groups with about `CHUNK_CELLS` cells each, and the factors as kernels want them."""

    def __init__(self, cells: Cells, P: Array, Q: Array) -> None:
        self.data = cells
        size = int(cells.pointers[-1] - cells.pointers[0])
        starts = cells.pointers - cells.pointers[0]
        self.marks: NDArray[np.int64] = block_bounds(starts, max(1, -(-size // CHUNK_CELLS)))
        self.P = lend(np.ascontiguousarray(P, dtype=cells.values.dtype))
        self.Q = lend(np.ascontiguousarray(Q, dtype=cells.values.dtype))

    @property
    def count(self) -> int:
        return len(self.marks) - 1

    def cells(self, c: int) -> slice:
        pointers = self.data.pointers
        return slice(int(pointers[self.marks[c]]), int(pointers[self.marks[c + 1]]))

    def at(self, c: int) -> tuple[Array, Array, Array]:
        """Predictions, targets and weights of the chunk's cells."""
        part, cells = self.cells(c), self.data
        z = np.empty(part.stop - part.start, dtype=cells.values.dtype)
        first, last = self.marks[c], self.marks[c + 1]
        kernels.predictions(cells.pointers, cells.indices, first, last, self.P, self.Q, z)
        return z, cells.values[part], cells.weights[part]

    def each(self, job: Callable[[int], None]) -> None:
        threads = min(get_num_threads(), self.count)
        if threads < 2:
            for c in range(self.count):
                job(c)
            return
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(job, range(self.count)):
                pass


def _times(x: Array, w: Array) -> Array:
    return x * w if len(w) else x
