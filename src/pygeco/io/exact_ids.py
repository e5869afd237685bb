"""Ids of one type in another, where each of them is the same there, and ids of two tables as one.

The common type of int64 and uint64 in NumPy is float64, in which ids beyond 2⁵³ are each other's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

EXACT = 2**53  # up to here each whole number has a float of its own


def cast_exactly(ids: NDArray[Any], kind: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Numbers in another type of numbers, and which of them are the same there."""
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            found = ids.astype(kind)
        if ids.dtype.kind == "f":
            return found, np.asarray(found == ids)
        back, inside = cast_exactly(found, ids.dtype)
        return found, inside & np.asarray(back == ids)
    limits = np.iinfo(kind)
    if ids.dtype.kind == "f":
        inside = (np.floor(ids) == ids) & (ids >= float(limits.min))
        inside &= ids < 2.0 ** limits.max.bit_length()  # its largest number has no float
    else:
        inside = (ids >= limits.min) & (ids <= limits.max)
    return np.where(inside, ids, ids.dtype.type(0)).astype(kind), np.asarray(inside)


def unite_ids(known: NDArray[Any], fresh: NDArray[Any], name: str) -> NDArray[Any]:
    """All ids, sorted, in the type of the known ones where the fresh ones fit, else a wider one.

    Ids of which one type cannot hold all exactly are refused; errors call the fresh ones by `name`.
    """
    if not len(fresh) or not len(known):
        return np.unique(known if len(known) else fresh)
    kinds = {known.dtype.kind, fresh.dtype.kind}
    if not kinds <= set("iuf"):
        if len(kinds) > 1:
            _refuse(known, fresh, name)
        return np.union1d(known, fresh)
    if kinds == {"f"}:
        return np.union1d(known, fresh)
    for kind in (known.dtype, np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.float64)):
        if (kind.kind == "f" or "f" in kinds) and not (_is_small(known) and _is_small(fresh)):
            continue
        both = [cast_exactly(ids, kind) for ids in (known, fresh)]
        if all(inside.all() for _, inside in both):
            return np.union1d(both[0][0], both[1][0])
    _refuse(known, fresh, name)
    raise AssertionError


def _is_small(ids: NDArray[Any]) -> bool:
    return bool(np.all((ids >= -EXACT) & (ids <= EXACT)))


def _refuse(known: NDArray[Any], fresh: NDArray[Any], name: str) -> None:
    raise ValueError(
        f"{name}: its ids, such as {fresh[:1].tolist()[0]!r} ({fresh.dtype}), and those of the "
        f"fit, such as {known[:1].tolist()[0]!r} ({known.dtype}), have no type that holds both "
        "exactly; give ids of the type of the fit."
    )
