"""A dense matrix as the user gives it: checked, and copied only where it must be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.engines import tiles
from pygeco.engines.tiles import Table
from pygeco.factors import Array
from pygeco.losses import Loss


def checked(Y: ArrayLike, mask: ArrayLike | None, sample_weight: ArrayLike | None) -> Table:
    """Values in their own type, mask and weights, and the type to work in."""
    values = _values(Y)
    weights = (_mask(mask, values.shape), _weights(sample_weight, values.shape))
    # float32 where it holds the values exactly
    working = np.float32 if np.can_cast(values.dtype, np.float32) else np.float64
    return Table(values, tuple(w for w in weights if w is not None), np.dtype(working))


def relabelled(loss: Loss, table: Table) -> Array:
    """The targets as the loss wants them: the one case in which Y is copied."""
    out = np.full(table.values.shape, np.nan, table.dtype)
    for i in tiles.parts(len(out), tiles.ROWS):
        y = table.values[i].astype(table.dtype)
        seen = ~np.isnan(y)
        for w in table.weights:
            seen &= w[i] > 0
        out[i][seen] = loss.targets(y[seen])
    return out


def _values(Y: ArrayLike) -> NDArray[Any]:
    values = np.asarray(Y)
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


def _mask(mask: ArrayLike | None, shape: tuple[int, int]) -> NDArray[Any] | None:
    if mask is None:
        return None
    given = np.asarray(mask)
    if given.dtype != bool or given.shape != shape:
        raise ValueError(
            f"mask: expected booleans of shape {shape}, True where a cell is observed, "
            f"not {given.dtype} of shape {given.shape}."
        )
    return given


def _weights(sample_weight: ArrayLike | None, shape: tuple[int, int]) -> NDArray[Any] | None:
    if sample_weight is None:
        return None
    w = np.asarray(sample_weight)
    if w.dtype.kind not in "fiub" or not np.all(np.isfinite(w)) or w.min() < 0:
        raise ValueError("sample_weight: weights must be finite numbers ≥ 0.")
    try:
        return np.broadcast_to(w, shape)
    except ValueError:
        raise ValueError(
            f"sample_weight: shape {w.shape} does not broadcast to {shape}; pass one weight per "
            "cell, per column, or (m, 1) per row."
        ) from None
