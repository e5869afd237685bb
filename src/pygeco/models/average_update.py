"""New cells into a mean of draws: it moves as the posterior by which it is fitted again moves.

Every row and column that new cells touch is fitted again by the evidence (`updating.py`). A draw of
it for each draw that is kept would take as long as a chain does. The mean of draws and the mean of
the evidence lie close, so what new cells change in one they change in the other: the mean of draws,
A, becomes A + (U V'ᵀ after − before), brought back to the components that A has. That is linear, so
a second update adds to the first as if both had come at once. Draws, which say how far a prediction
is from certain, move as well; those of a line that is mostly new lie about its mean as those of
another line with as many cells lay about theirs. Its Gaussian would be too narrow: it takes the
other side as known, and goes with more noise than draws find.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import inner, on, spread_lines, times
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes.average import Average, Draw
from pygeco.bayes.drift import Drift, PeriodOffsets
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import FLOAT
from pygeco.models.folding import match_offsets
from pygeco.models.seen import Positions
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side

MIN_NEW_SHARE = 0.2  # of a line's cells that are new, for its draws to be drawn anew
ALIKE_LINES = 8  # on either side by their cells, of which one lends its scatter to a new line
MIN_SINGULAR_SHARE = 1e-7  # of the largest, for a component to carry a move

Places = tuple[Positions, Positions]


class Growth(NamedTuple):
    """The cells of the lines of a side before, widened, and after; on the host."""

    before: Positions
    after: Positions


class Change(NamedTuple):
    """The posterior before, widened, and after; the cells of rows and of columns."""

    before: Posterior
    after: Posterior
    growth: tuple[Growth, Growth]


class Matched(NamedTuple):
    """A matrix, and offsets that it is to be seen beside."""

    A: LowRank
    biases: Biases


class Shown(NamedTuple):
    """What a model shows: its matrix, its offsets at the last time, and a mean of draws, if any."""

    factors: LowRank
    biases: Biases
    average: Average | None = None


def find_renewed(growth: Growth) -> NDArray[np.bool_]:
    """Lines of which a good share of the cells is new.

    A cell given again takes the place of the one before: the line knows no more by it.
    """
    new = growth.after - growth.before
    return np.asarray(new >= np.maximum(MIN_NEW_SHARE * growth.after, 1))


def choose_sources(growth: Growth, rng: np.random.Generator) -> NDArray[np.int64]:
    """For each line itself or, where it is mostly new, an old one with about as many cells."""
    out, renewed = np.arange(len(growth.after)), find_renewed(growth)
    order = np.argsort(growth.before, kind="stable")
    order = order[growth.before[order] > 0]
    if len(order):
        place = np.searchsorted(growth.before[order], growth.after[renewed])
        place += rng.integers(-ALIKE_LINES, ALIKE_LINES, len(place), endpoint=True)
        out[renewed] = order[np.clip(place, 0, len(order) - 1)]
    return out


def update_average(
    factors: LowRank, biases: Biases, average: Average, change: Change, places: Places
) -> Shown:
    """The mean of draws, with what new cells changed in the posterior. O((m + n) r²)."""
    row, col = places
    m, n = (len(side.bias) for side in (change.after.rows, change.after.cols))
    A = factors.astype(float)
    A = LowRank(spread_lines(A.U, m, row), A.s, spread_lines(A.V, n, col))
    A = move_matrix(A, change)
    old, scale = average.drift, average.scale
    raw = biases if old is None else old.add_to_biases(biases, -scale)
    raw = Biases(raw.mean, spread_lines(raw.row, m, row), spread_lines(raw.col, n, col))
    before, after = change.before.biases(), change.after.biases()
    raw = Biases(raw.mean, raw.row + (after.row - before.row), raw.col + (after.col - before.col))
    A, raw = _match_new_lines(A, raw, change.after, places)
    drift = None if old is None else _move_drift(old.widen(row, col), change)
    rng = stream(Purpose.UPDATED_DRAWS, average.sweeps, m, n)
    draws = tuple(_move_draw(draw, change, places, rng) for draw in average.draws)
    average = replace(average, factors=A, row=raw.row, col=raw.col, draws=draws, drift=drift)
    return Shown(A, raw if drift is None else drift.add_to_biases(raw, scale), average)


def _match_new_lines(A: LowRank, biases: Biases, after: Posterior, places: Places) -> Matched:
    """New rows and columns beside the offsets of the mean of draws, as they are folded into it."""
    A, biases = _match_new_rows(A, biases, after, places[0])
    A, biases = _match_new_rows(A.T, biases.T, after.T, places[1])
    return Matched(A.T, biases.T)


def _match_new_rows(A: LowRank, biases: Biases, after: Posterior, place: Positions) -> Matched:
    """The rows that are in none of these places, with what they need beside other offsets."""
    new = np.ones(len(biases.row))
    new[place] = 0
    if not new.any():
        return Matched(A, biases)
    apart, there = match_offsets(after, A, biases), on(new, A.U)
    left = A.left + there[:, None] * apart.coordinates
    row = biases.row + there * apart.offsets
    return Matched(LowRank.product(left, A.V).svd(), replace(biases, row=row))


def move_matrix(A: LowRank, change: Change) -> LowRank:
    """A + scale (U₁ V₁ᵀ − U₀ V₀ᵀ) = A + scale (ΔU V₀ᵀ + U₁ ΔVᵀ), in as many components as A has.

    The rows of ΔU go into the span of A's columns, then those of ΔV into that of its rows. A new
    row is then what folding it into A gives.
    """
    p, q = change.before, change.after
    if A.rank == 0 or q.rank == 0:
        return A
    more = (q.rows.factor - p.rows.factor).astype(float)
    left = A.left + times(more, q.scale * inner(p.cols.factor.astype(float), A.V))
    more = (q.cols.factor - p.cols.factor).astype(float)
    shared = inner(q.rows.factor.astype(float), left)
    return LowRank.product(left, A.V + times(more, q.scale * _solve(left, shared))).svd()


def _solve(left: Array, shared: Array) -> Array:
    """C of the least squares ‖left Cᵀ − U‖, given Uᵀ left; (rank of U, rank of left)."""
    values, vectors = np.linalg.eigh(inner(left, left))
    carries = values > MIN_SINGULAR_SHARE**2 * max(float(values[-1]), 1e-300)
    basis = vectors[:, carries]
    found: Array = (shared @ basis / values[carries]) @ basis.T
    return found


def _move_draw(draw: Draw, change: Change, places: Places, rng: np.random.Generator) -> Draw:
    """Both sides of a draw, each given the other as it was."""
    p, q = change.before, change.after
    sizes = len(q.rows.bias), len(q.cols.bias)
    rows, cols = (
        side._replace(
            factor=spread_lines(side.factor, size, place),
            bias=spread_lines(side.bias, size, place),
        )
        for side, size, place in zip(draw, sizes, places, strict=True)
    )
    of_rows, of_cols = (choose_sources(growth, rng) for growth in change.growth)
    return Draw(
        _move_side(rows, (p.rows, q.rows), of_rows), _move_side(cols, (p.cols, q.cols), of_cols)
    )


def _move_side(drawn: Side, own: tuple[Side, Side], sources: NDArray[np.int64]) -> Side:
    """One side of a draw in its own components, each line as far off as that of its source was.

    `own` is that side of the posterior before and after. What the draw makes of the components of
    the posterior is told by the lines of both, so that a new line keeps what the other side of the
    draw scatters.
    """
    before, after = own
    turn, at = _find_turn(before, drawn), on(sources, drawn.bias)
    move = (after.factor - before.factor[at]).astype(float)
    factor = drawn.factor[at] + times(move, turn)
    bias = drawn.bias[at] + (after.bias - before.bias[at])
    return drawn._replace(factor=factor.astype(FLOAT), bias=bias.astype(FLOAT))


def _find_turn(before: Side, drawn: Side) -> Array:
    """T of the least squares ‖U T − D‖, U of the posterior and D of the draw."""
    U, D = before.factor.astype(float), drawn.factor.astype(float)
    return _solve(U, inner(D, U)).T if U.shape[1] else np.zeros((0, D.shape[1]))


def _move_drift(old: Drift, change: Change) -> Drift:
    """Offsets of periods: their means move by as much, their variances in proportion."""
    p, q = change.before.drift, change.after.drift
    assert p is not None
    assert q is not None
    parts = zip(old.offsets, p.offsets, q.offsets, strict=True)
    return replace(q, offsets=tuple(_move_offsets(*part) for part in parts))


def _move_offsets(own: PeriodOffsets, before: PeriodOffsets, after: PeriodOffsets) -> PeriodOffsets:
    starts = (after.numbers + 0.5) * after.periods.width + after.periods.origin
    mean, variance = own.look_up(after.lines, starts)
    was, doubt = before.look_up(after.lines, starts)
    share = after.variance / np.maximum(doubt, 1e-300)
    return after._replace(
        mean=mean + (after.mean - was), variance=variance * share, spread=own.spread
    )
