"""Time in a fit: what the residuals say of each period, and what is left for the rest.

Given the other parts, the offset of n cells of a pair (line, period) whose residuals sum to S has
variance w = 1 / (τ n + 1/v) and mean τ w S. At the mean of the other parts v would come out too
small, as these have fitted the same cells; given a draw of them it is right. So v comes from a
short chain of draws, and stays while the sweeps go on. A v that these draws do not prefer to zero
switches its periods off. See `spreads.py` for what they say of v.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.bayes.drift import Drift, PeriodOffsets
from pygeco.bayes.periods import (
    SIDES,
    CellNumbers,
    CellPeriods,
    PeriodGroups,
    find_pairs,
    group_cells,
    read_weights,
    see_cells_timed,
)
from pygeco.bayes.posterior import LEAST_NOISE, Known, Posterior, update_priors
from pygeco.bayes.priors import FLOAT
from pygeco.bayes.spreads import draw_spread
from pygeco.bayes.sweep import sweep
from pygeco.objectives.entries.cell_views import append_offsets, measure_residuals
from pygeco.objectives.entries.objective import Entries

START_SPREAD = 0.01  # of the data's variance, before the first draw
ROUNDS = 2  # over all periods, each given the others, in a sweep
BURN_IN_SWEEPS = 8  # of the chain that finds the variances
CHAIN_SWEEPS = 8  # of it that count
MAX_CHAIN_CELLS = 1 << 19  # with a quarter as many, MovieLens-1M still errs as much
MIN_GAIN = 5.0  # of the log evidence; random times gain less than 1, all but one in 1,000 below 5
MAX_SWEEPS = 12
MIN_SWEEPS = 4
TOLERANCE = 5e-4  # by which the expected error falls in the last sweep


def begin_drift(periods: CellPeriods, spreads: Array | None = None) -> Drift:
    """Offsets of which nothing is known yet."""
    spreads = np.full(len(periods.groups), START_SPREAD) if spreads is None else spreads
    offsets = (
        PeriodOffsets.start(group, float(v))
        for group, v in zip(periods.groups, spreads, strict=True)
    )
    return Drift(tuple(offsets), periods.latest)


def sweep_timed(
    data: Entries, now: Posterior, known: Known, relax: float = 0.0
) -> tuple[Posterior, float]:
    """The offsets of periods, the priors, then a sweep. Gives the expected error too."""
    assert known.periods is not None
    settled = settle_drift(data, now, known.periods)
    rest = data.subtract(settled.moves, known.periods.by_column)
    now, error = sweep(rest, update_priors(replace(now, drift=settled.drift), known), relax)
    for group, part in zip(known.periods.groups, settled.drift.offsets, strict=True):
        error += float(group.sizes @ part.variance)
    tau = data.total_weight / max(error, LEAST_NOISE * data.total_weight)
    return replace(now, tau=tau), error


class Rest:
    """What is left of each cell without the low-rank part and the offsets of periods."""

    def __init__(self, data: Entries, now: Posterior, periods: CellPeriods) -> None:
        assert now.drift is not None
        self.weights = dict(zip(SIDES, read_weights(data), strict=True))
        self.before = measure_rest(data, now)
        self.cells = CellNumbers(periods, self.before.copy())
        for group, part in zip(periods.groups, now.drift.offsets, strict=True):
            self.cells.move(group, -part.mean)

    def sum_own(self, group: PeriodGroups, part: PeriodOffsets) -> Array:
        """Weighted sums over the pairs of one ladder, without its own offsets."""
        side = group.periods.side
        return group.sum_cells(self.cells.turn(side), self.weights[side]) + group.sizes * part.mean

    @property
    def moves(self) -> Array:
        """What all offsets say of each cell, row by row."""
        return self.before - self.cells.turn("row")


class SettledDrift(NamedTuple):
    """Offsets given all else, and what they say of each cell, row by row."""

    drift: Drift
    moves: Array


def settle_drift(data: Entries, now: Posterior, periods: CellPeriods) -> SettledDrift:
    """Each ladder's offsets given all else, a few times over."""
    assert now.drift is not None
    offsets, rest = list(now.drift.offsets), Rest(data, now, periods)
    for _ in range(ROUNDS):
        for k, (group, part) in enumerate(zip(periods.groups, offsets, strict=True)):
            offsets[k] = solve_offsets(group, part, rest.sum_own(group, part), now.tau)
            rest.cells.move(group, part.mean - offsets[k].mean)
    return SettledDrift(replace(now.drift, offsets=tuple(offsets)), rest.moves)


def solve_offsets(
    group: PeriodGroups, part: PeriodOffsets, sums: Array, tau: float
) -> PeriodOffsets:
    """Mean and variance of each offset, given sums of weighted residuals without it."""
    variance = 1 / (tau * group.sizes + 1 / part.spread)
    return part._replace(mean=tau * variance * sums, variance=variance)


