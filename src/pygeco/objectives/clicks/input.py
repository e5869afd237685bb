"""Clicks as the user gives them: a sparse matrix or triplets, targets, and weights of lines."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pygeco.arrays.coded import decode_values
from pygeco.arrays.kinds import HOST, Array, as_array, contiguous, on
from pygeco.engines import Cells, Engine, LocalEngine, choose_engine
from pygeco.objectives.entries.objective import Entries


class Given(NamedTuple):
    """Clicks that weigh something; `weights` is None where all weigh one."""

    rows: NDArray[Any]
    cols: NDArray[Any]
    targets: Array
    weights: Array | None
    shape: tuple[int, int] | None
    engine: Engine


def read_clicks(X: Any, targets: ArrayLike, dtype: DTypeLike | None, engine: Any) -> Given:
    """The clicks of a sparse matrix or of triplets, in one precision."""
    rows, cols, data, shape = _split_clicks(X)
    found = choose_engine(engine, data)
    # A cluster takes the clicks from here, and places them itself.
    like = found.kind if isinstance(found, LocalEngine) else HOST
    real = _choose_dtype(data, dtype)
    w = contiguous(on(data, like), real)
    if w.ndim != 1 or not len(w):
        raise ValueError("X: has no click; at least one is needed.")
    if not (bool(np.all(np.isfinite(w))) and float(w.min()) >= 0 and float(w.max()) > 0):
        raise ValueError("X: weights of clicks must be finite, ≥ 0 and not all zero.")
    rows, cols = on(rows, like), on(cols, like)
    y = _read_targets(targets, w)
    plain = bool(np.all(w == 1))
    return Given(rows, cols, y, None if plain else w, shape, found)


def _split_clicks(X: Any) -> tuple[Any, Any, Any, tuple[int, int] | None]:
    if isinstance(X, (tuple, list)):
        if len(X) not in (3, 4):
            raise ValueError(
                f"X: expected (rows, cols, weights) or (rows, cols, weights, shape), not "
                f"{len(X)} parts."
            )
        rows, cols, data = (as_array(part) for part in X[:3])
        shape = X[3] if len(X) == 4 else None
    elif hasattr(X, "tocoo"):
        coo = X.tocoo()
        rows, cols, data, shape = coo.row, coo.col, coo.data, coo.shape
    else:
        raise ValueError(
            f"X: expected a sparse matrix or (rows, cols, weights, shape), not "
            f"{type(X).__name__}; scipy.sparse.csr_array makes one of a dense array."
        )
    if data.dtype.kind not in "fiub":
        raise ValueError(f"X: weights must be real numbers, not {data.dtype}.")
    return rows, cols, data, shape


def _choose_dtype(data: Any, dtype: DTypeLike | None) -> np.dtype[Any]:
    """The one asked for; else double where the weights are, and single for all others."""
    if dtype is None:
        return np.dtype(np.float64 if data.dtype == np.float64 else np.float32)
    real = np.dtype(dtype)
    if real not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype: must be float32 or float64, not {real}.")
    return real


def _read_targets(targets: ArrayLike, w: Array) -> Array:
    given = as_array(targets)
    if given.dtype.kind not in "fiub" or given.shape not in ((), w.shape):
        raise ValueError(
            f"targets: expected a number or {len(w)} numbers, one a click, not an array of "
            f"{given.dtype} and shape {given.shape}."
        )
    y = np.empty_like(w)
    y[...] = on(given, w, w.dtype)
    if not bool(np.all(np.isfinite(y))):
        raise ValueError("targets: must be finite.")
    return y


def read_line_weights(name: str, power: float, given: ArrayLike | None, counts: Array) -> Array:
    """Weights of the background's rows, or columns: as given, or counts^power of mean 1.

    A line without any click counts as one click: its weight then is positive for every power.
    """
    if not np.isfinite(power):
        raise ValueError(f"{name}_power: must be a finite number, not {power!r}.")
    if given is None:
        weights = np.maximum(counts, 1.0) ** float(power)
        return weights / float(weights.mean())
    if power != 0:
        raise ValueError(f"{name}_power: is given beside {name}_weights; give one of them.")
    weights = on(given, counts, float)
    if weights.shape != counts.shape:
        raise ValueError(
            f"{name}_weights: expected shape {counts.shape}, one a {name}, not {weights.shape}."
        )
    if not (bool(np.all(np.isfinite(weights))) and float(weights.min()) >= 0):
        raise ValueError(f"{name}_weights: must be finite and ≥ 0.")
    return weights


def check_background(background: float) -> float:
    number = isinstance(background, (int, float, np.integer, np.floating))
    if not number or isinstance(background, bool) or not 0 <= background < np.inf:
        raise ValueError(f"background: must be a finite number ≥ 0, not {background!r}.")
    return float(background)


def weigh_by_values(entries: Entries) -> Entries:
    """The same cells with target one and their values as weights."""
    other = copy.copy(entries)
    other.__dict__.pop("value_at_zero", None)
    plain = bool(np.all(entries.by_row.values == 1))
    for name in ("by_row", "by_col"):
        cells: Cells = getattr(entries, name)
        weights = cells.values[:0] if plain else decode_values(cells.values)  # kernels take numbers
        setattr(other, name, cells._replace(values=np.ones_like(cells.values), weights=weights))
    values = entries.by_row.values
    other.total_weight = float(values.sum(dtype=float))
    return other
