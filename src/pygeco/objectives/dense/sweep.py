"""One side of a sweep over a dense matrix: each column (or row) a convex problem of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pygeco.arrays.kinds import inner, on, ones, parts, times
from pygeco.arrays.low_rank import Array
from pygeco.engines.values import Lines

# Up to this many columns each line's own system costs little more than the pass itself.
MAX_DIRECT_COLUMNS = 16
# Floats of systems that may be in memory at once.
MAX_SYSTEM_FLOATS = 1 << 25
MIN_PROGRESS = 1e-14  # share of the value: a smaller decrease is rounding
# A gradient step of less than twice the inverse curvature goes down; a little less is taken.
SAFE_STEP = 0.55


def split_blocks(lines: int, columns: int, *, curved: bool) -> Iterator[slice]:
    """Lines that are minimized at once: all of them, or as many as have room for their systems."""
    return parts(lines, max(1, MAX_SYSTEM_FLOATS // max(1, columns**2)) if curved else lines)


def minimize_lines(
    lines: Callable[..., Lines],
    fixed: Array,
    start: Array,
    lift: Array,
    bound: float,
    steps: int,
    curved: bool,
) -> Array:
    """Argmin over W of Σ w ℓ(⟨W_i, fixed_j⟩) + Σ lift_i ‖W_i‖², every line i at once.

    Iteratively reweighted least squares: with h = ℓ′/residual, Σ h (z − y)² / 2 lies above
    Huber's loss and touches it, so a step downhill on the one is downhill on the other. Each
    line's system Σ h f fᵀ is formed, m n s²/2 a pass, if `curved`. Else it is taken as h̄ FᵀF,
    exact when h and f are unrelated and never less than about half of the bound on h: 2 m n s a
    pass, and still downhill. With other losses a step may raise a line: it is then halved.
    `steps` passes at most; that of a single pass is not checked. A line depends on no other.
    """
    FtF = inner(fixed, fixed)
    least = SAFE_STEP * bound * len(fixed) if np.isfinite(bound) else 0.0

    def at(W: Array) -> tuple[Array, Array, Array]:
        found = lines(W, fixed, fixed, curved=curved)
        value = found.values + lift * np.sum(W * W, axis=1)
        force = -found.sides - 2 * lift[:, None] * W
        if curved:
            step = _solve(found.grams, force, 2 * lift)
        else:
            share = np.maximum(found.stiffness, least) / len(fixed)
            step = _solve_scaled(FtF, share, force, 2 * lift)
        return value, step, np.sum(step * force, axis=1)

    W, t = start, ones(len(start), start)
    value, step, fall = at(W)
    if steps == 1:
        return W + step
    going = fall > MIN_PROGRESS * np.abs(value)
    for _ in range(steps - 1):
        if not going.any():
            break
        trial = np.where(going[:, None], W + t[:, None] * step, W)
        new, next_step, next_fall = at(trial)
        better = going & (new < value)
        t = np.where(better, np.minimum(1.0, 2 * t), t / 2)
        W = np.where(better[:, None], trial, W)
        step = np.where(better[:, None], next_step, step)
        value, fall = np.where(better, new, value), np.where(better, next_fall, fall)
        going &= t * fall > MIN_PROGRESS * np.abs(value)
    return W


def _solve(grams: Array, force: Array, lift: Array) -> Array:
    """Each line's own system; the jitter keeps an undetermined line in the span of its cells."""
    s = grams.shape[1]
    trace = np.trace(grams, axis1=1, axis2=2)
    jitter = np.where(trace > 0, 1e-12 * trace / max(1, s), 1.0) + lift
    M = grams + jitter[:, None, None] * on(np.eye(s), grams)
    return np.linalg.solve(M, force[:, :, None])[:, :, 0]


def _solve_scaled(M: Array, shares: Array, force: Array, lift: Array) -> Array:
    """(share_i M + lift_i)⁻¹ force_i: one eigendecomposition for all lines."""
    values, vectors = np.linalg.eigh(M)
    values = on(np.maximum(values, 1e-12 * values[-1]), force)
    bends = shares[:, None] * values + lift[:, None]
    bent = bends > 0
    return times(times(force, vectors) * bent / np.where(bent, bends, 1.0), vectors.T)
