"""Cells under a likelihood as weighted squares about what is known of them, for one half-sweep."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pygeco.arrays.kinds import ones
from pygeco.arrays.low_rank import Array
from pygeco.bayes.likelihoods.base import Likelihood, WorkingSquares, mean_of
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.priors import FLOAT
from pygeco.engines import Cells
from pygeco.losses import Squared
from pygeco.objectives.entries.cell_views import append_offsets, multiply_weights
from pygeco.objectives.entries.half_sweep import Side
from pygeco.objectives.entries.objective import Entries


class Moments(NamedTuple):
    """Mean and variance of z at cells."""

    mean: Array
    variance: Array


class Working(NamedTuple):
    """Cells with weights of mean one, and the precision that a unit of weight has.

    `likelihood` has what is estimated beside z; `loss` is Σ w E[−log p], zero without a likelihood.
    """

    cells: Cells
    tau: float
    likelihood: Likelihood | None = None
    loss: float = 0.0


def find_moments(cells: Cells, own: Side, other: Side, mean: float) -> Moments:
    """What both sides say of z at the cells, which go with `own`. O(|E| s)."""
    P, Q = append_offsets(own.factor, other.factor, own.bias, other.bias)
    z = _multiply(cells, P, Q) + FLOAT(mean)
    if not len(own.bias_variance):
        return Moments(z, 0 * z)
    u, wu, v, wv = own.factor, own.variance, other.factor, other.variance
    one, constant = ones(len(u), u, FLOAT), ones(len(v), v, FLOAT)
    P = np.column_stack([u * u + wu, wu, own.bias_variance, one])
    Q = np.column_stack([wv, v * v, constant, other.bias_variance])
    return Moments(z, _multiply(cells, P, Q))


def see_cells(
    cells: Cells, own: Side, other: Side, now: Posterior, *, updates: bool = False
) -> Working:
    """The cells of `own` as weighted squares; where there is no likelihood, as they are.

    With `updates`, what the likelihood leaves open is estimated anew first.
    """
    if now.likelihood is None:
        return Working(cells, now.tau)
    likelihood, at = now.likelihood, find_moments(cells, own, other, now.mean)
    y, w = cells.values, cells.weights if len(cells.weights) else None
    loss = 0.0
    if updates:
        likelihood = likelihood.update(y, *at, w)
        loss = mean_of(likelihood.expect_loss(y, *at), w)
    return _replace_cells(cells, likelihood.make_squares(y, *at), now.mean, likelihood, loss)


def draw_cells(
    cells: Cells, own: Side, other: Side, now: Posterior, rng: np.random.Generator
) -> Working:
    """The same given a draw of both sides, with the latent variables of the likelihood drawn."""
    if now.likelihood is None:
        return Working(cells, now.tau)
    u, v = (Side(side.factor, side.bias) for side in (own, other))
    z, y = find_moments(cells, u, v, now.mean).mean, cells.values
    w = cells.weights if len(cells.weights) else None
    likelihood = now.likelihood.draw_parameters(y, z, rng, w)
    return _replace_cells(cells, likelihood.draw_squares(y, z, rng, w), now.mean, likelihood)


def see_entries(data: Entries, now: Posterior) -> Entries:
    """The cells in both orders as weighted squares about the posterior."""
    if now.likelihood is None:
        return data
    other = data.with_loss(Squared())
    other.by_row = see_cells(data.by_row, now.rows, now.cols, now).cells
    other.by_col = see_cells(data.by_col, now.cols, now.rows, now).cells
    return other


def move_mean(seen: Working, now: Posterior, rows: Side) -> Posterior:
    """With the mean where squares by column have it, if no offsets of rows or columns see to that.

    A mean of zero is one that is switched off.
    """
    if now.likelihood is None or now.mean == 0 or now.row_prior.offset or now.col_prior.offset:
        return now
    P, Q = append_offsets(now.cols.factor, rows.factor, now.cols.bias, rows.bias)
    left = seen.cells.values - _multiply(seen.cells, P, Q)
    return replace(now, mean=now.mean + mean_of(left, seen.cells.weights))


def place_targets(entries: Entries, now: Posterior) -> Entries:
    """The cells in the units of the posterior; under a likelihood, with their own targets."""
    if now.likelihood is not None:
        return entries.standardize(0.0, 1.0, FLOAT)
    return entries.standardize(now.mean, now.scale, FLOAT)


def _replace_cells(
    cells: Cells,
    found: WorkingSquares,
    mean: float,
    likelihood: Likelihood,
    loss: float = 0.0,
) -> Working:
    """The cells with working targets less the mean, and weights over their mean."""
    w = cells.weights if len(cells.weights) else None
    tau = max(mean_of(found.weights, w), 1e-30)
    own = cells._replace(values=(found.targets - FLOAT(mean)).astype(FLOAT))
    own = multiply_weights(own, (found.weights / FLOAT(tau)).astype(FLOAT))
    return Working(own, tau, likelihood, loss)


def _multiply(cells: Cells, P: Array, Q: Array) -> Array:
    """⟨P_i, Q_j⟩ at the cells: the residuals of zero targets."""
    nothing = (0 * cells.values).astype(FLOAT)
    bare = cells._replace(values=nothing, weights=cells.weights[:0])
    return cells.engine.residuals(bare, P.astype(FLOAT), Q.astype(FLOAT)).data.astype(FLOAT)
