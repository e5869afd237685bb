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
from typing import NamedTuple

import numpy as np

from pygeco.algorithm.events import Listener, Listeners, Sweep
from pygeco.algorithm.path import Stop
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes import side_information, timing
from pygeco.bayes.cold import place_cold_lines
from pygeco.bayes.growth import drop_fading, fit_offsets, grow_block, raise_block
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
from pygeco.bayes.sweep import Standard, standardize_entries, sweep
from pygeco.bayes.timing import sweep_timed
from pygeco.objectives.entries.objective import Entries

MIN_BLOCK, MAX_BLOCK = 4, 24  # components that are grown at once
CELLS_PER_COMPONENT = 3  # of a row or column, on average, for each component of a block
PLAIN_SWEEPS = 4  # by which a block is fitted before variances count, where cells are that few
MIN_LIVE_SHARE = 0.75  # of a block, for another one to be grown
LATER_BLOCK_DIVISOR = 3  # of a block, for the next one, where some of it were dropped
MIN_AGE = 6  # sweeps before directions may be dropped: many a late one needs that long to grow
TOLERANCE = 1e-3  # by which the expected error falls in the last sweep
PRUNING_PERIOD = 3  # sweeps from one look for dead directions to the next
CERTAIN_SUPPORT = 0.2  # share of a direction that the data say, from which on it lives for certain
MIN_FINAL_SUPPORT = 0.03  # the same at the end, when late directions have had their time


class Stage(NamedTuple):
    """Where a fit stands after a sweep: all that the rest of it depends on.

    `before` is the rank before the last block, which had `block` components, `age` the sweeps
    since, `generator` the state of the random numbers.
    """

    now: Posterior
    before: int
    generator: dict[str, object]
    block: int = MAX_BLOCK
    age: int = 0
    error: float = np.inf
    relax: float = 0.0
    sweeps: int = 0
    seconds: float = 0.0
    stopped: bool = False
    plain: Posterior | None = None  # what was found without attributes, once they are tried

    def after(self, now: Posterior, count: int, error: float, relax: float, watch: Watch) -> Stage:
        """The stage after sweep number `count` of its block, or of those with attributes."""
        return self._replace(
            now=now,
            age=count + 1,
            error=error,
            relax=relax,
            sweeps=self.sweeps + 1,
            seconds=time.perf_counter() - watch.began,
        )


class EvidenceEnd(NamedTuple):
    """Where a fit by the evidence ended, after how many sweeps, and why."""

    stage: Stage
    sweeps: int
    stop: Stop

    @property
    def posterior(self) -> Posterior:
        return self.stage.now


class Watch(NamedTuple):
    """Who is told of the sweeps, since when they are timed, and how many came before."""

    listener: Listener
    began: float
    earlier_sweeps: int

    def tell(self, at: Stage, rank: int, *, goes_on: bool) -> bool:
        """Tell of the sweep that led to this stage; whether the fit is to stop."""
        noise = at.now.scale * at.now.tau**-0.5
        stage = at if goes_on else None
        sweeps = self.earlier_sweeps + at.sweeps
        return bool(self.listener.on_sweep(Sweep(sweeps, rank, noise, at.seconds, stage)))


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
    rng = stream(Purpose.EVIDENCE, seed)
    standard = standardize_entries(entries, center="global" in offsets)
    data = standard.data
    room = data.size / (CELLS_PER_COMPONENT * sum(data.shape))
    plain = PLAIN_SWEEPS if room < MAX_BLOCK else 0
    block = int(np.clip(room, MIN_BLOCK, MAX_BLOCK)) if block is None else block
    began = time.perf_counter() - (start.seconds if start else 0.0)
    watch = Watch(listener or Listeners(()), began, earlier_sweeps)
    at = start
    if start is not None:
        rng.bit_generator.state = start.generator
    while at is None or at.plain is None:
        if at is None or at is not start:
            at = _begin_block(standard, at, offsets, block, rank, plain, rng)
        grows = not plain and at.now.rank < rank
        at = _settle(data, at, max_sweeps, watch, grows=grows, calm=plain > 0)
        if at.stopped:
            return EvidenceEnd(at, earlier_sweeps + at.sweeps, Stop.CALLBACK)
        at = at._replace(now=drop_fading(data, at.now)) if plain else at
        if at.now.rank < at.before + MIN_LIVE_SHARE * at.block or at.now.rank >= rank:
            break
    at = _take_known(data, at, known, watch) if known else at
    if known.periods is not None and not at.stopped:
        at = _follow_time(data, at, known, watch, seed)
    stop = Stop.CALLBACK if at.stopped else reason_to_end(at.now, rank, entries.shape)
    return EvidenceEnd(at, earlier_sweeps + at.sweeps, stop)


