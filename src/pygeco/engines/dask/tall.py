"""Arrays whose rows are on the workers, in slabs: the kind of array of the engine "dask".

NumPy's operators and functions on a `Tall` give another, lazily, where they work row by row, and
NumPy's own numbers on the client where they sum over the rows. NumPy's arrays mix freely with it:
one with as many rows is cut into slabs, any other goes to each of them whole.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from pygeco.engines.dask import slab_functions
from pygeco.engines.dask.grid import Grid
from pygeco.engines.dask.programs import Each, Node
from pygeco.engines.dask.rowwise import (
    Bounds,
    Constant,
    TallArray,
    WideArray,
    align,
    apply_rowwise,
    draw_slabs,
    matmul,
    send_rows,
)


class Tall(TallArray, NDArrayOperatorsMixin):
    """An array (m, …) in slabs of rows; slab t has the rows bounds[t] … bounds[t + 1] − 1.

    `meta` is an empty array of the same type and shape, but for the rows.
    """

    distant = True

    def __init__(self, engine: Any, node: Node, bounds: Bounds, meta: NDArray[Any]) -> None:
        self.engine, self.node, self.bounds, self.meta = engine, node, bounds, meta
        node.holders += 1

    def __del__(self) -> None:
        self.node.holders -= 1

    def like(self, node: Node, meta: NDArray[Any]) -> Tall:
        """Another one with the same rows."""
        return Tall(self.engine, node, self.bounds, meta)

    def _become(self, other: Tall) -> None:
        other.node.holders += 1
        self.node.holders -= 1
        self.node, self.bounds, self.meta = other.node, other.bounds, other.meta

    @property
    def grid(self) -> Grid:
        return self.engine.grid

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self), *self.meta.shape[1:])

    @property
    def ndim(self) -> int:
        return self.meta.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.meta.dtype

    @property
    def itemsize(self) -> int:
        return self.meta.itemsize

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def T(self) -> Tall | Wide:
        return self if self.ndim == 1 else Wide(self)

    def __len__(self) -> int:
        return int(self.bounds[-1])

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray[Any]:
        raise TypeError("rows on a cluster do not become a NumPy array by themselves; use `get`")

    def get(self) -> NDArray[Any]:
        """All rows, on the client."""
        return np.concatenate(self.grid.fetch_parts(self.node, "fetch"))

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **kwargs: Any
    ) -> Any:
        if method != "__call__":
            return NotImplemented
        if ufunc is np.matmul:
            return matmul(*inputs)
        found = apply_rowwise(ufunc, *inputs, **kwargs)
        if not out:
            return found
        out[0]._become(found)
        return out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from pygeco.engines.dask.functions import call_function

        return call_function(function, args, kwargs, self)

    def __getitem__(self, key: Any) -> Any:
        row, rest = _split_key(key)
        if isinstance(row, slice):
            return self._slice_rows(row, rest)
        if isinstance(row, Tall) and row.dtype == bool:
            return self._mask_rows(row, rest)
        index = np.asarray(row)
        if index.dtype == bool:
            return self._mask_rows(send_rows(index, self), rest)
        found = self._take_rows(index.reshape(-1)).reshape(*index.shape, *self.shape[1:])
        return found[(..., *rest)] if rest else found

    def _slice_rows(self, row: slice, rest: tuple[Any, ...]) -> Tall:
        start, stop, step = row.indices(len(self))
        if (start, stop, step) == (0, len(self), 1):
            return (
                apply_rowwise(operator.getitem, self, Constant((slice(None), *rest)))
                if rest
                else self
            )
        first, last = self.bounds[:-1], np.clip(self.bounds[1:], start, max(start, stop))
        begin = np.maximum(first, start)
        begin = begin + (start - begin) % step
        slices = tuple(
            (slice(int(a), int(b), step), *rest)
            for a, b in zip(begin - first, np.maximum(last, begin) - first, strict=True)
        )
        sizes = np.maximum(0, -((begin - last) // step))
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        node = Node(slab_functions.take_item, self.node, Each(slices))
        return Tall(self.engine, node, bounds, self.meta[(slice(None), *rest)])

    def _mask_rows(self, mask: Tall, rest: tuple[Any, ...]) -> Tall:
        """The rows under a mask. How many each slab has is asked once for a mask."""
        memory = mask.node.memory
        if "bounds" not in memory:
            sizes = self.grid.fetch_parts(Node(np.count_nonzero, mask.node), "count")
            memory["bounds"] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        node = Node(slab_functions.take_item, self.node, mask.node)
        found = Tall(self.engine, node, memory["bounds"], self.meta)
        return found[(slice(None), *rest)] if rest else found

    def _take_rows(self, index: NDArray[Any]) -> NDArray[Any]:
        """Some rows, on the client; only they travel."""
        index = np.where(index < 0, index + len(self), index)
        home = np.searchsorted(self.bounds, index, "right") - 1
        wanted = [index[home == t] - self.bounds[t] for t in range(self.grid.count)]
        node = Node(slab_functions.take_item, self.node, Each(tuple(wanted)))
        out = np.empty((len(index), *self.shape[1:]), self.dtype)
        for t, found in enumerate(self.grid.fetch_parts(node, "rows")):
            out[home == t] = found
        return out

    def __setitem__(self, key: Any, value: Any) -> None:
        row, rest = _split_key(key)
        if isinstance(row, (int, np.integer)):
            home = int(np.searchsorted(self.bounds, row, "right")) - 1
            keys = [slice(0, 0)] * self.grid.count
            at = int(row - self.bounds[home])
            keys[home] = slice(at, at + 1)
            row = Constant(Each(tuple(keys)))
        elif isinstance(row, slice) and row != slice(None):
            raise TypeError("rows on a cluster: only all rows, one row, or those under a mask")
        old, new = (align(x, self) for x in (self, value))
        node = Node(slab_functions.assign, old, align(row, self), rest, new, costly=True)
        self._become(Tall(self.engine, node, self.bounds, self.meta))

    def astype(self, dtype: Any, order: str = "K", copy: bool = True) -> Tall:
        if self.dtype == dtype and order == "K":
            return self.copy()
        return apply_rowwise(partial(np.ascontiguousarray, dtype=np.dtype(dtype)), self)

    def futures(self) -> tuple[Any, ...]:
        """One future a slab, of its rows."""
        return self.grid.futures(self.node, "keep")

    def once(self) -> Tall:
        """The same, which the workers then forget."""
        self.node.costly = False
        return self

    def draw(self, function: Any, rng: np.random.Generator, *others: Tall) -> Tall:
        return draw_slabs(function, rng, self, *others)

    def look_up(self, table: NDArray[Any]) -> Tall:
        return apply_rowwise(np.take, Constant(table), self)

    def copy(self) -> Tall:
        return Tall(self.engine, self.node, self.bounds, self.meta)

    def reshape(self, *shape: Any) -> Tall:
        """Rows may be cut or joined, as long as none is cut by a slab's border."""
        new = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        tail = tuple(int(x) for x in new[1:])
        old = int(np.prod(self.shape[1:]))
        if -1 in tail:
            fits = len(self) * old // max(1, int(new[0]) * -int(np.prod(tail)))
            tail = tuple(fits if x == -1 else x for x in tail)
        bounds = self.bounds * old // max(1, int(np.prod(tail)))
        node = Node(slab_functions.reshape_rows, self.node, tail)
        return Tall(self.engine, node, bounds, np.empty((0, *tail), self.dtype))

    def swapaxes(self, one: int, two: int) -> Tall:
        return apply_rowwise(partial(np.swapaxes, axis1=one, axis2=two), self)

    def sum(self, axis: Any = None, dtype: Any = None) -> Any:
        return np.sum(self, axis=axis, dtype=dtype)

    def mean(self, axis: Any = None, dtype: Any = None) -> Any:
        return np.mean(self, axis=axis, dtype=dtype)

    def max(self, axis: Any = None) -> Any:
        return np.max(self, axis=axis)

    def min(self, axis: Any = None) -> Any:
        return np.min(self, axis=axis)

    def any(self) -> Any:
        return np.any(self)

    def all(self) -> Any:
        return np.all(self)


class Wide(WideArray):
    """The transpose (k, m) of a tall array."""

    ndim = 2

    def __init__(self, tall: Tall) -> None:
        self.T = tall

    @property
    def shape(self) -> tuple[int, ...]:
        return self.T.shape[::-1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.T.dtype

    @property
    def engine(self) -> Any:
        return self.T.engine

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Tall]:
        return (self[k] for k in range(len(self)))

    def get(self) -> NDArray[Any]:
        return self.T.get().T

    def __getitem__(self, key: Any) -> Any:
        found = self.T[:, key]
        return found if found.ndim == 1 else Wide(found)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.T[:, key] = value

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return matmul(*inputs) if ufunc is np.matmul and method == "__call__" else NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from pygeco.engines.dask.functions import call_function

        return call_function(function, args, kwargs, self.T)


def _split_key(key: Any) -> tuple[Any, tuple[Any, ...]]:
    """The key of the rows, and that of the rest."""
    if key is Ellipsis:
        return slice(None), ()
    if isinstance(key, tuple):
        return (slice(None), key[1:]) if key[0] is Ellipsis else (key[0], key[1:])
    return key, ()
