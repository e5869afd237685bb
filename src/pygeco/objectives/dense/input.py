"""A dense matrix as the user gives it: checked, and copied only where it must be."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # scipy.sparse is imported when used
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.kinds import full, on
from pygeco.arrays.low_rank import Array
from pygeco.engines import Table, TableEngine
from pygeco.losses import Loss, Squared, check_size, prepare_loss

ROWS_AT_ONCE = 256  # that are checked at once


def check_table(
    Y: ArrayLike, mask: ArrayLike | None, sample_weight: ArrayLike | None, engine: TableEngine
) -> Table:
    """Values in their own type, mask and weights, and the type to work in."""
    values = _values(Y, engine.kind)
    weights = (_mask(mask, values), _weights(sample_weight, values))
    # float32 where it holds the values exactly
    working = np.float32 if np.can_cast(values.dtype, np.float32) else np.float64
    return Table(values, tuple(w for w in weights if w is not None), np.dtype(working), engine)


def check_extremes(table: Table, loss: Loss) -> None:
    """Raise where an observed cell is too large to be squared."""
    values = table.values
    if values.dtype.kind != "f":
        return
    single = table.dtype == np.float32 and not isinstance(loss, Squared)
    ends = np.asarray([float(np.nanmin(values)), float(np.nanmax(values))], values.dtype)
    try:
        check_size("Y", ends, single=single)
    except ValueError:  # perhaps of cells that are masked
        for first in range(0, len(values), ROWS_AT_ONCE):
            i = slice(first, first + ROWS_AT_ONCE)
            check_size("Y", values[i][_seen(table, i)], single=single)


def relabel_table(loss: str | Loss, table: Table) -> tuple[Loss, Table]:
    """The loss as all observed cells make it, and the targets as it wants them.

    The one case in which Y is copied: a sample may miss a rare level, and which labels there are
    is settled by all of them together.
    """
    seen = _seen(table, slice(None))
    given = table.values[seen].astype(table.dtype)
    found, targets = prepare_loss(loss, given, weights_at(table, ..., seen))
    out = full(table.values.shape, np.nan, table.values, table.dtype)
    out[seen] = targets
    return found, table._replace(values=out)


def weights_at(table: Table, at: Any, seen: NDArray[np.bool_]) -> Array | None:
    """The weights of cells of the part `at`, those that are seen; None where each counts once."""
    given = [w for w in table.weights if w.dtype != bool]  # a mask is none
    return given[0][at][seen] if given else None


def _seen(table: Table, i: slice) -> NDArray[np.bool_]:
    """Which cells of some rows are observed."""
    y = table.values[i]
    seen = y == y  # a NaN is not
    for w in table.weights:
        seen &= w[i] > 0
    return seen


def _values(Y: ArrayLike, like: Array) -> NDArray[Any]:
    if scipy.sparse.issparse(Y):
        raise ValueError(
            "Y: is a sparse matrix; use Entries.from_sparse(Y) where only its cells are known, or "
            "Dense(Y.toarray()) where all are."
        )
    values = on(Y, like)
    if values.ndim != 2:
        raise ValueError(f"Y: expected a 2-dimensional array, got {values.ndim} dimension(s).")
    if values.dtype.kind not in "fiub":
        raise ValueError(f"Y: expected real numbers, not {values.dtype}.")
    if 0 in values.shape:
        raise ValueError(f"Y: shape {values.shape} has no cells; at least one is needed.")
    if values.dtype == bool:
        return values.view(np.uint8)
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        return values.astype(np.float32 if values.dtype.itemsize < 4 else np.float64)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _mask(mask: ArrayLike | None, values: NDArray[Any]) -> NDArray[Any] | None:
    if mask is None:
        return None
    given, shape = on(mask, values), values.shape
    if given.dtype != bool or given.shape != shape:
        raise ValueError(
            f"mask: expected booleans of shape {shape}, True where a cell is observed, "
            f"not {given.dtype} of shape {given.shape}."
        )
    return given


def _weights(sample_weight: ArrayLike | None, values: NDArray[Any]) -> NDArray[Any] | None:
    if sample_weight is None:
        return None
    w, shape = on(sample_weight, values), values.shape
    if w.dtype.kind not in "fiub" or not np.all(np.isfinite(w)) or w.min() < 0:
        raise ValueError("sample_weight: weights must be finite numbers ≥ 0.")
    try:
        return np.broadcast_to(w, shape)
    except ValueError:
        raise ValueError(
            f"sample_weight: shape {w.shape} does not broadcast to {shape}; pass one weight per "
            "cell, per column, or (m, 1) per row."
        ) from None
