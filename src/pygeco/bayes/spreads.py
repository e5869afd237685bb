"""The variance v of offsets of periods, from what tells the periods of one line apart.

A line whose cells are all of one period says nothing of v: its offset and that of the period are
one. So the offset of the line is integrated out, under a flat prior, with those of its periods.
With n cells of mean residual y in period t, a_t = 1 / (v + 1/(τ n_t)), A = Σ a_t and C = Σ a_t y_t,
the log evidence of v is ½ Σ_lines [Σ log a_t − Σ a_t y_t² + C²/A − log A], a constant apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.loops import run_parts
from pygeco.arrays.low_rank import Array
from pygeco.bayes.periods import PeriodGroups

SPREADS = np.geomspace(1e-6, 1.0, 25)  # that are tried at first, of the data's own variance
FINE_SPREADS = 33  # tried where the first ones leave it open
MIN_LOG_ODDS = -15.0  # below the best, from which on a spread is out of the question
SPREADS_AT_ONCE = 9  # on one core
MAX_PAIRS = 60_000  # that are looked at: of more lines, as many as have these say the same


class Contrasts(NamedTuple):
    """Mean residuals of the pairs of lines with several periods, their weights, and the lines."""

    means: Array
    sizes: Array
    starts: NDArray[np.int64]


class SpreadDraw(NamedTuple):
    """A draw of v, and what the best v gains of the log evidence against none."""

    spread: float
    gain: float


def draw_spread(
    group: PeriodGroups, sums: Array, tau: float, rng: np.random.Generator
) -> SpreadDraw:
    """Draw v, whose root is uniform beforehand, given sums of weighted residuals over pairs."""
    found = contrast_periods(group, sums)
    rough = measure_evidence(found, tau, SPREADS)
    odds = rough + 0.5 * np.log(SPREADS)  # even in √v, on a grid that is even in log v
    likely = np.flatnonzero(odds - odds.max() > MIN_LOG_ODDS)
    low, high = SPREADS[max(likely[0] - 1, 0)], SPREADS[min(likely[-1] + 1, len(SPREADS) - 1)]
    fine = np.geomspace(low, high, FINE_SPREADS)
    evidence = measure_evidence(found, tau, fine)
    odds = evidence + 0.5 * np.log(fine)
    shares = np.exp(odds - odds.max())
    step = np.log(fine[1] / fine[0])
    spread = rng.choice(fine, p=shares / shares.sum()) * np.exp(rng.uniform(-0.5, 0.5) * step)
    return SpreadDraw(float(spread), float(max(evidence.max(), 0.0)))


def contrast_periods(group: PeriodGroups, sums: Array) -> Contrasts:
    """What is to be compared within lines, of a part of the lines where they are many."""
    lines = group.lines
    starts = np.flatnonzero(np.r_[True, lines[1:] != lines[:-1]]) if len(lines) else lines
    counts = np.diff(np.r_[starts, len(lines)])
    several = np.flatnonzero(counts > 1)
    step = int(np.ceil(max(1.0, counts[several].sum() / MAX_PAIRS)))
    chosen = np.zeros(len(counts), bool)
    chosen[several[::step]] = True
    pairs = np.repeat(chosen, counts)
    sizes = group.sizes[pairs]
    ends = np.cumsum(counts[chosen])
    return Contrasts(sums[pairs] / sizes, sizes, ends - counts[chosen])


def measure_evidence(found: Contrasts, tau: float, spreads: Array) -> Array:
    """The log evidence of each spread, against none."""
    y, starts = found.means, found.starts
    if not len(starts):
        return np.zeros(len(spreads))
    known, tried = 1 / (tau * found.sizes), np.append(0.0, spreads)
    values = np.empty(len(tried))

    def measure(part: int) -> None:
        a, ay = np.empty_like(y), np.empty_like(y)  # for all: new ones cost more than the sums
        for k in range(part * SPREADS_AT_ONCE, min((part + 1) * SPREADS_AT_ONCE, len(tried))):
            np.reciprocal(np.add(known, tried[k], out=a), out=a)
            A, C = np.add.reduceat(a, starts), np.add.reduceat(np.multiply(a, y, out=ay), starts)
            within = np.sum(np.log(a, out=a)) - np.sum(np.multiply(ay, y, out=ay))
            values[k] = 0.5 * (within + np.sum(C * C / A) - np.sum(np.log(A)))

    run_parts(measure, -(-len(tried) // SPREADS_AT_ONCE))
    return values[1:] - values[0]
