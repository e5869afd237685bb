"""Arrays of rows in slabs on a cluster, as parts of larger values: sent, fetched, written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.container import Blocks
from pygeco.arrays.kinds import host, moved
from pygeco.arrays.low_rank import Array
from pygeco.objectives import Entries

T = TypeVar("T")

ROW_PARTS = ("U", "row", "rows", "row_prior")  # of factors, offsets and posteriors


class Remote(Protocol):
    """What a worker holds or is about to find."""

    def result(self) -> object: ...


@runtime_checkable
class SlabArray(Protocol):
    """An array of rows on a cluster; slab t has the rows bounds[t] … bounds[t + 1] − 1."""

    bounds: NDArray[np.int64]

    def futures(self) -> tuple[Remote, ...]: ...


class Leaf(NamedTuple):
    """The place of an array of rows in a value without its rows."""

    number: int


def is_in_slabs(x: object) -> bool:
    """Whether an array's rows are on a cluster."""
    return isinstance(x, SlabArray)


def map_parts(x: T, function: Callable[[object], object]) -> T:
    """The same object with function(part) for its parts: of dataclasses, tuples and lists."""
    value: Any = x
    if isinstance(value, Leaf):
        return cast(T, function(value))
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.init]
        parts = {name: map_parts(getattr(value, name), function) for name in names}
        return cast(T, replace(value, **parts))
    if hasattr(value, "_fields") and not isinstance(value, Blocks):
        parts = {name: map_parts(getattr(value, name), function) for name in value._fields}
        return cast(T, value._replace(**parts))
    if type(value) in (tuple, list):
        return cast(T, type(value)(map_parts(part, function) for part in value))
    return cast(T, function(value))


def write_in_blocks(x: T) -> T:
    """The same value with its arrays of rows as blocks for a file, one slab each.

    This process then holds one slab of one array at a time.
    """
    return map_parts(x, _as_blocks)


def fetch_rows(x: T) -> T:
    """The same value with its arrays of rows in this process."""
    return map_parts(x, lambda part: host(part) if is_in_slabs(part) else part)


def _as_blocks(x: object) -> object:
    if not isinstance(x, SlabArray):
        return x
    own, array = x, cast(Array, x)

    def runs() -> Iterator[NDArray[np.floating]]:
        return (cast(Array, future.result()) for future in own.futures())

    return Blocks(array.dtype, array.shape, runs)


def place_rows(x: T, entries: Entries) -> T:
    """What a file kept, with its large arrays of the kind of the entries: rows to their slabs."""
    if not is_in_slabs(entries.kind):
        return moved(x, entries.kind)
    engine: Any = entries.engine
    return cast(T, _spread(x, engine.home, rows=False))


def _spread(x: object, home: object, *, rows: bool) -> object:
    """`rows` is true within a part that has one line for each row."""
    from pygeco.engines.dask.rowwise import send_rows

    value: Any = x
    stay = value.on_host() if hasattr(value, "on_host") else ()
    names = (
        [field.name for field in fields(value)]
        if is_dataclass(value)
        else getattr(value, "_fields", ())
    )
    if names:
        parts = {
            name: _spread(getattr(value, name), home, rows=rows or name in ROW_PARTS)
            for name in names
            if name not in stay
        }
        change: Any = replace if is_dataclass(value) else type(value)._replace
        return change(value, **parts)
    return (
        send_rows(value, home) if rows and isinstance(value, np.ndarray) and value.ndim else value
    )
