"""What runs on a worker: plain functions of a slab's own numbers, by the cpu engine there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from pygeco.arrays.kinds import Array
from pygeco.engines.cpu.cells import cut, with_transpose
from pygeco.engines.cpu.engine import ENGINE
from pygeco.engines.cpu.forking import Turn
from pygeco.engines.cpu.threads import one_blas_thread
from pygeco.engines.dask import local, sweeps
from pygeco.engines.dask.slabs import Slab
from pygeco.engines.values import Cells

# A task uses all threads of its worker; two at a time would only get in each other's way.
_TURN = Turn()


class Both(NamedTuple):
    """A slab by row and by column."""

    by_row: Cells
    by_col: Cells


class Input(NamedTuple):
    """What a task is given, or the part of it at a place."""

    at: int
    place: int | None = None


class Result(NamedTuple):
    """What an earlier instruction gave."""

    at: int


class Instruction(NamedTuple):
    function: Callable[..., Any]
    args: tuple[Any, ...]


class Program(NamedTuple):
    """Instructions in order, and which of their results are wanted."""

    instructions: tuple[Instruction, ...]
    wanted: tuple[int, ...]


def run(program: Program, *inputs: Any) -> Any:
    """A task: the wanted results, in a tuple where they are several."""
    return ran(get_worker(), program, inputs)


def ran(worker: Any, program: Program, inputs: Sequence[Any]) -> Any:
    results: list[Any] = []

    def value(arg: Any) -> Any:
        if isinstance(arg, Input):
            return inputs[arg.at] if arg.place is None else inputs[arg.at][arg.place]
        return results[arg.at] if isinstance(arg, Result) else arg

    with _TURN, one_blas_thread():
        _take_threads(worker)
        for function, args in program.instructions:
            results.append(function(*map(value, args)))
    found = tuple(results[at] for at in program.wanted)
    return found[0] if len(found) == 1 else found


def together(finish: Callable[..., Any], count: int, *args: Any) -> Any:
    """finish(Σ of the first `count`, *rest)."""
    with _TURN, one_blas_thread():
        _take_threads(get_worker())
        return finish(added(*args[:count]), *args[count:])


def _take_threads(worker: Any) -> None:
    """As many as the worker has."""
    numba.set_num_threads(max(1, min(worker.state.nthreads, numba.config.NUMBA_NUM_THREADS)))


def pick(parts: tuple[Any, ...], at: int) -> Any:
    return parts[at]


def same(x: Any) -> Any:
    """What many tasks need, as a task: it is sent once, and again where it was lost."""
    return x


def added(*parts: Any) -> Any:
    """The sum of arrays, numbers or tuples of them, in the order given."""
    if isinstance(parts[0], tuple):
        return tuple(added(*some) for some in zip(*parts, strict=True))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def both(slab: Slab, columns: int) -> Both:
    """A slab in both orders, its own arrays used as one of them."""
    return Both(*with_transpose(*slab, columns, ENGINE))


def field(slab: Both, by_col: bool, name: str) -> Any:
    """An array of the cells in one of the orders."""
    return getattr(slab[by_col], name)


def counts(slab: Both, by_col: bool) -> NDArray[np.int64]:
    return slab[by_col].counts()


def owners(slab: Both, first: int) -> NDArray[np.int32]:
    """The row of each cell, counted from the matrix's first."""
    return slab.by_row.owners() + np.int32(first)


def on_cells(
    what: str | Callable[..., Any],
    by_col: bool,
    part: slice | None,
    keywords: dict[str, Any],
    slab: Both,
    values: Array,
    weights: Array,
    *args: Any,
) -> Any:
    """A pass over the slab, of the worker's engine where it is a name, with these values."""
    own = local.engine()
    if not own.uses_host_arrays and what is not sweeps.tables:  # whose kernel is for the cores
        call = getattr(own, what) if isinstance(what, str) else what
        call = partial(call, **keywords)
        return local.on_device(own, call, slab, by_col, part, values, weights, *args)
    cells = slab[by_col]._replace(values=values, weights=weights)
    if part is not None:
        pointers = cells.pointers[part.start : part.stop + 1]
        cells = cells._replace(pointers=pointers, blocks=cut(pointers - pointers[0]))
    call = getattr(ENGINE, what) if isinstance(what, str) else what
    return call(cells, *args, **keywords)


def assigned(x: Array, row: Any, rest: tuple[Any, ...], value: Any) -> Array:
    """X with x[row, rest] = value; x itself stays as it was."""
    out = np.array(x, copy=True)
    out[(row, *rest)] = value
    return out


def some(parts: tuple[Any, ...], places: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(parts[at] for at in places)


def item(x: Array, key: Any) -> Array:
    return x[key]


def repeated(row: Array, count: int) -> Array:
    return np.broadcast_to(row, (count, *row.shape[1:]))


def reshaped(x: Array, tail: tuple[int, ...]) -> Array:
    """Each row cut or joined to rows of this shape."""
    return x.reshape(x.size // max(1, int(np.prod(tail))), *tail)


def stacked(*columns: Array) -> Array:
    return np.column_stack(columns)


def blank(x: Array, tail: tuple[int, ...]) -> Array:
    return np.zeros((len(x), *tail), x.dtype)


def inner(x: Array, y: Array) -> Array:
    return x.T @ y


def projected(X: Array, y: Array) -> tuple[Array, Array]:
    """Xᵀ y and yᵀ y."""
    return X.T @ y, np.dot(y, y)


def extreme(x: Array, function: Callable[..., Any], axis: Any) -> Any:
    """The largest or smallest, or None of nothing."""
    return function(x, axis=axis) if len(x) else None


def second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def turned(pair: tuple[Array, Array], turn: Array) -> Array:
    """A slab's own Q, turned."""
    return pair[0] @ turn


def counted(x: Array, edges: Array) -> NDArray[np.int64]:
    """How many are in [e_k, e_k+1); the last bin has its upper edge too."""
    return np.histogram(x, edges)[0]


def weighed(x: Array, weights: Array, edges: Array) -> Array:
    """The weight in [e_k, e_k+1); the last bin has its upper edge too."""
    return np.histogram(x, edges, weights=weights.astype(float))[0]


def weight_at(x: Array, weights: Array, value: Any) -> Array:
    """The weight of those equal to a value, (1,)."""
    return np.array([weights[x == value].sum(dtype=float)])


def tallied(x: Array, weights: Array | None = None, *, size: int) -> Array:
    """How many are 0, 1, …, size − 1, or their weights."""
    return np.bincount(x, weights, size).astype(float)


def between(x: Array, low: Any, high: Any, closed: bool) -> Array:
    """Those in [low, high), or in [low, high]."""
    return x[(x >= low) & ((x <= high) if closed else (x < high))]


def regrouped(
    rows: NDArray[Any], cols: NDArray[Any], values: Array, weights: Array | None,
    first: int, shape: tuple[int, int],
) -> Slab:  # fmt: skip
    """Cells of a slab's rows, in any order, as a slab of their own."""
    cells = ENGINE.both_orders(rows - first, cols, values, weights, shape)[0]
    return Slab(*cells[:4])


def in_parts(job: Callable[..., Any], slab: Both, values: Array, weights: Array, *args: Any) -> Any:
    """A job on a slab's cells by row."""
    return job(ENGINE, slab.by_row._replace(values=values, weights=weights), *args)


def hashed(*arrays: NDArray[Any]) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).view(np.uint8).data)
    return found.hexdigest()
