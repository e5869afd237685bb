"""The model of a table with columns of different kinds, with nothing to tune.

A tenth of the known cells is masked, and the rest fitted in each shape that numbers may have. The
masked cells say which shape is best, how much the discriminants of values are to be trusted, and
how wide intervals must be; then all cells are fitted. Which cells are masked depends on the cells
alone: the order of rows and columns, units and the names of categories change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.events import Listener
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes.column_codes import SHAPES, Code, code_numbers, code_values
from pygeco.bayes.column_trials import (
    ColumnTrial,
    compare_column,
    mean_loss,
    measure_widths,
    pool_losses,
    trust_code,
)
from pygeco.bayes.mixed_table import COVERAGES, MixedTable, encode_table
from pygeco.bayes.table_gaussian import TableGaussian, fit_table, list_forms

MASKED_SHARE = 0.1  # of the known cells
MIN_MASKED = 3_000  # masked cells that trials should have, of all their rounds together
MAX_ROUNDS = 5
MAX_TRIAL_ROWS = 4_000  # a shape's gain shows in fewer
MAX_FIT_ROWS = 30_000  # the error of a covariance of 100 columns from these is 0.3 % of a cell's
MIN_SHAPE_CELLS = 200  # masked numbers, for them to say anything of shapes
MIN_SHAPE_GAIN = 0.005  # of the error relative to that of the means, to leave the plain shape
MIN_RACE_ROUNDS = 2  # in which every shape is tried; then those that are far behind are left
MIN_FORM_GAIN = 0.98  # the error over that of a whole covariance, for low rank to be taken
MAX_LAG = 0.01  # of the error relative to that of the means, behind the best so far


class Plan(NamedTuple):
    """A column's kind: numbers in a shape (None is to be chosen), or one of `values`, which rise.

    `key` tells columns apart whatever their order.
    """

    key: int
    shape: str | None = None
    values: Array = np.zeros(0)
    is_ordered: bool = False


class MixedFit(NamedTuple):
    """The model, the shape of its numbers, and the trials of its columns."""

    table: MixedTable
    shape: str
    trials: tuple[ColumnTrial, ...]
    rows: int


def fit_mixed(
    X: Array, plans: Sequence[Plan], seed: int, listener: Listener | None = None
) -> MixedFit:
    """Fit a table (NaN for missing cells; values as numbers), whose columns are as planned."""
    order = order_rows(X, plans, seed)[:MAX_FIT_ROWS]
    part = X[order[:MAX_TRIAL_ROWS]]
    rounds = min(MAX_ROUNDS, -(-MIN_MASKED // max(1, int(MASKED_SHARE * np.sum(~np.isnan(part))))))
    masks = [mask_cells(part, plans, seed, k) for k in range(rounds)]
    shapes = SHAPES if _can_choose(masks, plans) else SHAPES[:1]
    trials = {s: [ColumnTrial()] * len(plans) for s in shapes}
    starts: dict[str, TableGaussian | None] = dict.fromkeys(shapes)  # where sweeps begin
    for k, held in enumerate(masks):
        if not held.any():
            break
        trials = trials if k < MIN_RACE_ROUNDS else _leave_slow(trials)
        for s in trials:
            found, starts[s] = _try(part, held, plans, s, seed, starts[s])
            trials[s] = [a + b for a, b in zip(trials[s], found, strict=True)]
    shape = _choose(trials)
    form, tried = _choose_form(part, masks, plans, shape, seed, trials[shape])
    codes = [
        trust_code(code, t) for code, t in zip(_code(X[order], plans, shape), tried, strict=True)
    ]
    gaussian = fit_coordinates(encode_table(X[order], codes), seed, listener, starts[shape], form)
    table = MixedTable(tuple(codes), gaussian, measure_widths(tried))
    return MixedFit(table, shape, tuple(tried), len(order))


def _choose_form(
    X: Array,
    masks: Sequence[NDArray[np.bool_]],
    plans: Sequence[Plan],
    shape: str,
    seed: int,
    default: list[ColumnTrial],
) -> tuple[str | None, list[ColumnTrial]]:
    """The form of the covariance by the masked cells, and their trials.

    None where the table's shape leaves no choice. `default` is the trial of the form for it.
    """
    Z = encode_table(X, _code(X, plans, shape))
    forms = list_forms(~np.isnan(Z))
    if len(forms) < 2 or not any(held.any() for held in masks):
        return None, default
    found = [ColumnTrial()] * len(plans)
    for held in masks:
        more = _try(X, held, plans, shape, seed, None, "whole")[0]
        found = [a + b for a, b in zip(found, more, strict=True)]
    tried = {"low rank": default, "whole": found}
    spreads = np.nanvar(X, axis=0)
    losses = {form: pool_losses(trials, spreads) for form, trials in tried.items()}
    best = "low rank" if losses["low rank"] < MIN_FORM_GAIN * losses["whole"] else "whole"
    return best, tried[best]


def fit_coordinates(
    Z: Array,
    seed: int,
    listener: Listener | None = None,
    start: TableGaussian | None = None,
    form: str | None = None,
) -> TableGaussian:
    """The Gaussian of coordinates; those that do not vary keep to their mean."""
    with np.errstate(invalid="ignore"):
        known = ~np.isnan(Z)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, Z, 0).sum(axis=0) / count
        varies = np.where(known, (Z - mean) ** 2, 0).sum(axis=0) > 1e-12 * count
    near = None
    if start is not None and len(start.mean) == Z.shape[1]:
        near = TableGaussian.of_covariance(
            start.mean[varies], start.covariance()[np.ix_(varies, varies)]
        )
    found = fit_table(Z[:, varies], seed, listener, near, form)
    components = np.zeros((len(found.components), Z.shape[1]))
    components[:, varies] = found.components
    mean[varies] = found.mean
    return TableGaussian(mean, components, found.deviations, found.noise)


def _can_choose(masks: Sequence[NDArray[np.bool_]], plans: Sequence[Plan]) -> bool:
    """Whether a shape is open, and enough numbers are masked to choose it by."""
    numbers = [not len(plan.values) for plan in plans]
    count = sum(int(held[:, numbers].sum()) for held in masks)
    is_open = any(not len(plan.values) and plan.shape is None for plan in plans)
    return is_open and count >= MIN_SHAPE_CELLS


def _code(X: Array, plans: Sequence[Plan], shape: str) -> list[Code]:
    return [
        code_values(X[:, k], plan.values, is_ordered=plan.is_ordered)
        if len(plan.values)
        else code_numbers(X[:, k], plan.shape or shape)
        for k, plan in enumerate(plans)
    ]


def order_rows(X: Array, plans: Sequence[Plan], seed: int) -> NDArray[np.intp]:
    """An order that depends on the rows' cells and not on their places: that of their hashes."""
    total = np.zeros(len(X), np.uint64)
    for k, plan in enumerate(plans):
        known = ~np.isnan(X[:, k])
        rank = known.astype(np.uint64)
        if not len(plan.values) or plan.is_ordered:
            rank[known] += np.unique(X[known, k], return_inverse=True)[1].astype(np.uint64)
        odd = np.uint64(2 * plan.key + 1)
        total += _stir(rank * odd + np.uint64(seed % 2**63))
    return np.argsort(_stir(total), kind="stable")


