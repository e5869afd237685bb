"""Passes over tall arrays (F, k): sums of columns, moments of rows, parts in spans."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import distant, foreign, host, inner, on, ones, stack, zeros
from pygeco.arrays.low_rank import Array

MIN_SQUARABLE_NORM = 1e-140  # norms between this and its inverse have squares in range


def is_squarable(size: float) -> bool:
    """Whether a vector of this norm can be squared."""
    return MIN_SQUARABLE_NORM < size < 1 / MIN_SQUARABLE_NORM


class Rows(NamedTuple):
    """Rows (x_i, b_i) of d numbers, and their variances, which may be unknown: no numbers.

    `some` says which of them count. They are measured less `less`, (m, d), if that is given.
    """

    factor: Array
    bias: Array
    variance: Array
    bias_variance: Array
    some: NDArray[np.bool_]
    less: Array | None = None


class Moments(NamedTuple):
    """How many rows there are, their mean and covariance, and the mean of their variances."""

    number: int
    mean: Array
    covariance: Array
    spread: Array


class Squares(NamedTuple):
    """‖x‖², ‖y‖² of x less its part in a span, and ‖Q y‖² of what of y is in the span again."""

    before: float
    after: float
    again: float

    @property
    def left(self) -> float:
        """‖y − Qᵀ Q y‖²."""
        return max(0.0, self.after - self.again) if self.after < math.inf else math.inf


def divide_by_norm(y: Array, squares: Squares) -> Array:
    """What is left outside of a span, by its norm; as it is where that is not squarable."""
    size = math.sqrt(squares.left)
    return y / size if is_squarable(size) else y


class ColumnSteps:
    """On arrays of any kind. Sums of columns are on the host, or on a device with its own steps."""

    def measure(self, R: Array, scale: Array) -> Array:
        """diag(Rᵀ diag(scale) R)."""
        return sum_columns(R * (scale[:, None] * R))

    def add_rows(self, R: Array, scale: Array) -> Array:
        """Rᵀ scale."""
        return sum_columns(scale[:, None] * R)

    def reflect(self, draw: Array, mean: Array, old: Array, relax: float) -> Array:
        """The old numbers, reflected at the mean by `relax`, and moved by what that leaves of a
        draw: mean − relax (old − mean) + √(1 − relax²) (draw − mean).
        """
        back, rest = np.float32(relax), np.float32((1 - relax**2) ** 0.5)
        return mean - back * (old - mean) + rest * (draw - mean)

    def append_columns(self, X: Array, first: Array | None, second: Array | None) -> Array:
        """X with two more columns; None stands for ones. Passes sum products in float64."""
        more = (ones(len(X), X, X.dtype) if x is None else x for x in (first, second))
        return stack([X, *more])

    def leave_span(self, Q: Array, x: Array) -> tuple[Array, Squares]:
        """The vector x less its part in the span of the orthonormal rows of Q, taken twice, and
        divided by its norm, where that is squarable.
        """
        y: Array = x - (Q @ x) @ Q
        part = Q @ y
        with np.errstate(over="ignore"):
            products = x @ x, y @ y, part @ part  # all on their way before the first is waited for
            squares = Squares(*map(float, products))
        return divide_by_norm(y - part @ Q, squares), squares

    def draw_normals(self, key: int, shape: tuple[int, int], like: Array) -> Array:
        """The first normal numbers of a key of 64 bits, the same ones for arrays of any kind."""
        from pygeco.engines.cpu.columns import STEPS

        return on(STEPS.draw_normals(key, shape, np.zeros(0)), like)

    def measure_rows(self, rows: Rows, guess: Array) -> Moments:
        """The moments of the rows that count; `guess` is near their mean, if it has d numbers."""
        some = rows.some
        X = np.column_stack([rows.factor, rows.bias])
        X = (X if rows.less is None else X - rows.less)[some].astype(float)
        if not len(rows.bias_variance):
            return measure_moments(X, None)
        return measure_moments(X, np.column_stack([rows.variance, rows.bias_variance])[some])

    def center_rows(self, rows: Rows, guess: Array) -> Array:
        """All rows (m, d), less the mean of those that count, of which there is a guess."""
        nothing = np.zeros(0)
        mean = self.measure_rows(rows._replace(variance=nothing, bias_variance=nothing), guess).mean
        X = stack([rows.factor, rows.bias])
        return X - on(mean.astype(np.float32), X)


PLAIN = ColumnSteps()
KNOWN: dict[type, ColumnSteps] = {}  # what serves arrays of a type; engines add their own


def steps_of(x: Array) -> ColumnSteps:
    """Those for arrays like x: the cores of this machine work on NumPy's."""
    if foreign(x):
        return device_steps_of(x)
    from pygeco.engines.cpu.columns import STEPS

    return STEPS


def device_steps_of(x: Array) -> ColumnSteps:
    """Those of x's device; for the steps in which NumPy's functions do as well as kernels."""
    return KNOWN.get(type(x), PLAIN)


def draw_normals(rng: np.random.Generator, shape: tuple[int, int], like: Array) -> Array:
    """Normal numbers in single precision of the kind of `like`, made where such arrays are."""
    return steps_of(like).draw_normals(int(rng.integers(1 << 64, dtype=np.uint64)), shape, like)


def split_key(key: int) -> tuple[np.uint32, np.uint32]:
    """Its lower and its upper half."""
    return np.uint32(key & 0xFFFFFFFF), np.uint32(key >> 32)


def measure_moments(X: Array, W: Array | None) -> Moments:
    """Those of the rows of X, in float64, with variances W, if they are known."""
    count, d = X.shape
    if W is None or not distant(X) or not count:
        middle = X.mean(axis=0) if count else zeros(d, X)
        spread = np.zeros(d) if W is None or not count else host(W.mean(axis=0, dtype=float))
        rest = X - middle
        return Moments(count, host(middle), inner(rest, rest) / max(count, 1), spread)
    # In one journey; float64 has digits enough for the difference.
    sums = inner(np.column_stack([X, ones(count, X)]), np.column_stack([X, W])) / count
    center = sums[d, :d]
    return Moments(count, center, sums[:d, :d] - np.outer(center, center), sums[d, d:])


def sum_columns(X: Array) -> Array:
    """The sum of each column, in float64 on the host."""
    return host(np.sum(X, axis=0, dtype=float))
