"""One side's vectors for any loss: each row (or column) a small convex problem of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.kinds import on, ones
from pygeco.arrays.low_rank import Array
from pygeco.engines import Cells, Engine

if TYPE_CHECKING:
    from pygeco.objectives.entries.objective import Entries

MAX_NEWTON_STEPS = 50  # of a row; a few do, but for starts far away
# Far from its minimum a loss like |x| has a tenth of the curvature that a Newton step would need:
# the first trials may all be too long.
MAX_TRIALS = 8
# What a Newton step is damped by, as a share of a row's mean curvature: above the Grams' rounding.
DAMPING = {"f": 1e-5, "d": 1e-9}
# Floats of the Grams that are in memory at once.
MAX_GRAM_FLOATS = 1 << 23


def minimize_side(
    entries: Entries,
    start: Array,
    fixed: Array,
    *,
    columns: bool = False,
    ridge: ArrayLike = 0.0,
    steps: int = MAX_NEWTON_STEPS,
) -> Array:
    """Argmin over W of Σ_E w ℓ(⟨W_i, fixed_j⟩ + offset, y) + Σ_ik ridge_ik W_ik².

    i runs over the rows (or `columns`), each row a damped Newton of its own; all rows of a block
    take their steps together. W like `start` (m, s), `fixed` (n, s); `ridge` broadcasts to (m, s).
    |E| s²/2 + m s³ multiply-adds a trial, of which there are `steps`, and a few more where none of
    them has lowered a row. The objective of no row rises. A row without any cell
    keeps its start, or shrinks to zero under a ridge.
    """
    P, Q = entries.append_offset(columns, start, fixed)
    cells, s = entries.cells(columns), fixed.shape[1]
    out = start.astype(float)
    lift = np.broadcast_to(on(ridge, out, float), out.shape)
    job = partial(_minimize_rows, loss=entries.loss, steps=steps)
    return cells.engine.map_groups(cells, job, Q, out, P[:, s:], lift)


def _minimize_rows(
    engine: Engine,
    cells: Cells,
    Q: Array,
    start: Array,
    extra: Array,
    lift: Array,
    *,
    loss: Any,
    steps: int,
) -> Array:
    """The rows of these cells, a block at a time."""
    out, s = start.copy(), start.shape[1]
    block = max(1, MAX_GRAM_FLOATS // max(1, s * s))
    for first in range(0, len(out) if s else 0, block):
        part = slice(first, min(first + block, len(out)))
        run = cells._replace(pointers=cells.pointers[part.start : part.stop + 1])
        rows = _Rows(engine, run, loss, extra[part], Q, lift[part])
        out[part] = rows.minimize(out[part], steps)
    return out


@dataclass(frozen=True, eq=False)
class _Rows:
    """The problems of a block of rows. `extra` is the offset's part of their factors."""

    engine: Engine
    cells: Any
    loss: Any
    extra: Array
    Q: Array
    lift: Array

    def minimize(self, W: Array, steps: int) -> Array:
        value, grams, force = self._at(W)
        step, fall = self._newton(grams, force, slice(None))
        t = ones(len(W), W)
        rounding = max(1e-12, float(np.finfo(self.Q.dtype).eps))
        open_ = fall > rounding * np.abs(value)
        stuck = open_.copy()  # rows that no trial has lowered yet: they get more of them
        # Not for labels: there a stuck row may have no minimum at all.
        more = MAX_TRIALS if self.loss.regression else 0
        for trials in range(steps + more):
            if trials >= steps:
                open_ &= stuck
            if not open_.any():
                break
            trial = W + (t * open_)[:, None] * step
            new, grams, force = self._at(trial)
            better = open_ & (new <= value - 1e-4 * t * fall)
            worse, stuck = open_ & ~better, stuck & ~better
            t[worse] = _shorter(t[worse], fall[worse], new[worse] - value[worse])
            W[better], value[better], t[better] = trial[better], new[better], 1.0
            step[better], fall[better] = self._newton(grams[better], force[better], better)
            open_ &= t * fall > rounding * np.abs(value)
        return W

    def _at(self, W: Array) -> tuple[Array, Array, Array]:
        """Each row's objective, its Gram, and minus its slope."""
        P = np.column_stack([W, self.extra])
        found = self.engine.systems(self.cells, self.loss, P, self.Q, W.shape[1])
        value = found.values + np.sum(self.lift * W * W, axis=1)
        return value, found.grams, -found.sides - 2 * self.lift * W

    def _newton(self, grams: Array, force: Array, rows: Any) -> tuple[Array, Array]:
        """Each row's step, and how fast its objective falls along it."""
        s = grams.shape[1]
        trace = np.trace(grams, axis1=1, axis2=2)
        # Relative to the trace: where fewer cells than columns leave a row undetermined, the
        # step stays in the span of its cells.
        jitter = np.where(trace > 0, DAMPING[self.cells.values.dtype.char] * trace / s, 1.0)
        M = grams + on(np.eye(s), grams) * (2 * self.lift[rows] + jitter[:, None])[:, None, :]
        step = np.linalg.solve(M, force[:, :, None])[:, :, 0]
        return step, np.sum(step * force, axis=1)


def _shorter(t: Array, fall: Array, rise: Array) -> NDArray[Any]:
    """The next step lengths: the minimum of a parabola, between a tenth and a half of the last."""
    best = 0.5 * fall * t * t / np.maximum(rise + fall * t, np.finfo(float).tiny)
    return np.clip(np.nan_to_num(best), 0.1 * t, 0.5 * t)