def _stir(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A finalizer of 64-bit hashes (Steele et al. 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def mask_cells(X: Array, plans: Sequence[Plan], seed: int, k: int) -> NDArray[np.bool_]:
    """Cells to hold out, of rows in the order of `order_rows`; columns keep most of their own."""
    held = ~np.isnan(X)
    for j, plan in enumerate(plans):
        held[:, j] &= (
            stream(Purpose.IMPUTER_CHOICE, seed, plan.key, k).random(len(X)) < MASKED_SHARE
        )
        kept = X[~np.isnan(X[:, j]) & ~held[:, j], j]
        if len(kept) < 3 or kept.min() == kept.max():
            held[:, j] = False
    return held


def _try(
    X: Array,
    held: NDArray[np.bool_],
    plans: Sequence[Plan],
    shape: str,
    seed: int,
    start: TableGaussian | None,
    form: str | None = None,
) -> tuple[list[ColumnTrial], TableGaussian]:
    """Fit without the held cells, and compare."""
    seen = np.where(held, np.nan, X)
    codes = _code(seen, plans, shape)
    gaussian = fit_coordinates(encode_table(seen, codes), seed, None, start, form)
    table = MixedTable(tuple(codes), gaussian, np.ones((len(plans), len(COVERAGES))))
    rows = np.flatnonzero(held.any(axis=1))
    found = []
    for k, belief in enumerate(table.believe(seen[rows])):
        asked = held[rows[belief.rows], k]
        own = belief.take(asked)
        truth = X[rows[own.rows], k]
        found.append(
            compare_column(table, k, own, truth, seen[:, k]) if len(truth) else ColumnTrial()
        )
    return found, gaussian


def _leave_slow(trials: dict[str, list[ColumnTrial]]) -> dict[str, list[ColumnTrial]]:
    """Without shapes that are far behind the best one."""
    losses = {s: mean_loss(found) for s, found in trials.items()}
    best = min(losses.values())
    return {s: found for s, found in trials.items() if losses[s] <= best + MAX_LAG}


def _choose(trials: dict[str, list[ColumnTrial]]) -> str:
    """The shape with the least loss, each column alike; plain unless another is clearly better."""
    losses = {s: mean_loss(found) for s, found in trials.items()}
    best = min(losses, key=losses.__getitem__)
    plain = losses.get("plain", np.inf)
    return best if losses[best] < plain - MIN_SHAPE_GAIN else "plain"
