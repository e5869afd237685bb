"""Side information: attributes of rows and columns, and which cells are known, in a posterior."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pygeco.arrays.kinds import distant
from pygeco.bayes.attributes import AttributeValues, group_pattern, group_table, mark_cells
from pygeco.bayes.effects import MIN_DEGREES, MIN_STAYING_SHARE, start_effects, state_doubts
from pygeco.bayes.posterior import Known, Posterior
from pygeco.bayes.priors import Gaussian
from pygeco.bayes.ridge import TABLE, RidgeGroup
from pygeco.engines import choose_engine
from pygeco.objectives.entries.objective import Entries

MAX_SWEEPS = 20
MIN_SWEEPS = 6  # before a group of attributes may be dropped, or before the end while they change
TOLERANCE = 5e-4  # by which the expected error falls in the last sweep


def gather_known(
    entries: Entries,
    pattern: tuple[bool, bool] = (False, False),
    values: tuple[AttributeValues | None, AttributeValues | None] = (None, None),
    *,
    stays: bool = False,
) -> Known:
    """What is known of the rows and columns of cells.

    `pattern` says of which side the known cells count as attributes; with `stays` they do even
    where they say nothing. `values` are tables of attributes of either side.
    """
    orders = entries.by_row, entries.by_col
    every = mark_cells(orders[0]) if any(pattern) else None
    sides = []
    for own, other, wanted, table in zip(orders, orders[::-1], pattern, values, strict=True):
        group = group_pattern(own, other, every) if wanted and every is not None else None
        groups = [] if group is None else [group._replace(stays=stays)]
        if table is not None:
            some = own.counts() > 0
            # What is known of columns is at hand, where the rows are on a cluster too.
            engine = own.engine if distant(some) or not distant(own.engine.kind) else None
            groups += group_table(table, some, engine or choose_engine("cpu"))
        sides.append(tuple(groups))
    return Known(sides[0], sides[1])


def add_effects(now: Posterior, known: Known) -> Posterior:
    """The posterior with effects that move nothing yet."""
    d = now.rank + 1
    return replace(
        now,
        row_prior=now.row_prior._replace(effects=start_effects(known.rows, d)),
        col_prior=now.col_prior._replace(effects=start_effects(known.cols, d)),
    )


def drop_groups(now: Posterior, known: Known, before: Posterior | None = None) -> Drop:
    """Without the groups of attributes that say nothing.

    Given the posterior a sweep before, also without those that fade: the error rests long before
    they are gone.
    """
    earlier = (None, None) if before is None else (before.row_prior, before.col_prior)
    row_prior, rows = _drop(now.row_prior, known.rows, earlier[0])
    col_prior, cols = _drop(now.col_prior, known.cols, earlier[1])
    return Drop(replace(now, row_prior=row_prior, col_prior=col_prior), Known(rows, cols))


class Drop(NamedTuple):
    """The posterior and the groups that are left."""

    now: Posterior
    known: Known


def _drop(
    prior: Gaussian, groups: Sequence[RidgeGroup], before: Gaussian | None
) -> tuple[Gaussian, tuple[RidgeGroup, ...]]:
    earlier = {} if before is None else {(e.source, e.name): e.degrees for e in before.effects}
    pairs = [
        (effect, group)
        for effect, group in zip(prior.effects, groups, strict=True)
        if group.stays
        or effect.degrees
        >= max(MIN_DEGREES, MIN_STAYING_SHARE * earlier.get((effect.source, effect.name), 0.0))
    ]
    centers = prior.centers if pairs else None
    effects = tuple(effect for effect, _ in pairs)
    kept = prior._replace(effects=effects, centers=centers, squares=())
    return kept, tuple(group for _, group in pairs)


def is_settled(now: Posterior, before: Posterior) -> bool:
    """Whether every group has the degrees of freedom that it had a sweep before, nearly."""
    sides = ((now.row_prior, before.row_prior), (now.col_prior, before.col_prior))
    pairs = [zip(a.effects, b.effects, strict=False) for a, b in sides]
    return all(
        abs(own.degrees - old.degrees) <= (1 - MIN_STAYING_SHARE) * old.degrees
        for pair in pairs
        for own, old in pair
    )


def state_doubt(now: Posterior, known: Known) -> Posterior:
    """The posterior with draws of the coefficients about their mean, for those who read them.

    Nobody reads those of a pattern alone.
    """
    sides = []
    for prior, groups, side in (
        (now.row_prior, known.rows, now.rows),
        (now.col_prior, known.cols, now.cols),
    ):
        effects = prior.effects
        if any(group.source == TABLE for group in groups):
            effects = state_doubts(groups, effects, prior.there(side.factor))
        sides.append(prior._replace(effects=effects))
    return replace(now, row_prior=sides[0], col_prior=sides[1])


def drop_centers(now: Posterior) -> Posterior:
    """The posterior as a model keeps it: centers follow from attributes and effects."""
    row_prior, col_prior = (
        prior._replace(centers=None, squares=()) for prior in (now.row_prior, now.col_prior)
    )
    return replace(now, row_prior=row_prior, col_prior=col_prior)


def match_groups(now: Posterior, known: Known) -> Known:
    """The groups that the posterior has effects of, and the periods that it has offsets of."""

    def keep(prior: Gaussian, groups: Sequence[RidgeGroup]) -> Iterator[RidgeGroup]:
        names = {(effect.source, effect.name) for effect in prior.effects}
        return (group for group in groups if (group.source, group.name) in names)

    periods = None
    if known.periods is not None and now.drift is not None:
        periods = now.drift.match(known.periods)
    sides = keep(now.row_prior, known.rows), keep(now.col_prior, known.cols)
    return Known(tuple(sides[0]), tuple(sides[1]), periods)
