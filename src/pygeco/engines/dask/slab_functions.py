"""Plain functions of a slab's own numbers, as they run on a worker."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.engines.cpu.cells import with_transpose
from pygeco.engines.cpu.engine import ENGINE
from pygeco.engines.dask.slabs import Slab
from pygeco.engines.protocol import GroupJob
from pygeco.engines.values import Cells


class OrderedSlab(NamedTuple):
    """A slab by row and by column."""

    by_row: Cells
    by_col: Cells


def pick(parts: tuple[Any, ...], at: int) -> Any:
    return parts[at]


def identity(x: Any) -> Any:
    """What many tasks need, as a task: it is sent once, and again where it was lost."""
    return x


def add_parts(*parts: Any) -> Any:
    """The sum of arrays, numbers or tuples of them, in the order given."""
    if isinstance(parts[0], tuple):
        return tuple(add_parts(*some) for some in zip(*parts, strict=True))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def order_slab(slab: Slab, columns: int) -> OrderedSlab:
    """A slab in both orders, its own arrays used as one of them."""
    return OrderedSlab(*with_transpose(*slab, columns, ENGINE))


def cell_field(slab: OrderedSlab, by_col: bool, name: str) -> Any:
    """An array of the cells in one of the orders."""
    return getattr(slab[by_col], name)


def count_cells(slab: OrderedSlab, by_col: bool) -> NDArray[np.int64]:
    return slab[by_col].counts()


def cell_owners(slab: OrderedSlab, first: int) -> NDArray[np.int32]:
    """The row of each cell, counted from the matrix's first."""
    return slab.by_row.owners() + np.int32(first)


def assign(x: Array, row: Any, rest: tuple[Any, ...], value: Any) -> Array:
    """A copy of x with x[row, rest] = value."""
    out = np.array(x, copy=True)
    out[(row, *rest)] = value
    return out


def select(parts: tuple[Any, ...], places: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(parts[at] for at in places)


def take_item(x: Array, key: Any) -> Array:
    return x[key]


def draw_slab(function: Callable[..., Array], seed: int, place: int, *arrays: Array) -> Array:
    """What is drawn for a slab, of one number each."""
    return function(stream(Purpose.SLAB_DRAWS, seed, place), *arrays)


def repeat_row(row: Array, count: int) -> Array:
    return np.broadcast_to(row, (count, *row.shape[1:]))


def reshape_rows(x: Array, tail: tuple[int, ...]) -> Array:
    """Each row cut or joined to rows of this shape."""
    return x.reshape(x.size // max(1, int(np.prod(tail))), *tail)


def stack_columns(*columns: Array) -> Array:
    return np.column_stack(columns)


def make_zeros(x: Array, tail: tuple[int, ...]) -> Array:
    return np.zeros((len(x), *tail), x.dtype)


def inner(x: Array, y: Array) -> Array:
    return x.T @ y


def project(X: Array, y: Array) -> tuple[Array, Array]:
    """Xᵀ y and yᵀ y."""
    return X.T @ y, np.dot(y, y)


def extreme(x: Array, function: Callable[..., Any], axis: Any) -> Any:
    """The largest or smallest, or None of nothing."""
    return function(x, axis=axis) if len(x) else None


def second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def rotate(pair: tuple[Array, Array], rotation: Array) -> Array:
    """A slab's own Q, rotated."""
    return pair[0] @ rotation


def count_in_bins(x: Array, edges: Array) -> NDArray[np.int64]:
    """How many are in [e_k, e_k+1); the last bin has its upper edge too."""
    return np.histogram(x, edges)[0]


def weigh_in_bins(x: Array, weights: Array, edges: Array) -> Array:
    """The weight in [e_k, e_k+1); the last bin has its upper edge too."""
    return np.histogram(x, edges, weights=weights.astype(float))[0]


def weight_at(x: Array, weights: Array, value: Any) -> Array:
    """The weight of those equal to a value, (1,)."""
    return np.array([weights[x == value].sum(dtype=float)])


def tally(x: Array, weights: Array | None = None, *, size: int) -> Array:
    """How many are 0, 1, …, size − 1, or their weights."""
    return np.bincount(x, weights, size).astype(float)


def select_between(x: Array, low: Any, high: Any, closed: bool) -> Array:
    """Those in [low, high), or in [low, high]."""
    return x[(x >= low) & ((x <= high) if closed else (x < high))]


def regroup(
    rows: NDArray[Any], cols: NDArray[Any], values: Array, weights: Array | None,
    first: int, shape: tuple[int, int],
) -> Slab:  # fmt: skip
    """Cells of a slab's rows, in any order, as a slab of their own."""
    cells = ENGINE.both_orders(rows - first, cols, values, weights, shape)[0]
    return Slab(*cells[:4])


def run_job(job: GroupJob, slab: OrderedSlab, values: Array, weights: Array, *args: Any) -> Any:
    """A job on a slab's cells by row."""
    return job(ENGINE, slab.by_row._replace(values=values, weights=weights), *args)


def hash_arrays(*arrays: NDArray[Any]) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).view(np.uint8).data)
    return found.hexdigest()
