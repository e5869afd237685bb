"""Newton's method with a line search, on a few variables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pygeco.arrays.low_rank import Array

NEWTON_STEPS = 50
HALVINGS = 30
PROGRESS = 1e-12
ROUNDING = 1e-9
NOTHING = 1e-32  # of the first value, a squared rounding: less is as good as none


def descend(
    objective: Callable[[Array], float],
    newton: Callable[[Array], tuple[Array, float]],
    x: Array,
    steps: int,
) -> tuple[Array, float]:
    """Newton steps, each with a line search, until they gain nothing.

    `newton` gives a step and how fast the objective falls along it.
    """
    value = objective(x)
    # Where a function falls to zero at infinity, each step would gain nearly all that is left.
    nothing = NOTHING * abs(value)
    for _ in range(steps):
        step, fall = newton(x)
        t, better = search(objective, x, step, value, fall)
        x, gain, value = x + t * step, value - better, better
        # The gain alone would go on for as long as rounding makes one up.
        if min(gain, fall) <= max(PROGRESS * abs(value), nothing):
            break
    return x, value


def search(
    objective: Callable[[Array], float], x: Array, step: Array, value: float, fall: float
) -> tuple[float, float]:
    """A step length with a sufficient decrease (Armijo), and the value there; else zero.

    A parabola through what is known gives the next try. A decrease too small to be told from
    rounding is not searched for.
    """
    t = 1.0
    for _ in range(HALVINGS):
        better = objective(x + t * step)
        if better <= value - 1e-4 * t * fall:
            return (t, better) if better < value else (0.0, value)
        if not t * fall > ROUNDING * abs(value):
            break
        best = 0.5 * fall * t * t / (better - value + fall * t)
        t = min(max(best, 0.1 * t), 0.5 * t) if np.isfinite(best) else 0.1 * t
    return 0.0, value
