"""The ids of rows that stay with their slabs on the workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.container import Blocks, Texts
from pygeco.engines.dask.patience import gather_values
from pygeco.io.tables import find_positions, id_array, make_comparable, pyarrow


class RowIds:
    """The sorted ids of all rows, in slabs: futures of Arrow arrays.

    Slab t has the rows bounds[t] … bounds[t + 1] − 1; slab t + 1 begins at the id starts[t]. What
    is asked of it goes to the slabs concerned; `get` alone brings all ids to this process.
    """

    def __init__(
        self, client: Any, futures: tuple[Any, ...], starts: NDArray[Any], bounds: NDArray[np.int64]
    ) -> None:
        self.client, self.futures, self.starts, self.bounds = client, futures, starts, bounds

    def __len__(self) -> int:
        return int(self.bounds[-1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.starts.dtype

    def positions(self, wanted: ArrayLike) -> NDArray[np.int64]:
        """Where each wanted id is among all; −1 for one that is not there."""
        asked, possible = make_comparable(self.starts, wanted)
        flat, may = asked.reshape(-1), np.broadcast_to(possible, asked.shape).reshape(-1)
        slab = np.full(len(flat), -1)
        if np.any(may):
            slab[may] = np.searchsorted(self.starts, flat[may], side="right")
        found = np.full(len(flat), -1, np.int64)
        touched = [t for t in np.unique(slab) if t >= 0]
        answers = [
            self.client.submit(locate_ids, self.futures[t], flat[slab == t]) for t in touched
        ]
        for t, local in zip(touched, gather_values(self.client, answers), strict=True):
            found[slab == t] = np.where(local >= 0, local + self.bounds[t], -1)
        return found.reshape(asked.shape)

    def __getitem__(self, at: Any) -> Any:
        """Ids at positions; one position gives one id."""
        given = np.asarray(at)
        flat = given.reshape(-1)
        flat = np.where(flat < 0, flat + len(self), flat)
        slab = np.searchsorted(self.bounds, flat, side="right") - 1
        found = np.empty(len(flat), self.dtype)
        touched = np.unique(slab)
        answers = [
            self.client.submit(take_ids, self.futures[t], flat[slab == t] - self.bounds[t])
            for t in touched
        ]
        for t, ids in zip(touched, gather_values(self.client, answers), strict=True):
            found[slab == t] = id_array(ids)
        return found.reshape(given.shape)[()]

    def get(self) -> NDArray[Any]:
        """All ids, in this process."""
        return np.concatenate([id_array(ids) for ids in self._runs()])

    def _runs(self) -> Iterator[Any]:
        return (gather_values(self.client, [future])[0] for future in self.futures)

    def blocks(self) -> Blocks | Texts:
        """The ids for a file, slab after slab."""
        if self.dtype != object:
            return Blocks(self.dtype, (len(self),), lambda: map(id_array, self._runs()))
        weights = [self.client.submit(weight, one) for one in self.futures]
        size = sum(gather_values(self.client, weights))

        def ends() -> Iterator[NDArray[Any]]:
            before = 0
            for ids in self._runs():
                own = text_ends(ids)
                yield own + before
                before += int(own[-1])

        bytes_of = Blocks(np.dtype(np.uint8), (size,), lambda: map(text_bytes, self._runs()))
        return Texts(Blocks(np.dtype(np.int64), (len(self),), ends), bytes_of)


def locate_ids(ids: Any, wanted: NDArray[Any]) -> NDArray[np.int64]:
    """Positions in one slab's ids."""
    pa = pyarrow()
    if not pa.types.is_string(ids.type):
        return find_positions(id_array(ids), wanted)
    found = pa.compute.index_in(pa.array(wanted, pa.string()), ids)
    return found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def take_ids(ids: Any, at: NDArray[np.int64]) -> Any:
    return ids.take(pyarrow().array(at))


def weight(ids: Any) -> int:
    return int(text_ends(ids)[-1])


def text_ends(ids: Any) -> NDArray[np.int64]:
    """Where each text of a slab ends, in bytes; a slab has at least one."""
    offsets = np.frombuffer(ids.buffers()[1], np.int32)[ids.offset : ids.offset + len(ids) + 1]
    return offsets[1:].astype(np.int64) - int(offsets[0])


def text_bytes(ids: Any) -> NDArray[np.uint8]:
    offsets = np.frombuffer(ids.buffers()[1], np.int32)[ids.offset : ids.offset + len(ids) + 1]
    return np.frombuffer(ids.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
