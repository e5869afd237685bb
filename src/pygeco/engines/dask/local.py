"""Where a worker works: on its cores, or on its GPU.

`dask.config.set({"pygeco.engine": "cuda"})` on the workers (or DASK_PYGECO__ENGINE=cuda in their
environment) has the passes over a slab run there. The slab is copied to the GPU once, as is
every large array that tasks share; what a pass gives comes back, so that tasks hold NumPy's arrays.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import dask
import numpy as np

from pygeco.arrays.kinds import HOST, moved, on
from pygeco.engines import choose_engine
from pygeco.engines.protocol import Engine
from pygeco.engines.values import Cells

MAX_COPIED_BYTES = 1 << 16  # up to which an array is copied each time

_COPIES: dict[int, Any] = {}  # by the number of the array of the host, while that lives


def engine() -> Engine:
    """The engine of this worker."""
    return choose_engine(dask.config.get("pygeco.engine", "cpu"))


def on_device(
    local: Engine,
    call: Callable[..., Any],
    orders: tuple[Cells, Cells],
    by_col: bool,
    part: slice | None,
    *arrays: Any,
) -> Any:
    """call(cells, *args) with everything on the device; `arrays` are values, weights and args."""
    values, weights, *args = (_there(x, local) for x in arrays)
    cells = _cells(orders, local)[by_col]._replace(values=values, weights=weights)
    if part is not None:
        cells = cells._replace(pointers=cells.pointers[part.start : part.stop + 1])
    return moved(call(cells, *args), HOST)


def _there(x: Any, local: Engine) -> Any:
    if not isinstance(x, np.ndarray) or not x.ndim:
        return x
    return (
        on(x, local.kind) if x.nbytes <= MAX_COPIED_BYTES else _once(x, lambda: on(x, local.kind))
    )


def _cells(orders: tuple[Cells, Cells], local: Engine) -> tuple[Cells, Cells]:
    """Both orders of a slab, grouped anew on the device."""
    by_row, by_col = orders
    shape = by_row.groups, by_col.groups

    def group() -> tuple[Cells, Cells]:
        rows, cols, values = (
            on(x, local.kind) for x in (by_row.owners(), by_row.indices, by_row.values)
        )
        return local.both_orders(rows, cols, values, None, shape)

    return _once(by_row.indices, group)


def _once(x: Any, made: Callable[[], Any]) -> Any:
    """What goes with x, made when first asked for, forgotten with x."""
    if id(x) not in _COPIES:
        weakref.finalize(x, _COPIES.pop, id(x), None)
        _COPIES[id(x)] = made()
    return _COPIES[id(x)]
