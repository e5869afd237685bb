"""Ratings that the sections make: a cached set with a test part, and CSR arrays of any size."""

from __future__ import annotations

import hashlib
import inspect
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from pygeco.data import make_ratings, split_cells, synthetic
from sections.measuring import Plan, Shape

Array = NDArray[Any]


class Split(NamedTuple):
    """Training cells and test cells: (rows, cols, values, shape) each."""

    train: tuple[Array, Array, Array, Shape]
    test: tuple[Array, Array, Array, Shape]


def split_of(rows: Array, cols: Array, values: Array, shape: Shape, test: Array) -> Split:
    def part(mask: Array) -> tuple[Array, Array, Array, Shape]:
        return rows[mask], cols[mask], values[mask], shape

    return Split(part(~test), part(test))


def rated(plan: Plan, cells: int, shape: Shape, rank: int = 40) -> Split:
    """About `cells` ratings to fit and a ninth of that to test, the set of `make bench-peers`.

    Making 10⁷ takes a while, so they are kept in `plan.out`, under a name that changes with the
    code that made them.
    """
    code = hashlib.sha256(inspect.getsource(synthetic).encode()).hexdigest()[:8]
    file = plan.out / f"ratings-{shape[0]}x{shape[1]}-{cells}-{rank}-{code}.npy"
    if not file.exists():
        made = make_ratings(shape, round(cells / 0.9), rank=rank)
        table = np.empty((3, len(made.values)), np.int32)
        table[:2] = made.rows, made.cols
        table[2] = made.values.view(np.int32)
        plan.out.mkdir(parents=True, exist_ok=True)
        np.save(file, table)
    rows, cols, values = np.load(file)
    return split_of(rows, cols, values.view(np.float32), shape, split_cells(len(values)))


def sparse_ratings(shape: Shape, cells: int, seed: int = 0) -> sp.csr_array:
    """Exactly `cells` ratings from 1 to 5 as float32 CSR: power-law rows and columns, rank 8.

    Needs the arrays of the answer and no more: 8 bytes a cell.
    """
    m, n = shape
    rng = np.random.default_rng(seed)
    pointers = np.zeros(m + 1, np.int32 if cells < 2**31 else np.int64)
    np.cumsum(_counts(shape, cells, rng), out=pointers[1:])
    indices, values = np.empty(cells, pointers.dtype), np.empty(cells, np.float32)
    U = 0.4 * rng.standard_normal((m, 8), dtype=np.float32)
    V = 0.6 * rng.standard_normal((n, 8), dtype=np.float32)
    _fill(pointers, indices, values, U, V, seed)
    return sp.csr_array((values, indices, pointers), shape)


def _counts(shape: Shape, cells: int, rng: np.random.Generator) -> Array:
    """Cells of each row, by Pareto's law, at most half of the columns each."""
    m, most = shape[0], shape[1] // 2
    if cells > m * most:
        raise ValueError(f"cells: at most {m * most} for a shape of {shape}, not {cells}.")
    share = rng.pareto(1.5, m) + 0.3
    counts = np.minimum((cells * share / share.sum()).astype(np.int64), most)
    while missing := cells - int(counts.sum()):
        counts[np.flatnonzero(counts < most)[:missing]] += 1
    return counts


@njit(cache=True)
def _fill(pointers, indices, values, U, V, seed):
    """Columns by sorted uniform numbers, squared so that the first are popular; then stars."""
    np.random.seed(seed)  # noqa: NPY002  # numba's own generator, the fast one
    n, rank = V.shape
    for i in range(len(U)):
        start, stop = pointers[i], pointers[i + 1]
        # Sums of exponential steps over their total are uniform numbers in order.
        total = 0.0
        for e in range(start, stop):
            total += np.random.exponential()  # noqa: NPY002
            values[e] = total
        total += np.random.exponential()  # noqa: NPY002
        last = -1
        for e in range(start, stop):
            last = max(last + 1, int(n * (values[e] / total) ** 2))
            j = min(last, n - (stop - e))  # leaves room for the columns still to come
            indices[e] = j
            stars = 3.5 + 0.8 * np.random.normal()  # noqa: NPY002
            for k in range(rank):
                stars += U[i, k] * V[j, k]
            values[e] = min(5.0, max(1.0, np.round(stars)))
