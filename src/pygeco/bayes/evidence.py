"""Regularization with nothing to tune: variational empirical Bayes (penalty="evidence").

Model: y_ij = μ + b_i + c_j + ⟨u_i, v_j⟩ + noise of precision τ. The rows' vectors (u_i, b_i)
come from one Gaussian, the columns' (v_j, c_j) from another; mean and covariance of both are
unknown. A half-sweep gives each row its posterior mean and the diagonal of its covariance. After
it, everything else has a closed form: the Gaussian is the mean and covariance of what was found
plus the mean variance (its off-diagonal shrunk by n / (n + d), n rows of d numbers), and 1/τ is
the mean expected squared error. A direction that the data do not support shrinks until its prior
explains all of it, and is dropped: the evidence chooses the rank.
Growth is greedy, a block of leading singular pairs of the weighted gradient at a time.

A full covariance, with the offsets in it, is worth its s² numbers: on MovieLens-1M a diagonal one
ends at a test error of 0.838, the full one at 0.835, in fewer sweeps.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pygeco.algorithm.events import Listener, Listeners
from pygeco.algorithm.path import Stop
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes import side_information, timing
from pygeco.bayes.cold import place_cold_lines
from pygeco.bayes.growth import drop_fading, fit_offsets, grow_block, raise_block
from pygeco.bayes.islands import settle_islands
from pygeco.bayes.posterior import (
    NOTHING,
    Known,
    Posterior,
    drop_unsupported,
    measure_support,
    update_priors,
)
from pygeco.bayes.sampling import find_drift
from pygeco.bayes.screening import drop_silent
from pygeco.bayes.side_information import (
    add_effects,
    drop_centers,
    drop_groups,
    is_settled,
    match_groups,
    state_doubt,
)
from pygeco.bayes.stages import Stage, Watch, sweep_until_rest
from pygeco.bayes.sweep import standardize_entries, sweep
from pygeco.bayes.timing import sweep_timed
from pygeco.objectives.entries.objective import Entries

MIN_BLOCK, MAX_BLOCK = 4, 24  # components that are grown at once
CELLS_PER_COMPONENT = 3  # of a row or column, on average, for each component of a block
PLAIN_SWEEPS = 4  # by which a block is fitted before variances count, where cells are that few
MIN_LIVE_SHARE = 0.75  # of a block, for another one to be grown
LATER_BLOCK_DIVISOR = 3  # of a block, for the next one, where some of it were dropped
EARLY_AGES = (1, 2)  # sweeps after which the next may find that all directions are certain
MIN_AGE = 6  # sweeps before directions may be dropped: many a late one needs that long to grow
TOLERANCE = 1e-3  # by which the expected error falls in the last sweep
PRUNING_PERIOD = 3  # sweeps from one look for dead directions to the next
CERTAIN_SUPPORT = 0.2  # share of a direction that the data say, from which on it lives for certain
MIN_FINAL_SUPPORT = 0.03  # the same at the end, when late directions have had their time


class EvidenceEnd(NamedTuple):
    """Where a fit by the evidence ended, after how many sweeps, and why."""

    posterior: Posterior
    sweeps: int
    stop: Stop


def fit_evidence(
    entries: Entries,
    *,
    rank: int,
    offsets: tuple[str, ...] = ("global", "row", "column"),
    seed: int = 0,
    block: int | None = None,
    max_sweeps: int = 60,
    listener: Listener | None = None,
    start: Stage | None = None,
    earlier_sweeps: int = 0,
    known: Known = NOTHING,
) -> EvidenceEnd:
    """The posterior at the rank that the evidence chooses, at most `rank`.

    Sweeps until the expected error falls by less than `TOLERANCE` a sweep. While most components
    of the last block are alive then, another block is grown. A block is as large as the cells
    allow: where rows have few, the variances of many new components would drown all of them. After
    one that lost some it is smaller: there is little more to find.
    `listener` is told of each sweep, counted from `earlier_sweeps` on. To `start` from the stage
    of a sweep leads to the same bits as never having stopped there.

    What is `known` of rows and columns comes in at the end, at the rank found without it, by more
    sweeps. Groups of attributes that say nothing are dropped; where none is left, the fit is as it
    was without. Offsets of periods come last, in the same manner.
    """
    standard = standardize_entries(entries, center="global" in offsets)
    data = standard.data
    rng = stream(Purpose.EVIDENCE, seed)
    began = time.perf_counter() - (start.seconds if start else 0.0)
    watch = Watch(listener or Listeners(()), began, earlier_sweeps)
    room = data.size / (CELLS_PER_COMPONENT * sum(data.shape))
    block = int(np.clip(room, MIN_BLOCK, MAX_BLOCK)) if block is None else block
    growth = Growth(data, rank, PLAIN_SWEEPS if room < MAX_BLOCK else 0, max_sweeps)
    at = start or growth.begin(fit_offsets(standard, offsets), block, rng)
    rng.bit_generator.state = at.generator
    if at.plain is None:
        at = grow_blocks(at, growth, watch, rng)
    if known and not at.stopped:
        at = take_known(at, data, known, watch)
    if known.periods is not None and not at.stopped:
        at = follow_time(at, data, known, watch, stream(Purpose.PERIODS, seed))
    stop = Stop.CALLBACK if at.stopped else reason_to_end(at.now, rank, entries.shape)
    return EvidenceEnd(at.now, earlier_sweeps + at.sweeps, stop)


def reason_to_end(now: Posterior, rank: int, shape: tuple[int, int]) -> Stop:
    """Whether the evidence or the highest rank allowed ended the growth."""
    return Stop.CAPPED if now.rank >= rank and rank < min(shape) else Stop.EVIDENCE


def grow_blocks(at: Stage, growth: Growth, watch: Watch, rng: np.random.Generator) -> Stage:
    """Block after block of components, from one under way on, until most of one do not live."""
    while True:
        at = sweep_until_rest(at, growth, watch)
        if at.stopped:
            return at
        if growth.plain:
            at = at._replace(now=drop_fading(growth.data, at.now))
        rank = at.now.rank
        if rank < at.before + MIN_LIVE_SHARE * at.block or rank >= growth.rank:
            return at._replace(now=settle_islands(growth.data, at.now))
        lost_some = rank < at.before + at.block
        count = max(MIN_BLOCK, at.block // LATER_BLOCK_DIVISOR) if lost_some else at.block
        at = growth.begin(at.now, count, rng, at.sweeps)


@dataclass(frozen=True)
class Growth:
    """Sweeps at the components of a block; dead directions are dropped.

    The rank is at most `rank`. A block begins with `plain` sweeps before variances count, where
    rows have few cells.
    """

    data: Entries
    rank: int
    plain: int
    max_sweeps: int
    resumes: ClassVar[bool] = True

    def begin(
        self, before: Posterior, block: int, rng: np.random.Generator, sweeps: int = 0
    ) -> Stage:
        """Another block of components beside those so far, which took so many sweeps."""
        block = min(block, self.rank - before.rank)
        now = raise_block(self.data, grow_block(self.data, before, block, rng), self.plain)
        return Stage(now, before.rank, dict(rng.bit_generator.state), block, sweeps=sweeps)

    def sweep(self, at: Stage) -> tuple[Posterior, float]:
        now, error = sweep(self.data, at.now, at.relax)
        return (update_priors(now) if at.age else now), error

    def judge(self, at: Stage, now: Posterior, fell: float) -> tuple[Posterior, bool]:
        """Where more can grow and every direction is well supported already, more will at once.

        Where rows have few cells it does not end with a drop, which turns the basis: variances
        then take a few sweeps to settle in it.
        """
        if at.age < MIN_AGE:
            grows = not self.plain and now.rank < self.rank
            return now, grows and at.age in EARLY_AGES and is_certain(now)
        rank, rests = now.rank, abs(fell) < TOLERANCE
        if at.age % PRUNING_PERIOD == 0:
            now = drop_unsupported(now)
        if self.plain and rests:
            now = drop_unsupported(now, MIN_FINAL_SUPPORT)
            rests = now.rank == rank
        return now, rests

    def finish(self, at: Stage, before: Posterior) -> Posterior:
        if at.age < min(MIN_AGE, self.max_sweeps) and not at.stopped:
            return at.now  # all of it is certain, and the next block sees to the rest
        return sweep(self.data, drop_unsupported(at.now, MIN_FINAL_SUPPORT))[0]


def is_certain(now: Posterior) -> bool:
    """Whether the data support every direction well, and there is one."""
    return now.rank > 0 and bool(measure_support(now).support.min() >= CERTAIN_SUPPORT)


def take_known(at: Stage, data: Entries, known: Known, watch: Watch) -> Stage:
    """Sweeps with what is known, until the error rests; as it was, if nothing of it helps."""
    known = known.tables if at.tables_alone else known
    if at.plain is None:
        telling = drop_silent(at.now, known)
        if not telling:
            return at._replace(now=place_cold_lines(data, at.now, known))
        at = at._replace(plain=at.now).begin(add_effects(at.now, telling))
    at = sweep_until_rest(at, Informed(data, known), watch)
    if at.plain is not None and not match_groups(at.now, known):
        at = at._replace(now=at.plain)
        # A pattern that says nothing can take tables with it while it fades.
        tables = known.tables
        if tables and tables != known and not at.stopped:
            return take_known(at._replace(plain=None, tables_alone=True), data, known, watch)
    return at._replace(now=place_cold_lines(data, at.now, known))


@dataclass(frozen=True)
class Informed:
    """Sweeps with what is known of rows and columns; groups that say nothing are dropped."""

    data: Entries
    known: Known
    max_sweeps: ClassVar[int] = side_information.MAX_SWEEPS
    resumes: ClassVar[bool] = True

    def sweep(self, at: Stage) -> tuple[Posterior, float]:
        priors = update_priors(at.now, match_groups(at.now, self.known))
        return sweep(self.data, priors, at.relax)

    def judge(self, at: Stage, now: Posterior, fell: float) -> tuple[Posterior, bool]:
        rests = abs(fell) < side_information.TOLERANCE
        if at.age < side_information.MIN_SWEEPS:
            return now, rests and is_settled(now, at.now)
        now, left = drop_groups(now, match_groups(at.now, self.known))
        return now, rests or not left

    def finish(self, at: Stage, before: Posterior) -> Posterior:
        now, known = drop_groups(at.now, match_groups(at.now, self.known), before)
        if not known:
            return now
        now = sweep(self.data, update_priors(now, known))[0]
        return state_doubt(drop_centers(now), known)


def follow_time(
    at: Stage, data: Entries, known: Known, watch: Watch, rng: np.random.Generator
) -> Stage:
    """Sweeps with offsets of periods, until the error rests; as it was, if they say nothing."""
    found = at.now
    for found in find_drift(data, at.now, known, rng):
        at = watch.tell(at, at.now, found.rank, goes_on=False)
        if at.stopped:
            return at
    if found.drift is None:
        return at
    at = sweep_until_rest(at.begin(found), Timed(data, match_groups(found, known)), watch)
    return at._replace(now=place_cold_lines(data, at.now, known))


@dataclass(frozen=True)
class Timed:
    """Sweeps with offsets of periods, and of what is known of rows and columns what is left."""

    data: Entries
    known: Known
    max_sweeps: ClassVar[int] = timing.MAX_SWEEPS
    resumes: ClassVar[bool] = False

    def sweep(self, at: Stage) -> tuple[Posterior, float]:
        return sweep_timed(self.data, at.now, self.known, at.relax)

    def judge(self, at: Stage, now: Posterior, fell: float) -> tuple[Posterior, bool]:
        return now, at.age >= timing.MIN_SWEEPS and abs(fell) < timing.TOLERANCE

    def finish(self, at: Stage, before: Posterior) -> Posterior:
        now = sweep_timed(self.data, at.now, self.known)[0]
        return state_doubt(drop_centers(now), self.known)
