"""Passes over tall arrays on the cores of one machine: one for each step, in single precision."""

from __future__ import annotations

import numpy as np

from pygeco.arrays.linalg import mirror_lower
from pygeco.arrays.low_rank import Array
from pygeco.engines.columns import (
    ColumnSteps,
    Moments,
    Rows,
    Squares,
    divide_by_norm,
    split_key,
)
from pygeco.engines.cpu import column_kernels as kernels
from pygeco.engines.cpu import noise_kernels

PART_ROWS = 256  # that a thread takes at once; each part has sums of its own
PART_COLUMNS = 2048  # of vectors of a basis: those of one part stay in the cache
PART_NUMBERS = 1 << 14  # of arrays in which one number is like another
MIN_SPAN = 1 << 16  # numbers from which on sharing them pays, of a basis and of a search
PART_NORMALS = 1 << 12  # an even number
MAX_MOMENT_PARTS = 64  # whose sums, d² numbers each, are added up


class CpuColumnSteps(ColumnSteps):
    """See `ColumnSteps`."""

    def measure(self, R: Array, scale: Array) -> Array:
        R, sums = np.ascontiguousarray(R), make_sums(R)
        kernels.weigh(R, R, scale, PART_ROWS, sums)
        return sums.sum(axis=0)

    def add_rows(self, R: Array, scale: Array) -> Array:
        R, sums = np.ascontiguousarray(R), make_sums(R)
        kernels.weigh(R, R[:0], scale, PART_ROWS, sums)
        return sums.sum(axis=0)

    def reflect(self, draw: Array, mean: Array, old: Array, relax: float) -> Array:
        out = np.empty(mean.shape, np.float32)
        given = (np.ascontiguousarray(x, np.float32).reshape(-1) for x in (draw, mean, old))
        weights = np.float32(relax), np.float32((1 - relax**2) ** 0.5)
        parts = -(-out.size // PART_NUMBERS)
        kernels.reflect(*given, *weights, PART_NUMBERS, parts, out.reshape(-1))
        return out

    def leave_span(self, Q: Array, x: Array) -> tuple[Array, Squares]:
        if Q.size < MIN_SPAN or not (Q.dtype == x.dtype == np.float64 and Q.flags.c_contiguous):
            return super().leave_span(Q, x)
        x, y, count = np.ascontiguousarray(x), np.empty(len(x)), len(Q)
        sums = np.empty((-(-len(x) // PART_COLUMNS), count + 1))
        kernels.subtract_span(Q, np.zeros(0), x, PART_COLUMNS, y, sums)
        first = sums.sum(axis=0)
        kernels.subtract_span(Q, first[:count], x, PART_COLUMNS, y, sums)
        second = sums.sum(axis=0)
        kernels.subtract_span(Q, second[:count], y, PART_COLUMNS, y, np.empty((len(sums), 0)))
        again = float(second[:count] @ second[:count])
        squares = Squares(float(first[count]), float(second[count]), again)
        return divide_by_norm(y, squares), squares

    def draw_normals(self, key: int, shape: tuple[int, int], like: Array) -> Array:
        out = np.empty(shape, np.float32)
        parts = -(-out.size // PART_NORMALS)
        noise_kernels.fill(out.reshape(-1), *split_key(key), PART_NORMALS, parts)
        return out

    def measure_rows(self, rows: Rows, guess: Array) -> Moments:
        m, d = len(rows.bias), rows.factor.shape[1] + 1
        guess = guess.astype(float) if len(guess) == d else np.zeros(d)
        size = max(PART_ROWS, -(-m // MAX_MOMENT_PARTS))
        none = np.zeros((0, d), rows.factor.dtype)
        sums = np.empty((max(1, -(-m // size)), 1 + 2 * d + d * d))
        spread = rows[2:4] if len(rows.bias_variance) else (none, none[:, 0])
        less = none if rows.less is None else np.ascontiguousarray(rows.less, none.dtype)
        some = np.ascontiguousarray(rows.some)
        kernels.moments(*rows[:2], *spread, some, less, guess, size, sums)
        total = sums.sum(axis=0)
        count = max(total[0], 1.0)
        shares = total[1:] / count
        variances, mean, squares = shares[:d], shares[d : 2 * d], shares[2 * d :]
        whole = mirror_lower(squares.reshape(d, d))
        moved = mean + guess if total[0] else np.zeros(d)
        return Moments(int(total[0]), moved, whole - np.outer(mean, mean), variances)


STEPS = CpuColumnSteps()


def make_sums(P: Array) -> Array:
    return np.empty((-(-len(P) // PART_ROWS), P.shape[1]))
