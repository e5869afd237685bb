"""Cells of a table that are masked for models to be tried at: which, and what they say of a model.

Which cells are masked depends on the cells alone: the order of rows and columns, units and the
names of categories change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.events import Listener
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.bayes.column_codes import Code, code_numbers, code_values
from pygeco.bayes.column_trials import ColumnTrial, compare_column
from pygeco.bayes.mixed_table import COVERAGES, MixedTable, condition_rows, encode_table
from pygeco.bayes.row_gaps import GapMemo
from pygeco.bayes.table_gaussian import TableGaussian, fit_table

MASKED_SHARE = 0.1  # of the known cells


class Plan(NamedTuple):
    """A column's kind: numbers in a shape (None is to be chosen), or one of `values`, which rise.

    `key` tells columns apart whatever their order.
    """

    key: int
    shape: str | None = None
    values: Array = np.zeros(0)
    is_ordered: bool = False


class Round(NamedTuple):
    """A table with some cells held out (n, d), and what every model of the others asks for.

    `middles` (d, 2) are means and medians of the columns, `codes` those of columns of values.
    """

    X: Array
    plans: Sequence[Plan]
    held: NDArray[np.bool_]
    seen: Array
    rows: NDArray[np.intp]
    middles: Array
    codes: dict[int, Code]
    memo: GapMemo


def hold_out(X: Array, plans: Sequence[Plan], seed: int, k: int) -> Round:
    """Cells held out for the k-th time."""
    held = mask_cells(X, plans, seed, k)
    seen = np.where(held, np.nan, X)
    codes = {j: code_column(seen[:, j], p, "") for j, p in enumerate(plans) if len(p.values)}
    rows = np.flatnonzero(held.any(axis=1))
    return Round(X, plans, held, seen, rows, find_middles(seen), codes, GapMemo())


def find_middles(X: Array) -> Array:
    """Mean and median of each column's known cells (d, 2)."""
    known, own = ~np.isnan(X), np.arange(X.shape[1])
    count = np.maximum(known.sum(axis=0), 1)
    ordered = np.sort(X, axis=0)  # NaN come last
    median = ordered[(count - 1) // 2, own] / 2 + ordered[count // 2, own] / 2
    return np.column_stack([np.where(known, X / count, 0).sum(axis=0), median])


def code_column(x: Array, plan: Plan, shape: str) -> Code:
    """The code of a column; of numbers in the shape that is planned, or else in this one."""
    if len(plan.values):
        return code_values(x, plan.values, is_ordered=plan.is_ordered)
    return code_numbers(x, plan.shape or shape)


def try_model(
    one: Round,
    shape: str,
    seed: int,
    start: TableGaussian | None = None,
    form: str | None = None,
) -> tuple[list[ColumnTrial], TableGaussian]:
    """Fit without the held cells, and compare."""
    codes = [
        one.codes.get(k) or code_column(one.seen[:, k], plan, shape)
        for k, plan in enumerate(one.plans)
    ]
    Z = encode_table(one.seen, codes)
    gaussian = fit_coordinates(Z, list_owners(codes), seed, None, start, form, one.memo)
    table = MixedTable(tuple(codes), gaussian, np.ones((len(codes), len(COVERAGES))))
    held, starts = one.held[one.rows], table.starts
    found = []
    for k, belief in enumerate(condition_rows(Z[one.rows], gaussian, starts, held, one.memo)):
        truth = one.X[one.rows[belief.rows], k]
        found.append(
            compare_column(table, k, belief, truth, one.middles[k]) if len(truth) else ColumnTrial()
        )
    return found, gaussian


def list_owners(codes: Sequence[Code]) -> NDArray[np.intp]:
    """The column that each coordinate stands for."""
    return np.repeat(np.arange(len(codes)), [code.width for code in codes])


def fit_coordinates(
    Z: Array,
    owners: NDArray[np.intp],
    seed: int,
    listener: Listener | None = None,
    start: TableGaussian | None = None,
    form: str | None = None,
    memo: GapMemo | None = None,
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
    found = fit_table(Z[:, varies], seed, listener, near, form, memo, owners[varies])
    components = np.zeros((len(found.components), Z.shape[1]))
    components[:, varies] = found.components
    mean[varies] = found.mean
    return TableGaussian(mean, components, found.deviations, found.noise)


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
