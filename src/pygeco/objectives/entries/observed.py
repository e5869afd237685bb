"""Cells as the user gives them: checked, without repeats, in both orders."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.checks import is_whole
from pygeco.arrays.coded import encode_values
from pygeco.arrays.kinds import as_index, contiguous, on, ones, runs
from pygeco.arrays.low_rank import Array
from pygeco.engines import Cells, Engine
from pygeco.errors import RepeatedCellError

MIN_CODED_CELLS = 1 << 22  # from here on a byte for each value is worth a kernel of its own


def order_cells(
    rows: ArrayLike,
    cols: ArrayLike,
    values: ArrayLike,
    shape: tuple[int, int] | None,
    *,
    engine: Engine,
    sample_weight: ArrayLike | None,
    duplicates: str,
    allow_empty: bool,
) -> tuple[Cells, Cells, tuple[int, int]]:
    """The cells by row and by column, and the shape, which is the smallest one by default."""
    y = _values(values, allow_empty, engine.kind)
    i, j, shape = _indices(rows, cols, y, shape)
    w = _weights(sample_weight, y)
    if w is not None and not w.all():  # a cell of weight zero is none
        some = w > 0
        i, j, y, w = i[some], j[some], y[some], w[some]
    y = _compact(y, engine)
    by_row, by_col = drop_repeats(*engine.both_orders(i, j, y, w, shape), duplicates, shape)
    return *engine.place_cells(by_row, by_col), shape


def use_compressed(X: Any, engine: Engine, allow_empty: bool) -> tuple[Cells, Cells] | None:
    """A CSR or CSC matrix in both orders, its own arrays used as one of them.

    None where that cannot be: another format or engine, unsorted or repeated cells, long indices.
    """
    ready = (
        engine.uses_host_arrays
        and X.format in ("csr", "csc")
        and X.has_canonical_format
        and X.indices.dtype == np.int32
        and X.data.dtype.kind == "f"
        and X.data.dtype.itemsize in (4, 8)
        and X.data.flags.c_contiguous
        and X.data.flags.aligned
    )
    if not ready:
        return None
    y = _values(X.data, allow_empty, engine.kind)
    groups, others = X.shape if X.format == "csr" else X.shape[::-1]
    if len(y) and X.indices.view(np.uint32).max() >= others:  # a negative one is a large one there
        raise ValueError(f"X: an index is outside 0 … {others - 1}; build the matrix again.")
    pointers = X.indptr.astype(np.int64)
    if len(pointers) != groups + 1 or pointers[-1] != len(y) or np.any(np.diff(pointers) < 0):
        raise ValueError("X: its index pointers do not fit its cells; build the matrix again.")
    none = y[:0]
    from pygeco.engines.cpu.cells import with_transpose  # kernels: who only asks a model has none

    one, other = with_transpose(pointers, X.indices, _compact(y, engine), none, others, engine)
    return (one, other) if X.format == "csr" else (other, one)


def _values(values: ArrayLike, allow_empty: bool, like: Array) -> Array:
    y = on(values, like)
    if y.dtype.kind not in "fiub":
        raise ValueError(f"values: expected real numbers, not {y.dtype}.")
    if y.ndim != 1:
        raise ValueError(f"values: expected a 1-dimensional array, got {y.ndim} dimensions.")
    if y.dtype != np.float32:
        y = y.astype(float, copy=False)
    if len(y) == 0 and not allow_empty:
        raise ValueError("values: no observed cell; at least one is needed.")
    _refuse_bad(y)
    return contiguous(y)


def _compact(y: Array, engine: Engine) -> Array:
    """Many values of few kinds as codes; else as they are."""
    if not engine.uses_host_arrays or len(y) < MIN_CODED_CELLS:
        return y
    found: Any = encode_values(y)
    return y if found is None else found


def _refuse_bad(y: Array) -> None:
    """An error where values are not finite, found a part at a time."""
    if all(bool(np.isfinite(y[part]).all()) for part in runs(y)):
        return
    bad = np.flatnonzero(~np.isfinite(y))
    raise ValueError(
        f"values: {len(bad)} of {len(y)} observed values are NaN or infinity (the first at "
        f"position {int(bad[0])}); drop those cells."
    )


def _indices(
    rows: ArrayLike, cols: ArrayLike, y: Array, shape: tuple[int, int] | None
) -> tuple[NDArray[Any], NDArray[Any], tuple[int, int]]:
    sides, count = [], len(y)
    shape = None if shape is None else _shape(shape)
    for axis, (name, given) in enumerate((("rows", rows), ("cols", cols))):
        index = as_index(on(given, y))
        if index.dtype.kind not in "iu":
            raise ValueError(
                f"{name}: expected integers, not {index.dtype}; a table, such as a DataFrame of "
                "three columns, may have ids of any kind."
            )
        if index.shape != (count,):
            raise ValueError(f"{name}: expected {count} indices, one per value, not {index.shape}.")
        top = int(index.max()) if count else -1
        size = top + 1 if shape is None else shape[axis]
        if count and (int(index.min()) < 0 or top >= size):
            wrong = index[(index < 0) | (index >= size)][0]
            raise ValueError(f"{name}: index {wrong} is outside 0 … {size - 1}; see `shape`.")
        if size > np.iinfo(np.int32).max:
            raise ValueError(f"shape: at most 2³¹ − 1 {name} are supported, not {size}.")
        sides.append((contiguous(index), size))
    (i, m), (j, n) = sides
    return i, j, (m, n)


def _shape(given: tuple[int, int]) -> tuple[int, int]:
    sides = tuple(given) if np.ndim(given) == 1 else ()
    if len(sides) != 2 or not all(map(is_whole, sides)) or min(sides) < 1:
        raise ValueError(f"shape: expected two integers of at least 1, not {given!r}.")
    return int(sides[0]), int(sides[1])


def _weights(sample_weight: ArrayLike | None, y: Array) -> Array | None:
    if sample_weight is None:
        return None
    given = on(sample_weight, y)
    if given.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight: expected real numbers, not {given.dtype}.")
    w = contiguous(given, y.dtype)
    if w.shape != y.shape:
        raise ValueError(f"sample_weight: expected shape {y.shape}, one per value, not {w.shape}.")
    if not (np.all(np.isfinite(w)) and w.min() >= 0 and w.max() > 0):
        raise ValueError("sample_weight: weights must be finite, ≥ 0 and not all zero.")
    return w


def check_policy(duplicates: str) -> None:
    policies = ("error", "mean", "sum", "last")
    if duplicates not in policies:
        raise ValueError(f"duplicates: unknown policy {duplicates!r}; use one of {policies}.")


def drop_repeats(
    by_row: Cells, by_col: Cells, duplicates: str, shape: tuple[int, int]
) -> tuple[Cells, Cells]:
    """The cells with at most one each, by the policy."""
    check_policy(duplicates)
    again = find_repeats(by_row.pointers, by_row.indices)
    if not len(again):
        return by_row, by_col
    rows = np.repeat(np.arange(shape[0], like=by_row.indices), by_row.counts())
    if duplicates == "error":
        i, j = int(rows[again[0]]), int(by_row.indices[again[0]])
        raise RepeatedCellError((i, j), len(again))
    first = ones(by_row.size, by_row.values, bool)
    first[again] = False
    at = np.flatnonzero(first)
    w = by_row.weights if len(by_row.weights) else None
    y, heavier = merge_repeats(by_row.values, w, at, duplicates)
    return by_row.engine.both_orders(rows[at], by_row.indices[at], y, heavier, shape)


def find_repeats(pointers: NDArray[np.int64], indices: NDArray[np.int32]) -> NDArray[np.int64]:
    """Positions of the cells, sorted within each row, that repeat the one before."""
    again = np.flatnonzero(indices[1:] == indices[:-1]) + 1
    starts = pointers[np.searchsorted(pointers, again)]
    return again[starts != again]  # the first cell of a row may repeat the last row's column


def merge_repeats(
    y: Array, w: Array | None, at: NDArray[np.int64], duplicates: str
) -> tuple[Array, Array | None]:
    """One value and the mean weight for each run of repeats that starts at `at`."""
    if duplicates == "last":
        last = np.append(at[1:], len(y)) - 1
        return y[last], None if w is None else w[last]
    counts = np.diff(np.append(at, len(y)))
    if w is None:
        total = np.add.reduceat(y, at)
        return (total if duplicates == "sum" else total / counts.astype(y.dtype)), None
    heavy = np.add.reduceat(w, at)
    mean = (heavy / counts).astype(w.dtype)
    if duplicates == "sum":
        return np.add.reduceat(y, at), mean
    return np.add.reduceat(w * y, at) / np.where(heavy > 0, heavy, 1), mean
