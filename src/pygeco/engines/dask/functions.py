"""NumPy's functions on tall arrays, as far as they are used."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from pygeco.engines.dask import slab_functions
from pygeco.engines.dask.programs import Each, Node
from pygeco.engines.dask.rowwise import Constant, align, apply_rowwise, send_rows, sum_slabs
from pygeco.engines.dask.tall import Tall, Wide

HANDLERS: dict[Any, Callable[..., Any]] = {}


def call_function(function: Any, args: Any, kwargs: Any, like: Tall) -> Any:
    """The function for tall arrays; row by row, where nothing else is known of it."""
    if function in MADE_ON_CLIENT:
        return function(*args, **kwargs)
    if function in HANDLERS:
        return HANDLERS[function](like, *args, **kwargs)
    if function in ROWWISE:
        return apply_rowwise(function, *args, **kwargs)
    raise TypeError(f"{function.__name__} is not there for rows on a cluster")


MEDIAN_BINS = 256  # by which a median's range is narrowed at once
MAX_FETCHED_NUMBERS = 1 << 16  # that may travel to the client

# What is made from nothing is made on the client: it mixes with tall arrays.
MADE_ON_CLIENT = {np.zeros, np.empty, np.arange}
ROWWISE = {
    np.where, np.clip, np.nan_to_num, np.linalg.solve, np.trace, np.zeros_like, np.round,
    np.ones_like,
}  # fmt: skip


def handles(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        HANDLERS.update(dict.fromkeys(functions, handler))
        return handler

    return register


@handles(np.asarray, np.array)
def _asarray(like: Tall, x: Any, dtype: Any = None, **_: Any) -> Any:
    """A tall array; or one of the client, which a matrix as tall as the data becomes."""
    if isinstance(x, Wide):
        return Wide(_asarray(like, x.T, dtype))
    if isinstance(x, Tall):
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)
    x = np.asarray(x, dtype)
    home = like.engine.home
    tall = x.ndim == 2 and x.size and len(x) == home.bounds[-1] != like.engine.columns
    return send_rows(x, home) if tall else x


@handles(np.empty_like)
def _empty_like(like: Tall, x: Any, dtype: Any = None, shape: Any = None, **_: Any) -> Any:
    if isinstance(x, Wide):
        return Wide(_empty_like(like, x.T, dtype))
    if shape is None:
        return apply_rowwise(partial(np.zeros_like, dtype=dtype), x)
    if len(shape) == 2 and shape[1] == len(x):
        return Wide(apply_rowwise(partial(slab_functions.make_zeros, tail=(shape[0],)), x))
    if shape[0] != len(x):
        raise TypeError("rows on a cluster: an array like them has as many rows, or columns")
    return apply_rowwise(partial(slab_functions.make_zeros, tail=tuple(shape[1:])), x)


@handles(np.column_stack)
def _column_stack(like: Tall, arrays: Any) -> Tall:
    like = next(x for x in arrays if isinstance(x, Tall))
    metas = [x.meta if isinstance(x, Tall) else x[:0] for x in arrays]
    nodes = [align(x, like) for x in arrays]
    return Tall(
        like.engine, Node(slab_functions.stack_columns, *nodes), like.bounds, np.column_stack(metas)
    )


@handles(np.concatenate, np.vstack)
def _concatenate(like: Tall, arrays: Any, axis: int = 0) -> Any:
    if axis == 0 and all(isinstance(x, Wide) for x in arrays):
        return Wide(_column_stack(like, [x.T for x in arrays]))
    if axis == 1:
        return _column_stack(like, arrays)
    raise TypeError("rows on a cluster are not put one below the other")


def _across(x: Tall, axis: Any) -> bool:
    """Whether an axis is inside the rows."""
    axes = (axis,) if isinstance(axis, int) else axis
    return axes is not None and 0 not in [a % x.ndim for a in axes]


@handles(np.sum)
def _sum(like: Tall, x: Tall, axis: Any = None, dtype: Any = None, **_: Any) -> Any:
    function = partial(np.sum, axis=axis, dtype=dtype)
    if _across(x, axis):
        return apply_rowwise(function, x)
    return sum_slabs(x, "sum", function(x.meta), function, x)


@handles(np.mean)
def _mean(like: Tall, x: Tall, axis: Any = None, dtype: Any = None, **_: Any) -> Any:
    if _across(x, axis):
        return apply_rowwise(partial(np.mean, axis=axis, dtype=dtype), x)
    kind = np.dtype(dtype or np.result_type(x.dtype, np.float32))
    count = len(x) if axis == 0 else x.size
    return (_sum(like, x, axis, float) / count).astype(kind)


@handles(np.max, np.min)
def _extreme(like: Tall, x: Tall, axis: Any = None, *, largest: bool, **_: Any) -> Any:
    function = np.max if largest else np.min
    if _across(x, axis):
        return apply_rowwise(partial(function, axis=axis), x)
    node = Node(partial(slab_functions.extreme, function=function, axis=axis), x.node)
    parts = [part for part in x.grid.fetch_parts(node, "extreme") if part is not None]
    return function(np.array(parts), axis=0)


HANDLERS[np.max] = partial(_extreme, largest=True)
HANDLERS[np.min] = partial(_extreme, largest=False)


@handles(np.any)
def _any(like: Tall, x: Tall, **_: Any) -> Any:
    return sum_slabs(x, "any", 0, np.count_nonzero, x) > 0


@handles(np.all)
def _all(like: Tall, x: Tall, **_: Any) -> Any:
    return sum_slabs(x, "all", 0, np.count_nonzero, x) == x.size


@handles(np.unique)
def _unique(like: Tall, x: Tall, return_counts: bool = False, **_: Any) -> Any:
    """Of numbers that repeat: each slab sends its own."""
    parts = x.grid.fetch_parts(Node(partial(np.unique, return_counts=True), x.node), "unique")
    found, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    times = np.concatenate([part[1] for part in parts])
    counts = np.bincount(place, times, len(found)).astype(np.int64)
    return (found, counts) if return_counts else found


@handles(np.bincount)
def _bincount(like: Tall, x: Tall, weights: Any = None, minlength: int = 0) -> Any:
    given = () if weights is None else (weights,)
    counts = partial(slab_functions.tally, size=minlength)
    return sum_slabs(x, "bincount", np.zeros(minlength), counts, x, *given)


@handles(np.quantile)
def _quantile(like: Tall, x: Tall, q: float, *, weights: Tall, method: str) -> Any:
    """Exact, for method="inverted_cdf": the first number whose weight, with all before, is q.

    The range is narrowed by sums of weights until two neighboring numbers are left.
    """
    if method != "inverted_cdf":
        raise TypeError(f"method: {method!r} is not known on a cluster; use 'inverted_cdf'.")
    low, high = np.min(x), np.max(x)
    wanted, below = q * float(np.sum(weights, dtype=float)), 0.0
    while low < high:
        edges = np.unique(np.linspace(low, high, MEDIAN_BINS + 1).astype(x.dtype))
        args = (slab_functions.weigh_in_bins, x, weights, Constant(edges))
        ends = below + np.cumsum(sum_slabs(x, "quantile", np.zeros(len(edges) - 1), *args))
        if len(edges) == 2:
            own = sum_slabs(
                x, "quantile", np.zeros(1), slab_functions.weight_at, x, weights, Constant(low)
            )
            return low if below + float(own[0]) >= wanted else high
        at = min(int(np.searchsorted(ends, wanted)), len(ends) - 1)
        below = float(ends[at - 1]) if at else below
        low, high = edges[at], edges[at + 1]
    return low


@handles(np.median)
def _median(like: Tall, x: Tall, **_: Any) -> Any:
    """Exact: the range is narrowed by counting until the numbers inside may travel."""
    middle = [(len(x) - 1) // 2, len(x) // 2]
    return np.mean([_order_statistic(x, rank) for rank in dict.fromkeys(middle)])


def _order_statistic(x: Tall, rank: int) -> Any:
    """The number that `rank` others do not exceed."""
    low, high, below = np.min(x), np.max(x), 0
    while low < high:
        edges = np.unique(np.linspace(low, high, MEDIAN_BINS + 1).astype(x.dtype))
        counts = sum_slabs(
            x, "median", np.zeros(MEDIAN_BINS), slab_functions.count_in_bins, x, Constant(edges)
        )
        ends = below + np.cumsum(counts)
        at = int(np.searchsorted(ends, rank, "right"))
        below = int(ends[at] - counts[at])
        low, high = edges[at], edges[at + 1]
        if counts[at] <= MAX_FETCHED_NUMBERS or len(edges) == 2:
            node = Node(slab_functions.select_between, x.node, low, high, at + 2 == len(edges))
            return np.sort(np.concatenate(x.grid.fetch_parts(node, "median")))[rank - below]
    return low


@handles(np.searchsorted)
def _searchsorted(like: Tall, levels: Any, x: Tall, **options: Any) -> Tall:
    return apply_rowwise(np.searchsorted, Constant(levels), x, **options)


@handles(np.isin)
def _isin(like: Tall, x: Tall, levels: Any) -> Tall:
    return apply_rowwise(np.isin, x, Constant(levels))


@handles(np.reshape)
def _reshape(like: Tall, x: Tall, shape: Any) -> Tall:
    return x.reshape(shape)


@handles(np.dot)
def _dot(like: Tall, a: Any, b: Any) -> Any:
    return np.matmul(a, b)


@handles(np.linalg.norm)
def _norm(like: Tall, x: Tall, ord: Any = None, axis: Any = None, **options: Any) -> Any:  # noqa: A002
    if _across(x, axis):
        return apply_rowwise(partial(np.linalg.norm, ord=ord, axis=axis, **options), x)
    if ord is not None:
        raise TypeError("rows on a cluster: only the Euclidean norm")
    return np.sqrt(x @ x if x.ndim == 1 else _sum(like, x * x, axis))


@handles(np.broadcast_to)
def _broadcast_to(like: Tall, x: Tall, shape: Any) -> Tall:
    if tuple(shape) == x.shape:
        return x
    tail = tuple(shape[1:])
    sizes = Each(tuple((n, *tail) for n in np.diff(x.bounds).tolist()))
    meta = np.broadcast_to(x.meta, (0, *tail))
    return Tall(x.engine, Node(np.broadcast_to, x.node, sizes), x.bounds, meta)


@handles(np.einsum)
def _einsum(like: Tall, form: str, *arrays: Any) -> Any:
    """The first index of the tall arrays is the row."""
    tall = next(x for x in arrays if isinstance(x, Tall))
    row = form.split(",")[[x is tall for x in arrays].index(True)].strip()[0]
    function = partial(np.einsum, form)
    if form.split("->")[1].strip().startswith(row):
        return apply_rowwise(function, *arrays)
    meta = function(*(x.meta if isinstance(x, Tall) else x[:0] for x in arrays))
    return sum_slabs(tall, "einsum", meta, function, *arrays)


@handles(np.result_type)
def _result_type(like: Tall, *arrays: Any) -> Any:
    return np.result_type(*(x.dtype if isinstance(x, (Tall, Wide)) else x for x in arrays))


@handles(np.linalg.qr)
def _qr(like: Tall, X: Tall, **_: Any) -> tuple[Tall, Any]:
    """By the R of each slab, put one below the other, and their Q (TSQR)."""
    local = Node(np.linalg.qr, X.node, costly=True)
    local.holders += 1
    parts = X.grid.fetch_parts(Node(slab_functions.second, local), "qr")
    Q, R = np.linalg.qr(np.concatenate(parts))
    ends = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    rotations = Each(tuple(Q[a:b] for a, b in pairwise(ends.tolist())))
    node = Node(slab_functions.rotate, local, rotations)
    local.holders -= 1
    return Tall(X.engine, node, X.bounds, X.meta[:, : len(R)]), R
