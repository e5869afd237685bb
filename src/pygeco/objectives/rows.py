"""New rows against fixed columns: each a least-squares problem of s variables."""

from __future__ import annotations

import numpy as np

from pygeco.engines import cpu
from pygeco.factors import Array
from pygeco.objectives.entries import Entries

ROWS = 4096


def fold_in(entries: Entries, V: Array, *, offset: Array, ridge: float) -> Array:
    """For each row, argmin_w Σ_j (y_ij − offset_j − ⟨w, v_j⟩)² + ridge ‖w‖².

    V (n, s). O(|E| s² + m s³), in blocks of rows. Where a row does not determine w (fewer known
    cells than columns, no ridge), the smallest such w; a row without any cell gives zero.
    """
    cells, s = entries.by_row, V.shape[1]
    V, offset = np.ascontiguousarray(V), np.ascontiguousarray(offset, dtype=float)
    out = np.zeros((entries.shape[0], s))
    for first in range(0, len(out), ROWS):
        count = min(ROWS, len(out) - first)
        grams, sides = np.empty((count, s, s)), np.empty((count, s))
        cpu.row_systems(
            cells.pointers, cells.indices, cells.values, cells.weights,
            first, offset, V, grams, sides,
        )  # fmt: skip
        out[first : first + count] = _solve(grams + ridge * np.eye(s), sides)
    return out


def _solve(grams: Array, sides: Array) -> Array:
    """Least-norm solutions of a stack of positive semidefinite systems."""
    values, vectors = np.linalg.eigh(grams)
    floor = values[:, -1:] * (grams.shape[-1] * np.finfo(float).eps)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > floor)
    turned = np.einsum("tkq,tk->tq", vectors, sides) * inverse
    return np.einsum("tkq,tq->tk", vectors, turned)
