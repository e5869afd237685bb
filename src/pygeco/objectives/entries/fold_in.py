"""New rows against fixed columns: each a small problem of s variables."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from pygeco.arrays.kinds import on, parts, zeros
from pygeco.arrays.low_rank import Array
from pygeco.engines import Cells, Engine, LocalEngine
from pygeco.objectives.entries.objective import Entries
from pygeco.objectives.entries.row_newton import minimize_side

ROWS_AT_ONCE = 4096  # whose systems are in memory together


def fold_in(entries: Entries, V: Array, *, offset: Array, ridge: ArrayLike) -> Array:
    """For each row, argmin_w Σ_j ℓ(offset_j + ⟨w, v_j⟩, y_ij) + Σ_k ridge_k w_k².

    V (n, s), `ridge` a number, (s,), or (m, s), one for each row. O(|E| s² + m s³), times the
    Newton steps where the loss is not squared. Where a row does not determine w (fewer known cells
    than columns, no ridge), the smallest such w; a row without any cell gives zero.
    """
    cells, s = entries.by_row, V.shape[1]
    if not entries.squared:
        start = zeros((entries.shape[0], s), V)
        moved = entries.shift(zeros(len(start), V), offset)
        return minimize_side(moved, start, V, ridge=ridge)
    out = zeros((entries.shape[0], s), V)
    lift = np.broadcast_to(on(ridge, V, float), out.shape)
    return entries.engine.map_groups(cells, partial(_fold_rows, offset=offset), V, out, lift)


def _fold_rows(
    engine: Engine, cells: Cells, V: Array, start: Array, lift: Array, *, offset: Array
) -> Array:
    """The rows of these cells, a block at a time."""
    if not isinstance(engine, LocalEngine):
        raise TypeError("engine: columns on a cluster are not folded in; use engine='cpu'.")
    out, eye = zeros(start.shape, V), on(np.eye(V.shape[1]), V)
    for part in parts(len(out), ROWS_AT_ONCE):
        found = engine.row_systems(cells, part, offset, V)
        out[part] = _solve(found.grams + eye * lift[part][:, None, :], found.sides)
    return out


def _solve(grams: Array, sides: Array) -> Array:
    """Least-norm solutions of a stack of positive semidefinite systems."""
    values, vectors = np.linalg.eigh(grams)
    floor = values[:, -1:] * (grams.shape[-1] * np.finfo(float).eps)
    keep = values > floor
    inverse = keep / np.where(keep, values, 1.0)
    turned = np.einsum("tkq,tk->tq", vectors, sides) * inverse
    return np.einsum("tkq,tq->tk", vectors, turned)
