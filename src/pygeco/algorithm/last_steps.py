"""The last steps of a descent: Newton's, judged by slopes.

A descent that compares values ends where rounding hides what they still differ by, with half of the
digits of x. Slopes tell the rest. Products with the curvature are differences of slopes, and
conjugate gradients solve for a step: what does not matter, as the turns of two factors, stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pygeco.arrays.low_rank import Array

MAX_LEFT = 0.5  # of the slope, after a step that is taken
MAX_UNSOLVED = 1e-3  # of the slope, by the equations of a step
NEARNESS = 1e-7  # of x: how far from it slopes are compared
VALUE_ROUNDING = 1e-12  # share of a value that says nothing
ENOUGH = 1e-11  # of a slope, where numbers and values are near one

Both = Callable[[Array], tuple[float, Array]]


class Ended(NamedTuple):
    """Where the steps ended, and the slopes that they took."""

    x: Array
    calls: int


def settle_slope(both: Both, x: Array, most: int) -> Ended:
    """Newton steps from near a minimum, until one gains nothing; `most` calls, about.

    `both` gives value and slope, of numbers and values near one.
    """
    value, slope = both(x)
    calls = 1
    while calls < most and np.linalg.norm(slope) > ENOUGH:
        step, taken = _solve(both, x, slope, most - calls)
        better, left = both(x + step)
        calls += taken + 1
        rise, hidden = better - value, VALUE_ROUNDING * abs(value)
        shrinks = bool(np.linalg.norm(left) <= MAX_LEFT * np.linalg.norm(slope))
        if not (rise < -hidden or (shrinks and rise <= hidden)):
            break
        x, value, slope = x + step, better, left
    return Ended(x, calls)


def _solve(both: Both, x: Array, slope: Array, most: int) -> tuple[Array, int]:
    """A step that removes the slope, nearly, and the calls that it took."""
    step, rest, calls = np.zeros_like(x), -slope, 0
    along, square = rest, float(rest @ rest)
    enough = MAX_UNSOLVED**2 * square
    size = NEARNESS * (float(np.linalg.norm(x)) or 1.0)
    while square > enough and calls < most:
        near = size / float(np.linalg.norm(along))
        bend = (both(x + near * along)[1] - slope) / near
        calls += 1
        curvature = float(along @ bend)
        if not curvature > 0:
            break
        step = step + square / curvature * along
        rest = rest - square / curvature * bend
        before, square = square, float(rest @ rest)
        along = rest + square / before * along
    return step, calls
