"""New rows against fixed columns: each a small problem of s variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pygeco.engines import cpu
from pygeco.factors import Array
from pygeco.objectives.entries import Entries
from pygeco.objectives.row_newton import minimise_side

ROWS = 4096


def fold_in(entries: Entries, V: Array, *, offset: Array, ridge: ArrayLike) -> Array:
    """For each row, argmin_w Σ_j ℓ(offset_j + ⟨w, v_j⟩, y_ij) + Σ_k ridge_k w_k².

    V (n, s), `ridge` a number or (s,). O(|E| s² + m s³), times the Newton steps where the loss is
    not squared. Where a row does not determine w (fewer known cells than columns, no ridge), the
    smallest such w; a row without any cell gives zero.
    """
    cells, s = entries.by_row, V.shape[1]
    if not entries.squared:
        start = np.zeros((entries.shape[0], s))
        moved = entries.shifted(np.zeros(len(start)), offset)
        return minimise_side(moved, start, V, ridge=ridge)
    V, offset = np.ascontiguousarray(V), np.ascontiguousarray(offset, dtype=float)
    out = np.zeros((entries.shape[0], s))
    lift = np.eye(s) * np.asarray(ridge, dtype=float)
    for first in range(0, len(out), ROWS):
        count = min(ROWS, len(out) - first)
        grams, sides = np.empty((count, s, s)), np.empty((count, s))
        cpu.row_systems(
            cells.pointers, cells.indices, cells.values, cells.weights,
            first, offset, V, grams, sides,
        )  # fmt: skip
        out[first : first + count] = _solve(grams + lift, sides)
    return out


def _solve(grams: Array, sides: Array) -> Array:
    """Least-norm solutions of a stack of positive semidefinite systems."""
    values, vectors = np.linalg.eigh(grams)
    floor = values[:, -1:] * (grams.shape[-1] * np.finfo(float).eps)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > floor)
    turned = np.einsum("tkq,tk->tq", vectors, sides) * inverse
    return np.einsum("tkq,tq->tk", vectors, turned)