def renew_drift(
    now: Posterior, entries: Entries, times: Array, touched: tuple[NDArray[Any], NDArray[Any]]
) -> Posterior:
    """The posterior with the offsets of the touched rows and columns anew, given all cells.

    Pairs that are new get offsets; those of other lines stay as they are.
    """
    assert now.drift is not None
    data = entries.standardize(now.mean, now.scale, FLOAT)
    cells = see_cells_timed(data, times)
    anew = dict(zip(SIDES, touched, strict=True))
    groups, offsets = [], []
    for part in now.drift.offsets:
        group = group_cells(part.periods, *cells.sides[part.periods.side])
        at = find_pairs((part.lines, part.numbers), group.lines, group.numbers)
        start = PeriodOffsets.start(group, part.spread)
        known = at >= 0
        start.mean[known], start.variance[known] = part.mean[at[known]], part.variance[at[known]]
        groups.append(group)
        offsets.append(start)
    latest = max(now.drift.latest, float(times.max()))
    now = replace(now, drift=Drift(tuple(offsets), latest))
    periods = CellPeriods(tuple(groups), cells.by_column, latest)
    solved = settle_drift(data, now, periods).drift
    mixed = []
    for old, new in zip(offsets, solved.offsets, strict=True):
        is_own = np.isin(old.lines, anew[old.periods.side])
        mean = np.where(is_own, new.mean, old.mean)
        mixed.append(new._replace(mean=mean, variance=np.where(is_own, new.variance, old.variance)))
    return replace(now, drift=replace(solved, offsets=tuple(mixed)))


class Drawn(NamedTuple):
    """The cells of some rows, and the rest of a fit's state as these see it."""

    data: Entries
    now: Posterior
    known: Known


def draw_rows(data: Entries, now: Posterior, known: Known, rng: np.random.Generator) -> Drawn:
    """The cells of rows at random, about `MAX_CHAIN_CELLS`; other rows are as those without any."""
    assert known.periods is not None
    counts = host(data.by_row.counts())
    order = rng.permutation(len(counts))
    chosen = np.zeros(len(counts), bool)
    chosen[order[: 1 + np.searchsorted(np.cumsum(counts[order]), MAX_CHAIN_CELLS)]] = True
    mask = chosen[host(data.rows())]
    part = data.subset(mask)
    priors = (
        prior._replace(some=prior.some & (cells.counts() > 0))
        for prior, cells in ((now.row_prior, part.by_row), (now.col_prior, part.by_col))
    )
    row_prior, col_prior = priors
    periods = known.periods.take(mask, part)
    now = replace(now, row_prior=row_prior, col_prior=col_prior, drift=begin_drift(periods))
    return Drawn(part, now, known._replace(periods=periods))


class DriftDraw(NamedTuple):
    """A draw of all offsets, and what it says of each cell; their conditional means; the gains of
    their variances.
    """

    drift: Drift
    moves: Array
    means: Drift
    gains: tuple[float, ...]


def draw_drift(
    data: Entries, now: Posterior, periods: CellPeriods, relax: float, rng: np.random.Generator
) -> DriftDraw:
    """Draw each ladder's variance, the offsets integrated out, and then the offsets.

    These are reflected at their conditional means by `relax`, as rows and columns are.
    """
    assert now.drift is not None
    draws, means, gains = [], [], []
    rest = Rest(data, now, periods)
    for group, part in zip(periods.groups, now.drift.offsets, strict=True):
        sums = rest.sum_own(group, part)
        spread, gain = draw_spread(group, sums, now.tau, rng)
        mean = solve_offsets(group, part._replace(spread=spread), sums, now.tau)
        noise = np.sqrt((1 - relax**2) * mean.variance) * rng.standard_normal(len(mean.mean))
        drawn = mean._replace(mean=mean.mean - relax * (part.mean - mean.mean) + noise)
        rest.cells.move(group, part.mean - drawn.mean)
        draws.append(drawn)
        means.append(mean)
        gains.append(gain)
    drift = replace(now.drift, offsets=tuple(draws))
    return DriftDraw(drift, rest.moves, replace(drift, offsets=tuple(means)), tuple(gains))


def measure_rest(data: Entries, now: Posterior) -> Array:
    """What is left of each cell without the low-rank part, row by row, on the host."""
    sides = now.rows.factor, now.cols.factor, now.rows.bias, now.cols.bias
    residuals = host(measure_residuals(data.by_row, *append_offsets(*sides)))
    return np.negative(residuals, dtype=float)


def subtract_drift(
    data: Entries, drift: Drift, periods: CellPeriods, scale: float = 1.0
) -> Entries:
    """The cells without what time says."""
    total = CellNumbers(periods, np.zeros(data.size))
    for group, part in zip(periods.groups, drift.offsets, strict=True):
        total.move(group, scale * part.mean)
    return data.subtract(total.turn("row"), periods.by_column)
