"""Small dense linear algebra with a defined outcome for singular input."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from pygeco.factors import Array

LEVENBERG = 40


def solve_psd(M: Array, force: Array) -> Array:
    """M⁻¹ force by Cholesky; the least-norm solution where M is singular."""
    try:
        factor = scipy.linalg.cho_factor(M)
        x = scipy.linalg.cho_solve(factor, force)
        x = x + scipy.linalg.cho_solve(factor, force - M @ x)
        if np.all(np.isfinite(x)) and np.linalg.norm(force - M @ x) <= 1e-8 * np.linalg.norm(force):
            return x
    except scipy.linalg.LinAlgError:
        pass
    values, vectors = scipy.linalg.eigh(M)
    keep = values > len(M) * np.finfo(float).eps * max(values[-1], 0.0)
    out = vectors[:, keep] @ ((vectors[:, keep].T @ force) / values[keep])
    return out


def damped_step(
    M: Array, force: Array, value: Callable[[Array], float], before: float
) -> tuple[Array, float]:
    """The Newton step M⁻¹ force and the value after it, damped until the value falls.

    A growing multiple of I is added to M (Levenberg 1944) until value(step) is below `before` by a
    share of what the slope promises. Without any such step, the last one tried.
    """
    step, lift = solve_psd(M, force), 1e-4 * max(float(np.trace(M)) / len(M), 1e-300)
    noise = 1e-15 * abs(before)
    reached = value(step)
    for _ in range(LEVENBERG):
        promised = float(force @ step)
        if reached <= before - 1e-4 * promised or promised <= noise:
            break
        step = solve_psd(M + lift * np.eye(len(M)), force)
        reached = value(step)
        lift *= 10
    return step, reached
