"""Arrays whose rows are on the workers, in slabs: the kind of array of the engine "dask".

NumPy's operators and functions on a `Tall` give another, lazily, where they work row by row, and
NumPy's own numbers on the client where they sum over the rows. NumPy's arrays mix freely with it:
one with as many rows is cut into slabs, any other goes to each of them whole.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from pygeco.engines.dask import work
from pygeco.engines.dask.nodes import Each, Grid, Node

Bounds = NDArray[np.int64]


class Tall(NDArrayOperatorsMixin):
    """An array (m, …) in slabs of rows; slab t has the rows bounds[t] … bounds[t + 1] − 1.

    `meta` is an empty array of the same type and shape, but for the rows.
    """

    distant = True

    def __init__(self, engine: Any, node: Node, bounds: Bounds, meta: NDArray[Any]) -> None:
        self.engine, self.node, self.bounds, self.meta = engine, node, bounds, meta
        node.held += 1

    def __del__(self) -> None:
        self.node.held -= 1

    def _become(self, other: Tall) -> None:
        other.node.held += 1
        self.node.held -= 1
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
        return np.concatenate(self.grid.all(self.node, "fetch"))

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **kwargs: Any
    ) -> Any:
        if method != "__call__":
            return NotImplemented
        if ufunc is np.matmul:
            return matmul(*inputs)
        found = rowwise(ufunc, *inputs, **kwargs)
        if not out:
            return found
        out[0]._become(found)
        return out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from pygeco.engines.dask.functions import called

        return called(function, args, kwargs, self)

    def __getitem__(self, key: Any) -> Any:
        row, rest = _split_key(key)
        if isinstance(row, slice):
            return self._sliced(row, rest)
        if isinstance(row, Tall) and row.dtype == bool:
            return self._masked(row, rest)
        index = np.asarray(row)
        if index.dtype == bool:
            return self._masked(spread(index, self), rest)
        found = self._rows(index.reshape(-1)).reshape(*index.shape, *self.shape[1:])
        return found[(..., *rest)] if rest else found

    def _sliced(self, row: slice, rest: tuple[Any, ...]) -> Tall:
        start, stop, step = row.indices(len(self))
        if (start, stop, step) == (0, len(self), 1):
            return rowwise(operator.getitem, self, Constant((slice(None), *rest))) if rest else self
        first, last = self.bounds[:-1], np.clip(self.bounds[1:], start, max(start, stop))
        begin = np.maximum(first, start)
        begin = begin + (start - begin) % step
        slices = tuple(
            (slice(int(a), int(b), step), *rest)
            for a, b in zip(begin - first, np.maximum(last, begin) - first, strict=True)
        )
        sizes = np.maximum(0, -((begin - last) // step))
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        node = Node(work.item, self.node, Each(slices))
        return Tall(self.engine, node, bounds, self.meta[(slice(None), *rest)])

    def _masked(self, mask: Tall, rest: tuple[Any, ...]) -> Tall:
        """The rows under a mask. How many each slab has is asked once for a mask."""
        memory = mask.node.memory
        if "bounds" not in memory:
            sizes = self.grid.all(Node(np.count_nonzero, mask.node), "count")
            memory["bounds"] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        node = Node(work.item, self.node, mask.node)
        found = Tall(self.engine, node, memory["bounds"], self.meta)
        return found[(slice(None), *rest)] if rest else found

    def _rows(self, index: NDArray[Any]) -> NDArray[Any]:
        """Some rows, on the client; only they travel."""
        index = np.where(index < 0, index + len(self), index)
        home = np.searchsorted(self.bounds, index, "right") - 1
        wanted = [index[home == t] - self.bounds[t] for t in range(self.grid.count)]
        node = Node(work.item, self.node, Each(tuple(wanted)))
        out = np.empty((len(index), *self.shape[1:]), self.dtype)
        for t, found in enumerate(self.grid.all(node, "rows")):
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
        old, new = (aligned(x, self) for x in (self, value))
        node = Node(work.assigned, old, aligned(row, self), rest, new, costly=True)
        self._become(Tall(self.engine, node, self.bounds, self.meta))

    def astype(self, dtype: Any, order: str = "K", copy: bool = True) -> Tall:
        if self.dtype == dtype and order == "K":
            return self.copy()
        return rowwise(partial(np.ascontiguousarray, dtype=np.dtype(dtype)), self)

    def futures(self) -> tuple[Any, ...]:
        """One future a slab, of its rows."""
        return self.grid.futures(self.node, "keep")

    def once(self) -> Tall:
        """The same, which the workers then forget."""
        self.node.costly = False
        return self

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
        node = Node(work.reshaped, self.node, tail)
        return Tall(self.engine, node, bounds, np.empty((0, *tail), self.dtype))

    def swapaxes(self, one: int, two: int) -> Tall:
        return rowwise(partial(np.swapaxes, axis1=one, axis2=two), self)

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


class Wide:
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
        from pygeco.engines.dask.functions import called

        return called(function, args, kwargs, self.T)


class Constant:
    """An argument that goes to each slab as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value


