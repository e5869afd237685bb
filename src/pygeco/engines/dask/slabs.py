"""Cells cut by rows into slabs, one future each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import uuid4

import dask
import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.container import Blocks
from pygeco.arrays.low_rank import Array
from pygeco.engines.dask.adapter import release_from_workers
from pygeco.engines.dask.patience import await_futures, gather_values

# Of a slab, about: a pass over fewer takes no longer than Dask needs for a task.
SLAB_CELLS = 1 << 23
MIN_SLABS, MAX_SLABS = 2, 1024  # where there are rows enough


class Slab(NamedTuple):
    """The cells of a run of rows, row by row, the columns of each row ascending and distinct.

    pointers (rows + 1,) from 0, indices are columns of the whole matrix, `weights` is empty where
    every cell counts once.
    """

    pointers: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: Array
    weights: Array


class Slabs(NamedTuple):
    """Slabs on the workers of a cluster.

    futures[t] resolves to a `Slab` with the rows bounds[t] … bounds[t + 1] − 1. Its task must be
    pure and begin at the source (a file, or numbers in the task itself): when a worker dies, Dask
    runs it again. sizes[t] is the slab's number of cells; `dtype`, float32 or float64, that of its
    values and weights.
    """

    client: Any
    futures: tuple[Any, ...]
    bounds: NDArray[np.int64]
    columns: int
    sizes: NDArray[np.int64]
    dtype: np.dtype[Any]
    weighted: bool

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.bounds[-1]), self.columns

    def pointers(self) -> Blocks:
        """Where the cells of each row begin among all cells, slab after slab."""

        def runs() -> Iterator[NDArray[np.int64]]:
            before = 0
            yield np.zeros(1, np.int64)
            for slab in self.futures:
                own = gather_values(self.client, [self.client.submit(_ends, slab)])[0]
                yield own + before
                before += int(own[-1])

        return Blocks(np.dtype(np.int64), (self.shape[0] + 1,), runs)


def _ends(slab: Slab) -> NDArray[np.int64]:
    return slab.pointers[1:]


def slab_count(cells: int) -> int:
    """How many slabs this many cells are cut into."""
    return int(np.clip(-(-cells // SLAB_CELLS), MIN_SLABS, MAX_SLABS))


def slab_bounds(pointers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bounds of runs of rows with about equally many cells, `slab_count` of them.

    They depend on the data alone, so sums over slabs have the same bits on any number of workers.
    """
    rows = len(pointers) - 1
    load = pointers + np.arange(rows + 1)
    marks = np.searchsorted(load, np.linspace(0, load[-1], slab_count(int(pointers[-1])) + 1))
    marks[0], marks[-1] = 0, rows
    return np.unique(marks).astype(np.int64)


def from_csr(
    client: Any,
    pointers: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: Array,
    weights: Array,
    columns: int,
) -> Slabs:
    """Cells of this process, row by row, sent out. Each part travels in its own task."""
    bounds = slab_bounds(pointers)
    ends = pointers[bounds]
    futures, name = [], uuid4().hex
    workers = sorted(client.nthreads())
    for t in range(len(bounds) - 1):
        at = slice(int(ends[t]), int(ends[t + 1]))
        local = pointers[bounds[t] : bounds[t + 1] + 1] - ends[t]
        part = Slab(local, indices[at], values[at], weights[at] if len(weights) else weights)
        # Evenly; elsewhere where the worker is gone, or where none has come yet.
        home = t * len(workers) // (len(bounds) - 1)
        place = {"workers": workers[home : home + 1] or None, "allow_other_workers": bool(workers)}
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            futures.append(client.submit(Slab, *part, key=f"pygeco-slab-{name}-{t}", **place))
    # Once it is there, a slab may be anywhere: one that is bound to a dead worker would wait for
    # it where no other worker was alive at that moment.
    await_futures(client, futures)
    release_from_workers(client, futures)
    return Slabs(
        client, tuple(futures), bounds, columns, np.diff(ends), values.dtype, len(weights) > 0
    )
