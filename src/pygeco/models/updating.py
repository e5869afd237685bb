"""New cells into a fitted model, without another fit.

Each row with a new cell is fitted again to all its cells given the columns, then each such column
given the rows, then those rows again. All else stays: other rows and columns, the penalty or the
prior and the noise, the rank. A mean of draws then moves as the posterior does. Cells are merged on
the host, and the passes run where the model is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pygeco.arrays.kinds import HOST, host, moved, on, spread_lines
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.effects import widen_patterns
from pygeco.bayes.periods import order_times
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.sweep import new_rows
from pygeco.bayes.timing import renew_drift
from pygeco.engines import choose_engine
from pygeco.losses import Loss
from pygeco.models.average_update import Change, Growth, Shown, update_average
from pygeco.models.folding import Linear, Sizes
from pygeco.models.seen import NO_TIMES, Positions, Seen, keep_cells, sort_cells
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side

if TYPE_CHECKING:
    from pygeco.models.completion import CompletionModel

Places = tuple[Positions, Positions]


class Told(NamedTuple):
    """What is told of the rows of a side: their attributes, and their cells before."""

    values: AttributeValues | None
    counts: Positions


def take_in(
    model: CompletionModel, new: Entries, places: Places, times: Array | None = None
) -> CompletionModel:
    """The model with the new cells; see `FittedModel.update`."""
    new = new.scale_weights(model.weight_unit)
    entries = merge_cells(model.seen, model.loss, new, places)
    dates = _merge_times(model, entries, new, places, times)
    rows, cols = (
        _find_touched(host(cells.counts()), place, size)
        for cells, place, size in zip((new.by_row, new.by_col), places, entries.shape, strict=True)
    )
    if not len(rows) and not len(cols):
        return model
    state = _widen(model.posterior or model.folding_state(), entries, places)
    told = _widen_told(model, entries.shape, places)
    before = state
    rest = _subtract_time(state, entries, dates)
    part = rest.take_rows(rows)
    state = _refit_rows(state, part, rows, told[0])
    state = _refit_rows(state.T, rest.T.take_rows(cols), cols, told[1]).T
    if isinstance(state, Posterior) and state.drift is not None:
        state = renew_drift(state, entries, dates, (rows, cols))
        part = _subtract_time(state, entries, dates).take_rows(rows)
    state = _refit_rows(state, part, rows, told[0])
    bounds = model.bounds
    if new.size:
        low, high = model.loss.bounds(host(new.by_row.values))
        bounds = min(low, bounds[0]), max(high, bounds[1])
    posterior = state if isinstance(state, Posterior) else None
    found = _show(model, before, state, entries, places, told)
    return replace(
        model,
        factors=keep_factors(found.factors, entries),
        biases=found.biases,
        posterior=posterior,
        average=found.average,
        seen=keep_cells(entries, dates),
        held_out=_widen_held_out(model.held_out, entries.shape, places),
        bounds=bounds,
        row_attributes=told[0].values,
        lists=None,
        column_attributes=told[1].values,
    )


def _show(
    model: CompletionModel,
    before: Linear | Posterior,
    after: Linear | Posterior,
    entries: Entries,
    places: Places,
    told: list[Told],
) -> Shown:
    if isinstance(after, Linear):
        return Shown(after.A, after.biases)
    if model.average is None or isinstance(before, Linear):
        return Shown(after.factors(), after.at_end.biases())
    rows, cols = (
        Growth(side.counts, host(cells.counts()))
        for side, cells in zip(told, (entries.by_row, entries.by_col), strict=True)
    )
    change = Change(before, after, (rows, cols))
    return update_average(model.factors, model.biases, model.average, change, places)


def _widen_told(model: CompletionModel, shape: tuple[int, int], places: Places) -> list[Told]:
    """With nothing told of new rows and columns."""
    sides = []
    every = (model.row_attributes, model.column_attributes), model.counts(), shape, places
    for values, counts, size, place in zip(*every, strict=True):
        wide = np.zeros(size, np.int64)
        wide[place] = counts
        sides.append(Told(None if values is None else values.widen(size, place), wide))
    return sides


def keep_factors(A: LowRank, entries: Entries) -> LowRank:
    """A as a model keeps it: of the kind and the precision of the data."""
    if A.rank == 0:  # an empty path does not know where its data are
        A = LowRank.zero(A.shape, entries.kind)
        rows = entries.by_row.counts()
        A = replace(A, U=np.empty_like(rows, dtype=float, shape=A.U.shape))
    return A.astype(entries.dtype)


def merge_cells(
    seen: Seen, loss: Loss, new: Entries, places: Places, duplicates: str = "last"
) -> Entries:
    """The known cells and the new ones, which count where both are there; where the known are.

    New ones without weights weigh as much as the known ones do on average.
    """
    there, old = choose_engine(None, seen.values), moved(seen, HOST)
    fresh = moved(keep_cells(new), HOST)
    usual = float(old.weights.mean(dtype=float)) if len(old.weights) else 1.0
    weights = [w if len(w) else np.full(len(y), usual) for _, _, y, w, _ in (old, fresh)]
    values = np.concatenate([old.values, fresh.values]).astype(old.values.dtype)
    return Entries(
        np.concatenate([places[0][old.rows()], fresh.rows()]),
        np.concatenate([places[1][old.indices], fresh.indices]),
        values,
        new.shape,
        sample_weight=np.concatenate(weights) if len(old.weights) or len(fresh.weights) else None,
        duplicates=duplicates,
        engine=there,
    ).with_loss(loss)


def _widen_held_out(held: Seen | None, shape: tuple[int, int], places: Places) -> Seen | None:
    if held is None:
        return None
    here = moved(held, HOST)
    at = places[0][here.rows()], places[1][here.indices]
    times = here.times if len(here.times) else None
    found: Seen = moved(sort_cells(*at, here.values, shape, times), held.values)
    return found


def _merge_times(
    model: CompletionModel, entries: Entries, new: Entries, places: Places, times: Array | None
) -> Array:
    """The times of all cells, row by row; new ones without a time are of the last of the fit."""
    seen = model.seen
    if model.drift is None:
        return NO_TIMES
    fresh = np.full(new.size, model.drift.latest) if times is None else times
    return order_times(
        entries,
        np.concatenate([places[0][seen.rows()], host(new.rows())]),
        np.concatenate([places[1][host(seen.indices)], host(new.by_row.indices)]),
        np.concatenate([seen.times, fresh]),
    )


def _subtract_time(state: Linear | Posterior, entries: Entries, times: Array) -> Entries:
    """The cells without what time says."""
    if isinstance(state, Linear) or state.drift is None:
        return entries
    columns = host(entries.by_row.indices)
    moves = state.drift.look_up(entries.rows(), columns, times).mean
    return entries.subtract(state.scale * moves, np.argsort(columns, kind="stable"))


def _find_touched(counts: Positions, place: Positions, size: int) -> Positions:
    """The rows with a new cell, and those that are new themselves."""
    fresh = np.ones(size, bool)
    fresh[place] = False
    return np.flatnonzero(fresh | (counts > 0))


def _widen(state: Linear | Posterior, entries: Entries, places: Places) -> Linear | Posterior:
    """With zeros for new rows and columns, and the counts of all cells."""
    (m, n), (row, col) = entries.shape, places
    if isinstance(state, Posterior):
        some = [cells.counts() > 0 for cells in (entries.by_row, entries.by_col)]
        return replace(
            state,
            rows=Side(*(spread_lines(part, m, row) for part in state.rows)),
            cols=Side(*(spread_lines(part, n, col) for part in state.cols)),
            drift=None if state.drift is None else state.drift.widen(row, col),
            row_prior=state.row_prior._replace(
                some=some[0], effects=widen_patterns(state.row_prior.effects, n, col)
            ),
            col_prior=state.col_prior._replace(
                some=some[1], effects=widen_patterns(state.col_prior.effects, m, row)
            ),
        )
    A, b = state.A.astype(float), state.biases
    rows, cols = (
        Sizes(host(cells.counts()), sizes.level)
        for cells, sizes in ((entries.by_row, state.rows), (entries.by_col, state.cols))
    )
    return replace(
        state,
        A=LowRank(spread_lines(A.U, m, row), A.s, spread_lines(A.V, n, col)),
        biases=Biases(b.mean, spread_lines(b.row, m, row), spread_lines(b.col, n, col)),
        rows=rows,
        cols=cols,
    )


def _refit_rows(
    state: Linear | Posterior,
    part: Entries,
    rows: Positions,
    told: Told,
) -> Linear | Posterior:
    """The state with these rows fitted to all their cells, which `part` has, given the columns."""
    if isinstance(state, Posterior):
        values = None if told.values is None else told.values.take(rows)
        found = new_rows(state, part, values, told.counts[rows] > 0)
        sides = (_put_rows(old, rows, new) for old, new in zip(state.rows, found, strict=True))
        return replace(state, rows=Side(*sides))
    coordinates, offsets = state.fold(part)
    A, b = state.A, state.biases
    left = _put_rows(A.left, rows, coordinates)
    row = _put_rows(b.row, rows, offsets)
    A = LowRank(left, np.ones(A.rank), A.V).svd()
    return replace(state, A=A, biases=Biases(b.mean, row, b.col))


def _put_rows(x: Array, rows: Positions, new: Array) -> Array:
    out = x.copy()
    out[on(rows, out)] = new
    return out
