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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import contiguous, host, inner, on, ones, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.effects import (
    MIN_DEGREES,
    MIN_STAYING_SHARE,
    Effect,
    center_rows,
    doubt_rows,
    solve_effects,
    square_effects,
    start_effects,
    state_doubts,
    sum_pulls,
    weigh_effects,
)
from pygeco.bayes.posterior import Known, Posterior
from pygeco.bayes.priors import FLOAT, Gaussian, stack_side, stack_vectors
from pygeco.bayes.ridge import RidgeGroup
from pygeco.bayes.screening import keep_telling
from pygeco.engines import Cells
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side
from pygeco.objectives.entries.objective import Entries

ROUNDS = 8  # of coefficients and weights, each from the last
TOLERANCE = 1e-4  # of the coefficients: attributes are few beside cells


def place_cold_lines(data: Entries, now: Posterior, known: Known) -> Posterior:
    """Rows and columns without cells where their attributes put them; a prior for new ones."""
    tables = known.tables
    rows, row_prior = _place(data.by_row, data.by_col, now, tables.rows)
    cols, col_prior = _place(data.by_col, data.by_row, now.T, tables.cols)
    return replace(now, rows=rows, cols=cols, row_prior=row_prior, col_prior=col_prior)


def _place(
    own: Cells, other: Cells, now: Posterior, tables: Sequence[RidgeGroup]
) -> tuple[Side, Gaussian]:
    side, prior, counts = now.rows, now.row_prior, own.counts()
    if not tables:
        return side, prior
    cold = fit_cold(side, prior, keep_telling(side, prior, tables), weigh_rows(counts))
    names = {effect.name for effect in cold.effects}
    tables = [group for group in tables if group.name in names]
    centers = _move(tables, cold.effects, side) + on(cold.center.astype(FLOAT), side.factor)
    shift = shift_center(other, now, cold, centers)
    cold = cold._replace(center=cold.center + shift)
    centers = centers + on(shift.astype(FLOAT), centers)
    doubt = doubt_rows(tables, cold.effects) if tables else zeros(len(counts), centers, FLOAT)
    return put_cold(side, cold, counts > 0, centers, doubt), prior._replace(cold=cold)


def weigh_rows(counts: NDArray[np.int64]) -> Array:
    """Weights (m, 1) that go with the cells of rows, and sum to as many as are worth as much.

    That is (Σ c)² / Σ c² (Kish 1965): a row with many cells is not many rows.
    """
    total, squares = (float(np.sum(counts.astype(float) ** power)) for power in (1, 2))
    return (counts * (total / max(squares, 1e-30))).astype(FLOAT)[:, None]


def shift_center(other: Cells, now: Posterior, cold: Gaussian, centers: Array) -> Array:
    """What to add to the centers for the least squared error at the known cells.

    Who knows a column is not anyone: those who rate a film are mostly those who like it. A cell of
    a new row is one of such a row, so that its column and what the row is go together. With
    z_j = (v_j, 1), Σ z_j z_jᵀ a = Σ z_j z_jᵀ (x_i − center_i) over the cells, under the prior of a
    row. `other` has the cells by column. O(|E| d).
    """
    X = stack_vectors(now.rows)
    every = ones(other.size, other.values, FLOAT)
    sums = other.engine.products(other, every, 1.0, contiguous(X - centers, FLOAT))
    cols = now.cols
    Z = np.column_stack([cols.factor, ones(len(cols.bias), cols.bias, FLOAT)]).astype(float)
    shares = np.sum(Z * sums, axis=1)[:, None]
    weights = other.counts().astype(float)[:, None]
    system = cold.precision + now.tau * inner(Z, weights * Z)
    shift: Array = np.linalg.solve(system, now.tau * inner(Z, shares))[:, 0]
    return shift


def _move(tables: Sequence[RidgeGroup], effects: Sequence[Effect], side: Side) -> Array:
    """What attributes add to the center of each row, (m, d); zeros where there are none."""
    if tables:
        return center_rows(tables, effects)
    return zeros((len(side.bias), side.rank + 1), side.factor, FLOAT)


def fit_cold(side: Side, prior: Gaussian, tables: Sequence[RidgeGroup], weights: Array) -> Gaussian:
    """The Gaussian about attributes alone of rows that count by their weights (m, 1).

    Without the groups that fade.
    """
    while True:
        cold, before = _fit_rounds(side, prior, tables, weights)
        kept = [
            group
            for group, effect, old in zip(tables, cold.effects, before, strict=True)
            if effect.degrees >= max(MIN_DEGREES, MIN_STAYING_SHARE * old.degrees)
        ]
        if len(kept) == len(tables):
            break
        tables = kept
    return cold._replace(effects=state_doubts(tables, cold.effects, weights)) if tables else cold


def _fit_rounds(
    side: Side, prior: Gaussian, tables: Sequence[RidgeGroup], weights: Array
) -> tuple[Gaussian, tuple[Effect, ...]]:
    """The Gaussian with all of these groups, and their effects a round before."""
    X, W = stack_side(side)
    effects = before = start_effects(tables, X.shape[1])
    total = float(weights.sum())
    moves = _move(tables, effects, side)
    for _ in range(ROUNDS if tables else 1):
        center = host(np.sum(weights * (X - moves), axis=0, dtype=float)) / total
        T = X - on(center.astype(FLOAT), X)
        before = effects
        if tables:
            effects = solve_effects(tables, effects, T, weights, TOLERANCE)
            moves = center_rows(tables, effects)
        rest = (T - moves).astype(float)
        covariance = inner(weights * rest, rest) / total
        squares = square_effects(effects)
        covariance += sum_pulls(effects, squares) / total
        spread = host(np.sum(weights * W, axis=0, dtype=float)) / total
        covariance[np.diag_indices(len(center))] += spread + 1e-12
        prior.switch_offset(center, covariance)
        precision = np.linalg.inv(covariance)
        effects = weigh_effects(tables, effects, squares, precision, prior.unknowns)
    return Gaussian(precision, center, prior.some, prior.offset, effects), before


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
    own = replace(own, row=own.row + (own.mean - biases.mean))
    row = np.where(there[0] > 0, biases.row, own.row)
    col = np.where(there[1] > 0, biases.col, own.col)
    B = p.factors()
    left = [there[0][:, None] * A.left, B.left, -there[0][:, None] * B.left]
    right = [there[1][:, None] * A.V, B.V, there[1][:, None] * B.V]
    left += [(1 - there[0])[:, None], (own.row - row)[:, None]]
    right += [(own.col - col)[:, None], (1 - there[1])[:, None]]
    U, V = np.column_stack(left), np.column_stack(right)
    return LowRank.product(U, V).svd(), Biases(biases.mean, row, col)


def find_cold(p: Posterior, rows: NDArray[np.integer], cols: NDArray[np.integer]) -> NDArray[Any]:
    """Which cells are in a line that has none of its own, and that `splice_cold` took from p."""
    found = rows < -1  # none
    for prior, at in ((p.row_prior, rows), (p.col_prior, cols)):
        if prior.cold is not None:
            found = found | ~on(prior.some, at)[at]
    return found
