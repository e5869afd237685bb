"""How the evidence grows: offsets first, then blocks of components, without those that fade."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pygeco.algorithm.directions import leading_block
from pygeco.arrays.kinds import full, host, scaled, stack, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Weighted
from pygeco.bayes.likelihoods.base import mean_of
from pygeco.bayes.posterior import (
    LEAST_NOISE,
    Posterior,
    drop_directions,
    measure_support,
    update_priors,
)
from pygeco.bayes.priors import FLOAT, NEVER, Gaussian
from pygeco.bayes.sweep import Standard, sweep, sweep_side
from pygeco.bayes.working import find_moments, see_cells, see_entries
from pygeco.objectives.entries.half_sweep import Side
from pygeco.objectives.entries.objective import Entries

MAX_PRECISION_RISE = 10.0  # how much the precision of the noise may rise before variances count
MAX_SUPPORT_LOSS = 0.08  # a false direction loses this share of its support in three sweeps
MAX_WORKING_LOSS = 0.16  # the same of squares under a likelihood, which move with what is found


def fit_offsets(standard: Standard, offsets: tuple[str, ...]) -> Posterior:
    """No component; the offsets by a few sweeps from a wide prior."""
    data, mean, scale, likelihood = standard
    sides, priors = [], []
    for cells, name in ((data.by_row, "row"), (data.by_col, "column")):
        nothing, zero = (
            zeros(shape, data.kind, FLOAT) for shape in ((cells.groups, 0), cells.groups)
        )
        sides.append(Side(nothing, zero, nothing, zero))
        precision = np.array([[5.0 if name in offsets else NEVER]])
        priors.append(Gaussian(precision, np.zeros(1), cells.counts() > 0, name in offsets))
    now = Posterior(
        sides[0], sides[1], priors[0], priors[1], 1.0, mean, scale, likelihood=likelihood
    )
    for _ in range(3):
        now, _ = sweep(data, now)
        now = update_priors(now)
    return now


def grow_block(data: Entries, now: Posterior, count: int, rng: np.random.Generator) -> Posterior:
    """A block of leading pairs of the residuals, row i and column j weighted by √(1 / count).

    New columns start at a quarter of what the residuals suggest, with the variance of a guess;
    their rows come from the first half-sweep.
    """
    m, n = data.shape
    count = min(count, min(m, n) - now.rank)
    if count <= 0:
        return now
    U, V = now.rows.factor.astype(float), now.cols.factor.astype(float)
    by_row, by_col = (np.maximum(c.counts(), 1) ** -0.5 for c in (data.by_row, data.by_col))
    biases = now.rows.bias.astype(float), now.cols.bias.astype(float)
    squares = see_entries(data, now)
    G = Weighted(squares.gradient_beyond(LowRank.product(U, V), *biases), by_row, by_col)
    _, s, Y = leading_block(G, count, rng)
    # The gradient is −2 / Σ w times the residuals.
    size = np.maximum(0.25 * 0.5 * data.total_weight * s, 1e-6)
    new: Array = by_col[:, None] * Y
    new = scaled(new, np.sqrt(size / np.maximum(host(np.mean(new * new, axis=0)), 1e-300)))
    return replace(
        now,
        rows=_add_columns(now.rows, zeros((m, count), new), 0.0),
        cols=_add_columns(now.cols, new, 0.01),
        row_prior=now.row_prior.add_components(size),
        col_prior=now.col_prior.add_components(size),
    )


def _add_columns(side: Side, factor: Array, variance: float) -> Side:
    guess = full(factor.shape, variance, factor, FLOAT)
    return side._replace(
        factor=stack([side.factor, factor], FLOAT),
        variance=stack([side.variance, guess]),
    )


def raise_block(data: Entries, now: Posterior, sweeps: int) -> Posterior:
    """Sweeps as if the other side were known, so that new components can rise.

    With its variances from the start, they rise slowly where rows have few cells, and the prior
    drowns true ones with the rest, which costs up to a tenth of the error. From above it takes
    the false ones alone. Under a likelihood it ends where a sweep raises the loss: squares about
    labels that are far from certain of the wrong side lead anywhere.
    """
    most, least = MAX_PRECISION_RISE * now.tau, _measure_plain_loss(data, now)
    for _ in range(sweeps if now.rank else 0):
        u, v = (Side(side.factor, side.bias) for side in (now.rows, now.cols))
        seen = see_cells(data.by_row, u, v, now)
        rows = sweep_side(seen.cells, u, v, now.row_prior, seen.tau).side
        found = Side(rows.factor, rows.bias)
        own = see_cells(data.by_col, v, found, now)
        cols = sweep_side(own.cells, v, found, now.col_prior, own.tau).side
        tau = own.tau
        if now.likelihood is None:
            error = max(data.squared_error(rows, cols), LEAST_NOISE * data.total_weight)
            tau = min(data.total_weight / error, most)
        later = update_priors(replace(now, rows=rows, cols=cols, tau=tau))
        loss = _measure_plain_loss(data, later)
        if not loss <= least:
            break
        now, least = later, loss
    return now


def _measure_plain_loss(data: Entries, now: Posterior) -> float:
    """The mean of −log p as if both sides were known; zero without a likelihood."""
    if now.likelihood is None:
        return 0.0
    u, v = (Side(side.factor, side.bias) for side in (now.rows, now.cols))
    cells = data.by_row
    losses = now.likelihood.expect_loss(cells.values, *find_moments(cells, u, v, now.mean))
    return mean_of(losses, cells.weights if len(cells.weights) else None)


def drop_fading(data: Entries, now: Posterior) -> Posterior:
    """Without the directions that fade: the error rests long before false ones are gone."""
    if now.rank == 0:
        return now
    before, later = measure_support(now).support, now
    for _ in range(3):
        later = update_priors(sweep(data, later)[0])
    after = measure_support(later)
    most = MAX_SUPPORT_LOSS if now.likelihood is None else MAX_WORKING_LOSS
    alive = after.support >= (1 - most) * before
    return sweep(data, drop_directions(later, after, keep=alive))[0]
