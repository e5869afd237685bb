"""Single passes over the cells, beside sgemm and a plain read of the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, prange

from pygeco import Entries
from pygeco.data import make_low_rank
from pygeco.losses import Huber, Logistic
from pygeco.objectives.entries.half_sweep import Side, half_sweep
from sections.made import rated
from sections.measuring import Line, Plan, Took, best, show

Works = dict[str, Callable[[], Any]]
COLUMNS = 16
READ, SGEMM = "read of 8 bytes a cell", "sgemm"
PRODUCTS = ("gradient matvec", "gradient rmatvec")


def kernels(plan: Plan) -> list[Line]:
    """Half-sweeps as shares of sgemm's rate, products as shares of the rate of reading."""
    entries = Entries(*rated(plan, plan.cells, plan.shape).train)
    m, n = entries.shape
    lines = _passes(entries, plan) + _sweeps(entries, plan)
    return show(f"kernels: {entries.size:,} cells, {m:,} × {n:,}, the best of some turns", lines)


def _sweeps(entries: Entries, plan: Plan) -> list[Line]:
    """Half-sweeps, plain and with variances in and out; arithmetic counted as |E| s²."""
    rng = np.random.default_rng(0)
    square = rng.standard_normal((plan.block, plan.block)).astype(np.float32)
    lines: list[Line] = []
    for s in plan.ranks:
        works: Works = {SGEMM: lambda: square @ square}
        rows, cols = (_side(rng, size, s) for size in entries.shape)
        for name, cells, own, other in (
            ("rows", entries.by_row, rows, cols),
            ("columns", entries.by_col, cols, rows),
        ):
            works[f"half-sweep of {name}, s = {s}"] = _plain(cells, own, other)
            works[f"… with variances, {name}, s = {s}"] = _evidence(cells, own, other)
        took = best(works, plan, plan.rounds)
        rate = 2 * plan.block**3 / took.pop(SGEMM).by(plan)
        lines += [_sweep_line(what, t, entries.size * s**2, rate, plan) for what, t in took.items()]
    return lines


def _side(rng: np.random.Generator, size: int, s: int) -> Side:
    factor, bias = rng.standard_normal((size, s)), rng.standard_normal(size)
    parts = (factor, bias, 0.1 * np.abs(factor), 0.1 * np.abs(bias))
    return Side(*(part.astype(np.float32) for part in parts))


def _plain(cells: Any, own: Side, other: Side) -> Callable[[], Any]:
    """As a path sweeps."""
    own, other = Side(*own[:2]), Side(*other[:2])
    return lambda: half_sweep(cells, own, other, prior=np.ones(own.rank), offsets=False)


def _evidence(cells: Any, own: Side, other: Side) -> Callable[[], Any]:
    """As the evidence sweeps: offsets, and variances in and out."""
    return lambda: half_sweep(cells, own, other, prior=np.ones(own.rank + 1), variances=True)


def _sweep_line(what: str, took: Took, flops: float, sgemm: float, plan: Plan) -> Line:
    rate = flops / took.by(plan)
    note = f"{rate / 1e9:.0f} of {sgemm / 1e9:.0f} GFLOP/s"
    share = 100 * rate / sgemm
    return Line(what, took, share, "% of sgemm", 40.0, more=True, tracked=True, note=note)


def _passes(entries: Entries, plan: Plan) -> list[Line]:
    """Products with the gradient, residuals and losses."""
    took = best(_pass_works(entries), plan, 5 * plan.rounds)  # they are short
    read, size = took[READ], 8e-9 * entries.size
    plain = size / read.by(plan)
    lines = [Line(READ, took.pop(READ), plain, "GB/s", more=True)]
    for what, t in took.items():
        rate = size / t.by(plan)
        if what in PRODUCTS:
            note = f"{rate:.1f} of {plain:.1f} GB/s"
            share = 100 * rate / plain
            line = Line(what, t, share, "% of a read", 60.0, more=True, tracked=True, note=note)
        else:
            note = f"{1e9 * t.by(plan) / entries.size:.2f} ns a cell"
            line = Line(what, t, plain / rate, "times a read", tracked=True, note=note)
        lines.append(line)
    return lines


def _pass_works(entries: Entries) -> Works:
    rng = np.random.default_rng(1)
    m, n = entries.shape
    A = make_low_rank(entries.shape, COLUMNS)
    G = entries.gradient(A)
    x, y, X = rng.standard_normal(n), rng.standard_normal(m), rng.standard_normal((n, COLUMNS))
    sums = np.empty(256)
    huber, logistic = entries.with_loss(Huber(1.0)), entries.with_loss(Logistic())
    indices, numbers = entries.by_row.indices, np.asarray(entries.by_row.values)
    return {
        READ: lambda: _read(indices, numbers, sums),
        PRODUCTS[0]: lambda: G.matvec(x),
        PRODUCTS[1]: lambda: G.rmatvec(y),
        f"gradient matmat, {COLUMNS} columns": lambda: G.matmat(X),
        f"residuals, s = {COLUMNS}": lambda: entries.value(A),
        f"Huber's loss, s = {COLUMNS}": lambda: huber.value(A),
        f"logistic loss, s = {COLUMNS}": lambda: logistic.value(A),
    }


@njit(cache=True, parallel=True, fastmath=True)
def _read(indices, values, sums):
    """A sum over both arrays. An unsigned index lets LLVM vectorize it."""
    parts = len(sums)
    for b in prange(parts):
        first, last = len(values) * b // parts, len(values) * (b + 1) // parts
        total, count = 0.0, 0
        for e in range(np.uint64(first), np.uint64(last)):
            total += values[e]
            count += indices[e]
        sums[b] = total + count
