"""Passes over every cell of a dense matrix on the GPU, a run of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pygeco.arrays.kinds import contiguous, empty, on, zeros
from pygeco.arrays.low_rank import Array
from pygeco.engines.cuda.launch import Launcher, number, threads
from pygeco.engines.values import Deviations, Formulas, Lines, Table

RUN_CELLS = 1 << 26  # of a run of rows: three arrays of so many numbers are in memory at once
MAX_GRID_BLOCKS = 1 << 14  # each goes on with what is left


def lines(
    launch: Launcher, table: Table, loss: Formulas, P: Array, Q: Array, X: Array, *,
    by_row: bool, curved: bool,
) -> Lines:  # fmt: skip
    """See `TableEngine.lines`. Three arrays of a run's size, and products by cuBLAS."""
    P, Q, X = (contiguous(F, table.dtype) for F in (P, Q, X))
    count, k = len(P) if by_row else len(Q), X.shape[1]
    low = np.tril_indices(k)
    sides, packed = zeros((count, k), P), zeros((count, len(low[0]) if curved else 0), P)
    values, bends = zeros(count, P), zeros(count, P)
    for i in _rows(table):
        slope, value, bend = _evaluate(launch, table, loss, P[i] @ Q.T, i)
        line, x = (i, X) if by_row else (slice(None), X[i])
        if not by_row:
            slope, value, bend = slope.T, value.T, bend.T
        if k:
            sides[line] += slope @ x
        values[line] += value.sum(axis=1, dtype=float)
        bends[line] += bend.sum(axis=1, dtype=float)
        if curved and k:
            packed[line] += bend @ (x[:, low[0]] * x[:, low[1]])
    grams = zeros((count, k, k) if curved else (count, 0, 0), P)
    if curved:
        grams[:, low[0], low[1]] = packed
        grams[:, low[1], low[0]] = packed
    return Lines(sides, values, bends, grams)


def _rows(table: Table) -> Iterator[slice]:
    m, n = table.values.shape
    step = max(1, RUN_CELLS // n)
    for first in range(0, m, step):
        yield slice(first, min(first + step, m))


def _evaluate(
    launch: Launcher, table: Table, loss: Formulas, z: Array, i: slice
) -> tuple[Array, Array, Array]:
    """Slope, value and stiffness of the cells of some rows, weighted."""
    y = contiguous(table.values[i])
    if loss.clipped is not None:
        value, bend = np.empty_like(z), np.empty_like(z)
        delta, scale = (z.dtype.type(x) for x in loss.clipped)
        grid, block = threads(z.size)
        launch(
            f"huber<{number(z)}, {number(y)}>", ((min(grid[0], MAX_GRID_BLOCKS),), block),
            np.int64(len(z)), np.int64(z.shape[1]), np.int64(z.shape[1]), delta, scale, y, z,
            value, bend,
        )  # fmt: skip
        found: tuple[Array, ...] = (z, value, bend)
    else:
        y = y.astype(z.dtype)
        missing = ~np.isfinite(y)
        y = np.where(missing, z.dtype.type(1), y)  # a target that every loss accepts
        formulas = (loss.slope(z, y), loss.value(z, y), loss.stiffness(z, y))
        found = tuple(np.where(missing, z.dtype.type(0), x) for x in formulas)
    w = table.weight(i, slice(None))
    if w is not None:
        found = tuple(np.where(w > 0, w * x, z.dtype.type(0)) for x in found)
    slope, value, bend = found
    return slope, value, bend


def residuals_beyond(
    table: Table, P: Array, Q: Array, threshold: float | Array
) -> tuple[Array, ...]:
    """See `TableEngine.residuals_beyond`."""
    P, Q = (contiguous(F, table.dtype) for F in (P, Q))
    threshold = on(threshold, P, table.dtype)
    found: list[tuple[Any, ...]] = []
    for i in _rows(table):
        r = table.values[i] - P[i] @ Q.T
        flagged = np.abs(r) > threshold
        w = table.weight(i, slice(None))
        if w is not None:
            flagged &= w > 0
        at, to = np.nonzero(flagged)
        found.append((at + i.start, to, r[at, to]))
    rows, cols, residuals = (np.concatenate(part) for part in zip(*found, strict=True))
    return rows, cols, residuals


def deviations(launch: Launcher, table: Table, P: Array, Q: Array) -> Deviations:
    """See `TableEngine.deviations`. Two arrays of a run's size, columns this time."""
    P, Q = (contiguous(F, table.dtype) for F in (P, Q))
    m, n = table.values.shape
    found = Deviations(zeros(n, P), zeros(n, P), zeros(n, P, np.int64))
    step = max(1, RUN_CELLS // m)
    for first in range(0, n, step):
        j = slice(first, min(first + step, n))
        rest, w = np.abs(table.values[:, j] - P @ Q[j].T), table.weight(slice(None), j)
        if w is not None:
            rest = np.where(w > 0, rest, rest.dtype.type(np.nan))
        found.counts[j] = np.count_nonzero(~np.isnan(rest), axis=0)
        middle = medians(launch, table._replace(values=rest, weights=()))
        rest = np.where(rest <= middle, rest, rest.dtype.type(np.nan))
        found.medians[j] = middle
        found.quartiles[j] = medians(launch, table._replace(values=rest, weights=()))
    return found


def medians(launch: Launcher, table: Table) -> Array:
    """See `TableEngine.medians`."""
    y, w = contiguous(table.values), table.weight(slice(None), slice(None))
    m, n = y.shape
    out = empty(n, y)
    real = "float" if table.dtype.itemsize == 4 else "double"
    launch(
        f"medians<{real}, {number(y)}>", threads(n),
        np.int64(m), np.int64(n), y, None if w is None else contiguous(w), out,
    )  # fmt: skip
    return out


def census(table: Table) -> tuple[float, float, int]:
    """See `TableEngine.census`."""
    total, heaviest, infinite = 0.0, 0.0, 0
    for i in _rows(table):
        y, w = table.values[i], table.weight(i, slice(None))
        known = ~np.isnan(y) if y.dtype.kind == "f" else y == y
        wild = np.isinf(y) if y.dtype.kind == "f" else y != y
        w = known.astype(np.float64) if w is None else np.where(known, w, 0)
        if table.weights:
            wild &= w > 0
        else:
            w = np.where(wild, 0, w)
        total += float(w.sum(dtype=float))
        heaviest = max(heaviest, float(w.max()))
        infinite += int(np.count_nonzero(wild))
    return total, heaviest, infinite
