"""Rows without any cell: where their attributes put them, and how far that is from certain.

Rows differ in how many cells they have, and that goes with what they are: films that many have
rated are better liked than the others. A cell of a new row is more likely one of a row with many
cells, so such rows count by their cells here, in the effects of attributes, in the mean and in the
spread about it. What is not known of a new row is its pattern, so attributes speak alone: a group
that says nothing beside the pattern counts here, one that says nothing at all does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host, inner, on, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.effects import (
    Effect,
    center_rows,
    doubt_rows,
    solve_effects,
    start_effects,
    state_doubts,
    sum_pulls,
    weigh_effects,
)
from pygeco.bayes.posterior import Known, Posterior
from pygeco.bayes.priors import FLOAT, Gaussian, stack_side
from pygeco.bayes.ridge import RidgeGroup
from pygeco.bayes.screening import keep_telling
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side
from pygeco.objectives.entries.objective import Entries

ROUNDS = 8  # of coefficients and weights, each from the last
TOLERANCE = 1e-4  # of the coefficients: attributes are few beside cells


def place_cold_lines(data: Entries, now: Posterior, known: Known) -> Posterior:
    """Rows and columns without cells where their attributes put them; a prior for new ones."""
    tables = known.tables
    rows, row_prior = _place(now.rows, now.row_prior, tables.rows, data.by_row.counts())
    cols, col_prior = _place(now.cols, now.col_prior, tables.cols, data.by_col.counts())
    return replace(now, rows=rows, cols=cols, row_prior=row_prior, col_prior=col_prior)


def _place(
    side: Side, prior: Gaussian, tables: Sequence[RidgeGroup], counts: NDArray[np.int64]
) -> tuple[Side, Gaussian]:
    if not tables:
        return side, prior
    weights = counts.astype(FLOAT) / FLOAT(max(float(counts.sum()) / len(counts), 1e-30))
    tables = keep_telling(side, prior, tables)
    cold = fit_cold(side, prior, tables, weights[:, None])
    centers = _move(tables, cold.effects, side) + on(cold.centre.astype(FLOAT), side.factor)
    doubt = doubt_rows(tables, cold.effects) if tables else zeros(len(counts), centers, FLOAT)
    return put_cold(side, cold, counts > 0, centers, doubt), prior._replace(cold=cold)


def _move(tables: Sequence[RidgeGroup], effects: Sequence[Effect], side: Side) -> Array:
    """What attributes add to the centre of each row, (m, d); zeros where there are none."""
    if tables:
        return center_rows(tables, effects)
    return zeros((len(side.bias), side.rank + 1), side.factor, FLOAT)


def fit_cold(side: Side, prior: Gaussian, tables: Sequence[RidgeGroup], weights: Array) -> Gaussian:
    """The Gaussian about attributes alone of rows that count by their weights (m, 1)."""
    X, W = stack_side(side)
    effects = start_effects(tables, X.shape[1])
    total = float(weights.sum())
    moves = _move(tables, effects, side)
    for _ in range(ROUNDS if tables else 1):
        centre = host(np.sum(weights * (X - moves), axis=0, dtype=float)) / total
        T = X - on(centre.astype(FLOAT), X)
        if tables:
            effects = solve_effects(tables, effects, T, weights, TOLERANCE)
            moves = center_rows(tables, effects)
        rest = (T - moves).astype(float)
        covariance = inner(weights * rest, rest) / total
        covariance += sum_pulls(effects) / total
        spread = host(np.sum(weights * W, axis=0, dtype=float)) / total
        covariance[np.diag_indices(len(centre))] += spread + 1e-12
        prior.switch_offset(centre, covariance)
        precision = np.linalg.inv(covariance)
        effects = weigh_effects(tables, effects, precision, prior.unknowns)
    if tables:
        effects = state_doubts(tables, effects, weights)
    return Gaussian(precision, centre, prior.some, prior.offset, effects)


def put_cold(
    side: Side, cold: Gaussian, some: NDArray[np.bool_], centers: Array, doubt: Array
) -> Side:
    """The side with rows that have no cells at these centers."""
    own = np.diag(np.linalg.inv(cold.precision)).astype(FLOAT)
    spread = (1 + doubt)[:, None] * on(own, side.factor)
    there = on(some, side.factor)
    return Side(
        np.where(there[:, None], side.factor, centers[:, :-1]),
        np.where(there, side.bias, centers[:, -1]),
        np.where(there[:, None], side.variance, spread[:, :-1]),
        np.where(there, side.bias_variance, spread[:, -1]),
    )


def splice_cold(A: LowRank, biases: Biases, p: Posterior) -> tuple[LowRank, Biases]:
    """The mean of draws, with lines that have no cells as the posterior p has them.

    Draws know such lines by the prior alone, which does not count them by cells. With D_r and D_c
    the lines with cells, it is D_r A D_c + A_p − D_r A_p D_c, beside offsets of either kind.
    """
    priors = p.row_prior, p.col_prior
    cold = [prior.cold is not None and not host(prior.some).all() for prior in priors]
    if not any(cold):
        return A, biases
    like = A.U
    there = [
        on(host(prior.some) if is_cold else np.ones(len(prior.some), bool), like).astype(float)
        for prior, is_cold in zip(priors, cold, strict=True)
    ]
    own = p.biases()
    row = np.where(there[0] > 0, biases.row, own.row)
    col = np.where(there[1] > 0, biases.col, own.col)
    B = p.factors()
    left = [there[0][:, None] * A.left, B.left, -there[0][:, None] * B.left]
    right = [there[1][:, None] * A.V, B.V, there[1][:, None] * B.V]
    left += [(1 - there[0])[:, None], (own.row - row)[:, None]]
    right += [(own.col - col)[:, None], (1 - there[1])[:, None]]
    U, V = np.column_stack(left), np.column_stack(right)
    return LowRank.product(U, V).svd(), Biases(biases.mean, row, col)