def _begin_block(
    standard: Standard,
    at: Stage | None,
    offsets: tuple[str, ...],
    block: int,
    rank: int,
    plain: int,
    rng: np.random.Generator,
) -> Stage:
    """Another block beside the components so far, or the first one beside the offsets."""
    now = at.now if at else fit_offsets(standard, offsets)
    if at is not None and at.now.rank < at.before + at.block:
        block = max(MIN_BLOCK, at.block // LATER_BLOCK_DIVISOR)
    block = min(block, rank - now.rank)
    grown = grow_block(standard.data, now, block, rng)
    grown = raise_block(standard.data, grown, plain)
    state = dict(rng.bit_generator.state)
    return Stage(grown, now.rank, state, block, sweeps=at.sweeps if at else 0)


def reason_to_end(now: Posterior, rank: int, shape: tuple[int, int]) -> Stop:
    """Whether the evidence or the highest rank allowed ended the growth."""
    return Stop.CAPPED if now.rank >= rank and rank < min(shape) else Stop.EVIDENCE


def _settle(
    data: Entries,
    at: Stage,
    max_sweeps: int,
    watch: Watch,
    *,
    grows: bool,
    calm: bool,
) -> Stage:
    """Sweeps at the present components until the error rests; dead directions are dropped.

    Where more can grow and every direction is well supported already, more will: it ends early.
    Where it is to be `calm`, it does not end with a drop, which turns the basis: variances then
    take a few sweeps to settle in it.
    """
    for count in range(at.age, max_sweeps):
        now, error = sweep(data, at.now, at.relax)
        if count:
            now = update_priors(now)
        rank = now.rank
        fell = (at.error - error) / max(error, 1e-300)
        relax = 1.0 if fell > 0 and count else 0.0
        early = grows and count in (1, 2) and is_certain(now)
        if count >= MIN_AGE and count % PRUNING_PERIOD == 0:
            now = drop_unsupported(now)
        rests = count >= MIN_AGE and abs(fell) < TOLERANCE
        if calm and rests:
            now = drop_unsupported(now, MIN_FINAL_SUPPORT)
            rests = now.rank == rank
        at = at.after(now, count, error, relax if now.rank == rank else 0.0, watch)
        at = at._replace(stopped=watch.tell(at, rank, goes_on=not (early or rests)))
        if early and not at.stopped:
            return at
        if rests or at.stopped:
            break
    return at._replace(now=sweep(data, drop_unsupported(at.now, MIN_FINAL_SUPPORT))[0])


def _take_known(data: Entries, at: Stage, known: Known, watch: Watch) -> Stage:
    """Sweeps with what is known, until the error rests; as it was, if nothing of it helps."""
    given, before = known, at.now
    if at.plain is None:
        known = drop_silent(at.now, known)
        if not known:
            return at._replace(now=place_cold_lines(data, at.now, given))
        now = add_effects(at.now, known)
        at = at._replace(now=now, plain=at.now, age=0, error=np.inf, relax=0.0)
    known = match_groups(at.now, known)
    for count in range(at.age, side_information.MAX_SWEEPS):
        before = at.now
        now, error = sweep(data, update_priors(before, known), at.relax)
        fell = (at.error - error) / max(error, 1e-300)
        if count >= side_information.MIN_SWEEPS:
            now, known = drop_groups(now, known)
        at = at.after(now, count, error, 1.0 if fell > 0 and count else 0.0, watch)
        settled = count >= side_information.MIN_SWEEPS or is_settled(now, before)
        rests = settled and abs(fell) < side_information.TOLERANCE
        at = at._replace(stopped=watch.tell(at, now.rank, goes_on=bool(known) and not rests))
        if rests or at.stopped or not known:
            break
    now, known = drop_groups(at.now, known, before)
    if not known and at.plain is not None:
        # A pattern that says nothing can take tables with it while it fades.
        tables = given.tables
        if tables and tables != given and not at.stopped:
            return _take_known(data, at._replace(now=at.plain, plain=None), tables, watch)
        return at._replace(now=place_cold_lines(data, at.plain, given))
    now = drop_centers(sweep(data, update_priors(now, known))[0])
    now = state_doubt(now, known)
    return at._replace(now=place_cold_lines(data, now, given))


def _follow_time(data: Entries, at: Stage, known: Known, watch: Watch, seed: int) -> Stage:
    """Sweeps with offsets of periods, until the error rests; as it was, if they say nothing."""
    for now in find_drift(data, at.now, known, stream(Purpose.PERIODS, seed)):
        at = at.after(at.now, at.age, at.error, 0.0, watch)
        at = at._replace(stopped=watch.tell(at, now.rank, goes_on=False))
        if at.stopped:
            return at
    if now.drift is None:
        return at
    kept = match_groups(now, known)
    at = at._replace(now=now, error=np.inf, relax=0.0)
    for count in range(timing.MAX_SWEEPS):
        now, error = sweep_timed(data, at.now, kept, at.relax)
        fell = (at.error - error) / max(error, 1e-300)
        at = at.after(now, at.age, error, 1.0 if fell > 0 and count else 0.0, watch)
        rests = count >= timing.MIN_SWEEPS and abs(fell) < timing.TOLERANCE
        at = at._replace(stopped=watch.tell(at, now.rank, goes_on=False))
        if rests or at.stopped:
            break
    now = drop_centers(sweep_timed(data, at.now, kept)[0])
    now = state_doubt(now, kept)
    return at._replace(now=place_cold_lines(data, now, known))


def is_certain(now: Posterior) -> bool:
    """Whether the data support every direction well, and there is one."""
    return now.rank > 0 and bool(measure_support(now).support.min() >= CERTAIN_SUPPORT)