def aligned(x: Any, like: Tall) -> Any:
    """What a node is given for x: a tall array's node, its slabs of an array as tall, or x."""
    if isinstance(x, Constant):
        return x.value
    if isinstance(x, Tall):
        return x.node
    if isinstance(x, np.ndarray) and x.ndim and len(x) == len(like) > 1:
        return cut(x, like.bounds)
    return x


def cut(x: NDArray[Any], bounds: Bounds) -> Each | Node:
    """The slabs of an array of the client. What is the same for all rows travels as one row."""
    if x.strides[0] == 0:
        return Node(work.repeated, x[:1].copy(), Each(tuple(np.diff(bounds).tolist())))
    return Each(tuple(x[a:b].copy() for a, b in pairwise(bounds.tolist())))


def spread(x: NDArray[Any], like: Tall) -> Tall:
    """An array of the client as a tall one."""
    node = Node(work.same, cut(x, like.bounds), costly=True)
    return Tall(like.engine, node, like.bounds, x[:0])


def rowwise(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """function(*args) slab by slab; arrays of the client with as many rows are cut."""
    like = next(x for x in args if isinstance(x, Tall))
    function = partial(function, **kwargs) if kwargs else function
    most = max(x.ndim for x in args if isinstance(x, (Tall, np.ndarray)))
    nodes, metas = [], []
    for x in args:
        whole = isinstance(x, np.ndarray) and x.ndim < most
        nodes.append(x if whole else aligned(x, like))
        cut_ = isinstance(nodes[-1], (Node, Each)) and isinstance(x, np.ndarray)
        metas.append(x.meta if isinstance(x, Tall) else x[:0] if cut_ else _value(x))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        meta = function(*metas)
    return Tall(like.engine, Node(function, *nodes), like.bounds, meta)


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Constant) else x


def summed(
    like: Tall, name: str, meta: NDArray[Any] | Any, function: Callable[..., Any], *args: Any
) -> Any:
    """Σ over slabs of function(*args), which is like `meta`."""
    if not np.size(meta):
        return np.asarray(meta)
    node = Node(function, *(aligned(x, like) for x in args))
    return like.grid.total(node, name, int(np.asarray(meta).nbytes))


def matmul(a: Any, b: Any) -> Any:
    """a @ b, where one of them is tall or wide."""
    if isinstance(b, Wide):
        found = matmul(b.T, a.T)
        return found if found.ndim == 1 else Wide(found)
    if isinstance(a, Wide):
        return _inner(a.T, b)
    if isinstance(a, Tall) and a.ndim > 1:
        return rowwise(np.matmul, a, b if isinstance(b, Tall) else Constant(b))
    if isinstance(a, Tall):
        return _inner(a, b)
    return _inner(b, a.T).T


def _inner(x: Tall, y: Any) -> Any:
    """xᵀ y. The square of a single column comes with it: it is often asked for next."""
    if isinstance(y, Tall) and y.ndim == 1:
        memory = y.node.memory
        if x.node is y.node:
            if "square" not in memory:
                memory["square"] = summed(x, "norm", 0.0, np.dot, x, x)
            return memory["square"]
        meta = x.meta.T @ y.meta
        if not np.size(meta):
            return meta
        found, memory["square"] = summed(x, "project", meta, work.projected, x, y)
        return found
    meta = x.meta.T @ (y.meta if isinstance(y, Tall) else y[:0])
    if not (isinstance(y, Tall) and x.node is y.node):
        return summed(x, "inner", meta, work.inner, x, y)
    if "gram" not in x.node.memory:
        x.node.memory["gram"] = summed(x, "inner", meta, work.inner, x, y)
    return x.node.memory["gram"]


def _split_key(key: Any) -> tuple[Any, tuple[Any, ...]]:
    """The key of the rows, and that of the rest."""
    if key is Ellipsis:
        return slice(None), ()
    if isinstance(key, tuple):
        return (slice(None), key[1:]) if key[0] is Ellipsis else (key[0], key[1:])
    return key, ()
