"""What passes over cells are given, looked at before kernels read it.

Kernels do not know where an array ends: from one that is too short they would read, and give, the
numbers beside it. Only lengths are looked at here, no cell.
"""

from __future__ import annotations

from typing import Any

from pygeco.arrays.low_rank import Array
from pygeco.engines.values import Cells, LineScales, Ridges


def check_arrays(
    cells: Cells, *, data: Any = None, own: tuple[Any, ...] = (), other: tuple[Any, ...] = ()
) -> None:
    """Raise unless there is a number for each cell in `data`, a row for each group in each of
    `own`, and one for each index in each of `other`. None stands for nothing.
    """
    if data is not None and len(data) < cells.pointers[-1]:
        raise ValueError(f"data: {cells.pointers[-1]} cells need as many numbers, not {len(data)}.")
    for x in own:
        if x is not None and len(x) != cells.groups:
            raise ValueError(f"groups: {cells.groups} of cells need as many rows, not {len(x)}.")
    for x in other:
        if x is not None:
            check_others(cells, len(x))


def check_others(cells: Cells, count: int) -> None:
    """Raise unless all indices are below this."""
    if count < cells.others:
        raise ValueError(f"indices: go up to {cells.others - 1} and need more rows than {count}.")


def check_factors(cells: Cells, P: Array, Q: Array, size: int = 0) -> None:
    """The same of factors whose rows are multiplied, `size` columns at least."""
    check_arrays(cells, own=(P,), other=(Q,))
    if P.shape[1:] != Q.shape[1:]:
        raise ValueError(
            f"factors: rows of {P.shape[1:]} and {Q.shape[1:]} numbers have no products; give both "
            "as many."
        )
    if size > Q.shape[1]:
        raise ValueError(f"size: must be at most {Q.shape[1]}, the columns of Q, not {size}.")


def check_scales(cells: Cells, data: Array, X: Array, scales: LineScales) -> None:
    """The same of columns X that are multiplied, and of what scales and shifts the products."""
    check_arrays(cells, data=data, own=(scales.own, scales.pull), other=(X, scales.other))
    if scales.shift is not None and len(scales.shift) != X.shape[1]:
        raise ValueError(
            f"shift: {X.shape[1]} columns need as many numbers, not {len(scales.shift)}."
        )


def check_ridges(cells: Cells, ridges: Ridges, *starts: Array) -> None:
    """Raise unless each group has a start and a problem of its own, and each index a partner."""
    shift = ridges.shift if ridges.shift.ndim == 2 else None
    partner = ridges.partner, ridges.bias, ridges.variance, ridges.bias_variance
    own = ridges.ridge, ridges.noise, ridges.background, shift
    check_arrays(cells, own=(*starts, *own), other=partner)


def check_part(cells: Cells, part: slice, *partners: Array) -> None:
    """Raise unless these are some of the groups, and each index has a partner."""
    if not 0 <= part.start <= part.stop <= cells.groups:
        raise ValueError(f"part: {part} is not among {cells.groups} groups of cells.")
    check_arrays(cells, other=partners)
