"""One sweep of the evidence: both sides given each other, then the noise; and rows that are new."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import on, ones, zeros
from pygeco.arrays.low_rank import Array
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.likelihoods import choose_likelihood
from pygeco.bayes.likelihoods.base import Likelihood
from pygeco.bayes.placing import place_cold_rows, place_rows_by
from pygeco.bayes.posterior import LEAST_NOISE, Posterior
from pygeco.bayes.priors import FLOAT, Gaussian
from pygeco.bayes.working import find_moments, move_mean, place_targets, see_cells
from pygeco.engines import Cells
from pygeco.objectives.entries.cell_views import append_offsets, measure_residuals, multiply_weights
from pygeco.objectives.entries.half_sweep import Side, Swept, half_sweep
from pygeco.objectives.entries.objective import Entries

LEAN_CELLS = 30_000_000  # from here on memory counts more than the time of a few products
REWEIGHTINGS = 10  # times that the cells of a new row are weighted anew, under a robust loss
MAX_SETTLING_STEPS = 60  # of new rows under a likelihood; most rest after ten
RESTING_MOVE = 0.01  # deviations of the prior: rows that would move by less are at rest
ROUNDING = 1e-6  # of a loss in single precision
MAX_SINGLE_PRECISION = 1e6  # that a cell adds to a prior of about one: float32 loses it beyond


class Standard(NamedTuple):
    """Cells in standard units: a value y of the caller's is mean + scale · (theirs).

    Under a likelihood, that holds of z; the cells keep their targets.
    """

    data: Entries
    mean: float
    scale: float
    likelihood: Likelihood | None = None


def standardize_entries(entries: Entries, *, center: bool) -> Standard:
    """The same cells with mean 0 (where centered) and deviation 1, in float32."""
    if not entries.squared:
        likelihood = choose_likelihood(entries.loss)
        y, w = entries.by_row.values, entries.weights
        mean = likelihood.find_constant(y, w) if center else 0.0
        return Standard(entries.standardize(0.0, 1.0, FLOAT), mean, 1.0, likelihood)
    total = entries.total_weight
    mean = entries.moments()[0] / total if center else 0.0
    spread = float(np.sqrt(entries.moments(mean)[1] / total))
    scale = spread if spread > 1e-12 * abs(mean) and spread > 0 else 1.0
    data = entries.standardize(mean, scale, FLOAT)
    data.lean = entries.lean or data.size > LEAN_CELLS
    return Standard(data, mean, scale)


def sweep(data: Entries, now: Posterior, relax: float = 0.0) -> tuple[Posterior, float]:
    """Rows given columns, columns given rows, then the noise. Gives Σ E[(y − ŷ)²] too.

    Under a likelihood, the mean of E[−log p] before the sweep instead.

    `relax` carries the columns on along their last move: exact alternating steps are short.
    """
    seen = see_cells(data.by_row, now.rows, now.cols, now, updates=True)
    rows = sweep_side(seen.cells, now.rows, now.cols, now.row_prior, seen.tau).side
    now = replace(now, likelihood=seen.likelihood)
    own = see_cells(data.by_col, now.cols, rows, now)
    now = move_mean(own, now, rows)
    cols, uncertainty, _ = sweep_side(own.cells, now.cols, rows, now.col_prior, own.tau)
    if now.likelihood is None:
        # The squares of the residuals themselves: as a difference of sums they would be lost where
        # the noise is small.
        error = data.squared_error(rows, cols) + uncertainty
        tau = data.total_weight / max(error, LEAST_NOISE * data.total_weight)
    else:
        error, tau = seen.loss, own.tau
    if relax:
        step = FLOAT(relax)
        cols = cols._replace(
            factor=cols.factor + step * (cols.factor - now.cols.factor),
            bias=cols.bias + step * (cols.bias - now.cols.bias),
        )
    return replace(now, rows=rows, cols=cols, tau=tau), error


def sweep_side(
    cells: Cells,
    side: Side,
    partner: Side,
    prior: Gaussian,
    tau: float,
    ridge: Array | None = None,
) -> Swept:
    """One side given the other; the prior's precision counts `ridge` times, one number a row.

    Where cells say much it is solved in double precision: in single one, rounding of what they say
    is more than the prior, by which alone a row lies in directions that they do not tell apart.
    """
    is_fine = tau * _measure_largest(cells, partner) > MAX_SINGLE_PRECISION
    swept = half_sweep(
        cells,
        _convert(side, np.float64) if is_fine else side,
        _convert(partner, np.float64) if is_fine else partner,
        prior=prior.precision,
        center=prior.about,
        ridge=ridge,
        tau=tau,
        variances=True,
    )
    if not is_fine:
        return swept
    side, mean = (_convert(x, FLOAT) for x in (swept.side, swept.mean))
    return swept._replace(side=side, mean=mean)


def _measure_largest(cells: Cells, partner: Side) -> float:
    """About the most that a cell says of a number of a row, in units of the precision."""
    weight = float(cells.weights.max()) if len(cells.weights) else 1.0
    if not partner.rank:
        return weight
    most = max(float(partner.factor.max()), -float(partner.factor.min()))
    return weight * max(1.0, most) ** 2


def _convert(side: Side, real: type[np.floating]) -> Side:
    return Side(*(x.astype(real) for x in side))


def new_rows(
    model: Posterior,
    entries: Entries,
    values: AttributeValues | None = None,
    fitted: NDArray[np.bool_] | None = None,
) -> Side:
    """The posterior means and variances of rows that were not fitted, given their cells.

    `values` are their attributes, if any; `fitted` says which were fitted after all, to fewer
    cells. Under a robust loss their cells are weighted as those of
    the fit were, from the prior's center on and so many times anew.
    """
    data = place_targets(entries, model)
    m, like = entries.shape[0], model.cols.factor
    side = Side(zeros((m, model.rank), like, FLOAT), zeros(m, like, FLOAT))
    cells = data.by_row
    prior, ridge = place_rows_by(model.row_prior, cells, values, fitted)
    if model.likelihood is not None:
        side = _settle_rows(model, cells, side, prior, ridge)
        return place_cold_rows(side, prior, cells, values)
    if model.weighing is None:
        side = sweep_side(cells, side, model.cols, prior, model.tau, ridge).side
        return place_cold_rows(side, prior, cells, values)
    side = _start_rows(side, prior)
    for _ in range(REWEIGHTINGS):
        P, Q = append_offsets(side.factor, like, side.bias, model.cols.bias)
        weights = model.weighing.weights(model.scale * measure_residuals(cells, P, Q).astype(float))
        own = multiply_weights(cells, weights)
        side = sweep_side(own, side, model.cols, prior, model.tau, ridge).side
    return place_cold_rows(side, prior, cells, values)


def _start_rows(side: Side, prior: Gaussian) -> Side:
    """Rows at what they lie about beforehand."""
    center = on(prior.about.astype(FLOAT), side.factor)
    return Side(side.factor + center[..., :-1], side.bias + center[..., -1])


def _settle_rows(
    model: Posterior, cells: Cells, side: Side, prior: Gaussian, ridge: Array | None
) -> Side:
    """Rows under a likelihood: squares about what was found of them, until they rest.

    Far from the optimum the curvature says too little of how far to go: a row whose loss a step
    does not lower stays where it is, and its next step is half as long.
    """
    side = _start_rows(side, prior)
    length = ones(cells.groups, side.factor)[:, None]
    for _ in range(MAX_SETTLING_STEPS):
        seen = see_cells(cells, side, model.cols, model)
        found = sweep_side(seen.cells, side, model.cols, prior, seen.tau, ridge).side
        here = found._replace(factor=side.factor, bias=side.bias)
        step = length * np.column_stack([found.factor - side.factor, found.bias - side.bias])
        there = _move_rows(here, step)
        least = _measure_rows(model, cells, here, prior, ridge)
        falls = _measure_rows(model, cells, there, prior, ridge) <= least + ROUNDING * abs(least)
        side = _move_rows(here, np.where(falls[:, None], step, 0.0))
        length = np.where(falls[:, None], np.minimum(2 * length, 1.0), length / 2)
        moves = _count_deviations(step, prior)
        if not len(moves) or float(np.max(moves)) < RESTING_MOVE**2:
            break
    return side


def _move_rows(side: Side, step: Array) -> Side:
    factor, bias = side.factor + step[:, :-1], side.bias + step[:, -1]
    return side._replace(factor=factor.astype(FLOAT), bias=bias.astype(FLOAT))


def _measure_rows(
    model: Posterior, cells: Cells, side: Side, prior: Gaussian, ridge: Array | None
) -> Array:
    """The expected loss of each row's cells, and what its place costs by the prior."""
    assert model.likelihood is not None
    at = find_moments(cells, side, model.cols, model.mean)
    loss: Array = model.likelihood.expect_loss(cells.values, *at).astype(FLOAT)
    loss = loss * cells.weights if len(cells.weights) else loss
    every = ones(len(model.cols.bias), side.factor, FLOAT)[:, None]
    total = cells.engine.products(cells, loss, 1.0, every)[:, 0].astype(float)
    place = np.column_stack([side.factor, side.bias]) - on(prior.about.astype(FLOAT), side.factor)
    apart = _count_deviations(place, prior)
    return total + 0.5 * (apart if ridge is None else ridge * apart)


def _count_deviations(step: Array, prior: Gaussian) -> Array:
    """The square of each row's step, in deviations of the prior."""
    root = on(np.linalg.cholesky(prior.precision), step)
    return ((step.astype(float) @ root) ** 2).sum(axis=1)
