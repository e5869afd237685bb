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
from pygeco.bayes.column_codes import SHAPES
from pygeco.bayes.column_trials import (
    ColumnTrial,
    mean_loss,
    measure_widths,
    pool_losses,
    trust_code,
)
from pygeco.bayes.masked_trials import (
    MASKED_SHARE,
    Plan,
    Round,
    code_column,
    fit_coordinates,
    hold_out,
    list_owners,
    order_rows,
    try_model,
)
from pygeco.bayes.mixed_table import MixedTable, encode_table
from pygeco.bayes.table_gaussian import TableGaussian, list_forms

MIN_MASKED = 3_000  # masked cells that trials should have, of all their rounds together
MAX_ROUNDS = 5
MAX_TRIAL_ROWS = 4_000  # a shape's gain shows in fewer
MAX_FIT_ROWS = 30_000  # the error of a covariance of 100 columns from these is 0.3 % of a cell's
MIN_SHAPE_CELLS = 200  # masked numbers, for them to say anything of shapes
MIN_SHAPE_GAIN = 0.005  # of the error relative to that of the means, to leave the plain shape
MIN_FORM_GAIN = 0.98  # the error over that of a whole covariance, for low rank to be taken
MAX_LAGS = (0.03, 0.01)  # behind the best, of the error relative to that of the means: a shape that
# is further behind after the first round, or after later ones, is left


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
    rounds = mask_rounds(X[order[:MAX_TRIAL_ROWS]], plans, seed)
    shapes = SHAPES if _can_choose(rounds, plans) else SHAPES[:1]
    trials = {s: [ColumnTrial()] * len(plans) for s in shapes}
    starts: dict[str, TableGaussian] = {}  # where sweeps begin
    for k, one in enumerate(rounds):
        trials = _leave_slow(trials, MAX_LAGS[min(k, 2) - 1]) if k else trials
        for s in trials:
            found, starts[s] = try_model(one, s, seed, starts.get(s))
            trials[s] = add_trials(trials[s], found)
    shape = _choose(trials)
    codes = [code_column(X[order, k], plan, shape) for k, plan in enumerate(plans)]
    Z = encode_table(X[order], codes)
    form, tried = choose_form(~np.isnan(Z), rounds, shape, seed, trials[shape])
    start = starts.get(shape)
    gaussian = fit_coordinates(Z, list_owners(codes), seed, listener, start, form)
    trusted = (trust_code(code, trial) for code, trial in zip(codes, tried, strict=True))
    table = MixedTable(tuple(trusted), gaussian, measure_widths(tried))
    return MixedFit(table, shape, tuple(tried), len(order))


def choose_array_form(Z: Array, seed: int) -> str | None:
    """The form of the covariance of an array of numbers, by masked cells as for a table.

    None where the array's shape leaves no choice. Both forms are fitted up to five times.
    """
    known = ~np.isnan(Z)
    if len(list_forms(known)) < 2:
        return None
    plans = [Plan(k, SHAPES[0]) for k in range(Z.shape[1])]
    rounds = mask_rounds(Z[order_rows(Z, plans, seed)], plans, seed)
    default = [ColumnTrial()] * len(plans)
    for one in rounds:
        default = add_trials(default, try_model(one, SHAPES[0], seed)[0])
    return choose_form(known, rounds, SHAPES[0], seed, default)[0]


def mask_rounds(X: Array, plans: Sequence[Plan], seed: int) -> list[Round]:
    """As often as it takes for enough cells to be masked; none where no cell can be."""
    cells = max(1, int(MASKED_SHARE * np.sum(~np.isnan(X))))
    count = min(MAX_ROUNDS, -(-MIN_MASKED // cells))
    rounds = (hold_out(X, plans, seed, k) for k in range(count))
    return [one for one in rounds if one.held.any()]


def add_trials(trials: list[ColumnTrial], more: list[ColumnTrial]) -> list[ColumnTrial]:
    """Column by column."""
    return [a + b for a, b in zip(trials, more, strict=True)]


def choose_form(
    known: NDArray[np.bool_],
    rounds: Sequence[Round],
    shape: str,
    seed: int,
    default: list[ColumnTrial],
) -> tuple[str | None, list[ColumnTrial]]:
    """The form of the covariance by the masked cells, and their trials.

    None where the table's shape leaves no choice. `default` is the trial of the form for it.
    """
    if len(list_forms(known)) < 2 or not rounds:
        return None, default
    found = [ColumnTrial()] * len(default)
    for one in rounds:
        found = add_trials(found, try_model(one, shape, seed, form="whole")[0])
    tried = {"low rank": default, "whole": found}
    spreads = np.nanvar(rounds[0].X, axis=0)
    losses = {form: pool_losses(trials, spreads) for form, trials in tried.items()}
    best = "low rank" if losses["low rank"] < MIN_FORM_GAIN * losses["whole"] else "whole"
    return best, tried[best]


def _can_choose(rounds: Sequence[Round], plans: Sequence[Plan]) -> bool:
    """Whether a shape is open, and enough numbers are masked to choose it by."""
    numbers = [not len(plan.values) for plan in plans]
    count = sum(int(one.held[:, numbers].sum()) for one in rounds)
    is_open = any(not len(plan.values) and plan.shape is None for plan in plans)
    return is_open and count >= MIN_SHAPE_CELLS


def _leave_slow(trials: dict[str, list[ColumnTrial]], lag: float) -> dict[str, list[ColumnTrial]]:
    """Without shapes that are far behind the best one."""
    losses = {s: mean_loss(found) for s, found in trials.items()}
    best = min(losses.values())
    return {s: found for s, found in trials.items() if losses[s] <= best + lag}


def _choose(trials: dict[str, list[ColumnTrial]]) -> str:
    """The shape with the least loss, each column alike; plain unless another is clearly better."""
    losses = {s: mean_loss(found) for s, found in trials.items()}
    best = min(losses, key=losses.__getitem__)
    plain = losses.get("plain", np.inf)
    return best if losses[best] < plain - MIN_SHAPE_GAIN else "plain"
