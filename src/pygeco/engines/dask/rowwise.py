"""How functions of tall arrays become tasks: row by row, or as sums over the rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.engines.dask import slab_functions
from pygeco.engines.dask.programs import Each, Node

Bounds = NDArray[np.int64]


class TallArray:
    """What `Tall` derives from, so that its functions know it."""


class WideArray:
    """The same for `Wide`, the transpose of a tall matrix."""


def is_tall(x: Any) -> bool:
    return isinstance(x, TallArray)


def is_wide(x: Any) -> bool:
    return isinstance(x, WideArray)


class Constant:
    """An argument that goes to each slab as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value


def align(x: Any, like: Any) -> Any:
    """What a node is given for x: a tall array's node, its slabs of an array as tall, or x."""
    if isinstance(x, Constant):
        return x.value
    if is_tall(x):
        return x.node
    if isinstance(x, np.ndarray) and x.ndim and len(x) == len(like) > 1:
        return slice_by_slab(x, like.bounds)
    return x


def slice_by_slab(x: NDArray[Any], bounds: Bounds) -> Each | Node:
    """The slabs of an array of the client. What is the same for all rows travels as one row."""
    if x.strides[0] == 0:
        return Node(slab_functions.repeat_row, x[:1].copy(), Each(tuple(np.diff(bounds).tolist())))
    return Each(tuple(x[a:b].copy() for a, b in pairwise(bounds.tolist())))


def send_rows(x: NDArray[Any], like: Any) -> Any:
    """An array of the client as a tall one."""
    node = Node(slab_functions.identity, slice_by_slab(x, like.bounds), costly=True)
    return like.like(node, x[:0])


def apply_rowwise(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """function(*args) slab by slab; arrays of the client with as many rows are cut."""
    like = next(x for x in args if is_tall(x))
    function = partial(function, **kwargs) if kwargs else function
    most = max(x.ndim for x in args if (is_tall(x) or isinstance(x, np.ndarray)))
    nodes, metas = [], []
    for x in args:
        whole = isinstance(x, np.ndarray) and x.ndim < most
        nodes.append(x if whole else align(x, like))
        in_slabs = isinstance(nodes[-1], (Node, Each)) and isinstance(x, np.ndarray)
        metas.append(x.meta if is_tall(x) else x[:0] if in_slabs else _value(x))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        meta = function(*metas)
    return like.like(Node(function, *nodes), meta)


def draw_slabs(function: Callable[..., Any], rng: np.random.Generator, *arrays: Any) -> Any:
    """function(generator, *arrays) of each slab, with a stream of its own: a number a row."""
    like = arrays[0]
    seed, places = int(rng.integers(2**63)), Each(tuple(range(like.grid.count)))
    nodes = [x.node for x in arrays]
    node = Node(slab_functions.draw_slab, function, seed, places, *nodes, costly=True)
    return like.like(node, np.zeros(0))


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Constant) else x


def sum_slabs(
    like: Any, name: str, meta: NDArray[Any] | Any, function: Callable[..., Any], *args: Any
) -> Any:
    """Σ over slabs of function(*args), which is like `meta`."""
    if not np.size(meta):
        return np.asarray(meta)
    node = Node(function, *(align(x, like) for x in args))
    return like.grid.total(node, name, int(np.asarray(meta).nbytes))


def matmul(a: Any, b: Any) -> Any:
    """a @ b, where one of them is tall or wide."""
    if is_wide(b):
        found = matmul(b.T, a.T)
        return found.T
    if is_wide(a):
        return _inner(a.T, b)
    if is_tall(a) and a.ndim > 1:
        return apply_rowwise(np.matmul, a, b if is_tall(b) else Constant(b))
    if is_tall(a):
        return _inner(a, b)
    return _inner(b, a.T).T


def _inner(x: Any, y: Any) -> Any:
    """xᵀ y. The square of a single column comes with it: it is often asked for next."""
    if is_tall(y) and y.ndim == 1:
        memory = y.node.memory
        if x.node is y.node:
            if "square" not in memory:
                memory["square"] = sum_slabs(x, "norm", 0.0, np.dot, x, x)
            return memory["square"]
        meta = x.meta.T @ y.meta
        if not np.size(meta):
            return meta
        found, memory["square"] = sum_slabs(x, "project", meta, slab_functions.project, x, y)
        return found
    meta = x.meta.T @ (y.meta if is_tall(y) else y[:0])
    if not (is_tall(y) and x.node is y.node):
        return sum_slabs(x, "inner", meta, slab_functions.inner, x, y)
    if "gram" not in x.node.memory:
        x.node.memory["gram"] = sum_slabs(x, "inner", meta, slab_functions.inner, x, y)
    return x.node.memory["gram"]
