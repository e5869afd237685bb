"""Whether what was given fits: a number as a rank, arrays to the shape of a matrix."""

from __future__ import annotations

from numbers import Real
from typing import Any, TypeGuard

import numpy as np

from pygeco.arrays.kinds import as_array


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is an integer of Python or NumPy; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_real(value: object) -> TypeGuard[float]:
    """Whether it is a number on the real line of Python or NumPy; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_rank(
    rank: object,
    shape: tuple[int, int] | None = None,
    *,
    name: str = "rank",
    least: int = 1,
    instead: str = "",
    sides: tuple[str, str] = ("m", "n"),
) -> int:
    """The rank, if it is a whole number from `least` on that the shape, where given, allows.

    A sentence for any other calls it `name`, the sides of the shape `sides`, and adds `instead`,
    what else can be given.
    """
    if not is_whole(rank):
        raise ValueError(f"{name}: expected an integer{instead}, not {rank!r}.")
    if shape is not None and not least <= rank <= min(shape):
        raise ValueError(
            f"{name}: must be between {least} and {min(shape)} for data with "
            f"{sides[0]}={shape[0]} and {sides[1]}={shape[1]}, not {rank}."
        )
    if rank < least:
        words = f"expected an integer of at least {least}{instead}"
        raise ValueError(f"{name}: {words}, not {rank}.")
    return int(rank)


def check_shape(A: Any, shape: tuple[int, int]) -> None:
    """Raise unless A is a low-rank matrix of this shape: kernels read its factors unasked."""
    (m, n), found = shape, (A.U.shape[0], A.V.shape[0])
    if found != (m, n):
        raise ValueError(
            f"A: is {found[0]} × {found[1]}, but {m} × {n} is asked for; give a matrix of that "
            "shape."
        )


def check_factors(A: Any, shape: tuple[int, int]) -> None:
    """The same of one whose factors have as many columns each; spans may have fewer on a side."""
    check_shape(A, shape)
    if not A.U.shape[1:] == A.V.shape[1:] == A.s.shape:
        raise ValueError(
            f"A: its factors have shapes {A.U.shape}, {A.s.shape} and {A.V.shape}; give U, s and V "
            "with as many columns each."
        )


def check_start(A: Any, shape: tuple[int, int]) -> None:
    """Raise unless a run can start from it: a low-rank matrix of finite numbers, of this shape."""
    if not all(hasattr(A, factor) for factor in ("U", "s", "V")):
        raise ValueError(
            f"start: expected a LowRank or a Path, not {type(A).__name__}; give the A of a step, "
            "or LowRank.from_dense(array)."
        )
    if A.shape != shape:
        raise ValueError(f"start: has shape {A.shape}, but the objective's is {shape}.")
    check_factors(A, shape)
    if not all(bool(np.all(np.isfinite(factor))) for factor in (A.U, A.s, A.V)):
        raise ValueError("start: has NaN or infinite numbers; start from another matrix.")


def check_lines(name: str, x: Any, count: int, axes: int) -> Any:
    """The array, if it has so many axes and as many numbers, or rows of some, as are needed."""
    x = as_array(x)
    if x.ndim != axes or x.shape[0] != count:
        what = "numbers" if axes == 1 else "rows"
        raise ValueError(
            f"{name}: expected {count} {what} in {axes} dimension(s), not an array of shape "
            f"{x.shape}."
        )
    return x


def check_offset(row: Any, col: Any, shape: tuple[int, int]) -> None:
    """Raise unless there is a number for each row, and one for each column."""
    for name, x, count in zip(("row", "col"), (row, col), shape, strict=True):
        check_lines(name, x, count, 1)


def check_sides(names: tuple[str, str], P: Any, Q: Any, shape: tuple[int, int]) -> None:
    """Raise unless P has as many rows as the shape says first and Q as it says second, with as many
    columns as P.
    """
    for name, x, count in zip(names, (P, Q), shape, strict=True):
        check_lines(name, x, count, 2)
    if P.shape[1] != Q.shape[1]:
        raise ValueError(
            f"{names[0]}: has {P.shape[1]} columns, but {names[1]} has {Q.shape[1]}; give both "
            "as many."
        )
