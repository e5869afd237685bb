"""Tables whose columns differ: one Gaussian of coordinates, and what it says of missing cells.

Cells become coordinates (`column_codes`), whose rows are one Gaussian (`table_gaussian`). A row's
missing coordinates then have a mean and a covariance given its known ones, exactly, and each
missing cell is answered from its own part of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy.special is imported when used
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.bayes.column_codes import Code, NumberCode, ValueCode
from pygeco.bayes.row_gaps import GapMemo, list_gaps
from pygeco.bayes.table_gaussian import TableGaussian

COVERAGES = np.array([0.5, 0.8, 0.9, 0.95, 0.99])  # at which the width of intervals is measured


class Belief(NamedTuple):
    """What is known of one column's missing cells: coordinates N(mean, covariance), row by row."""

    rows: NDArray[np.intp]
    mean: Array
    covariance: Array

    def take(self, which: NDArray[Any]) -> Belief:
        """Of some of the cells."""
        return Belief(self.rows[which], self.mean[which], self.covariance[which])


class MixedTable(NamedTuple):
    """The codes of the columns, the Gaussian of their coordinates, and measured widths.

    `widths` (columns, coverages) are half-widths of intervals, measured at masked cells, over
    those of a normal: 1 where the Gaussian is as sure as it should be.
    """

    codes: tuple[Code, ...]
    gaussian: TableGaussian
    widths: Array

    @property
    def starts(self) -> NDArray[np.intp]:
        """Where each column's coordinates begin, and where the last one's end."""
        return np.concatenate([[0], np.cumsum([code.width for code in self.codes])]).astype(int)

    def encode(self, X: Array) -> Array:
        """Coordinates of a table's rows."""
        return encode_table(X, self.codes)

    def believe(self, X: Array, asked: Sequence[int] | None = None) -> list[Belief]:
        """What is known of the missing cells of each column, or of those asked for."""
        wanted, at = np.isnan(X), list(range(len(self.codes)) if asked is None else asked)
        wanted[:, np.setdiff1d(np.arange(len(self.codes)), at)] = False
        beliefs = condition_rows(self.encode(X), self.gaussian, self.starts, wanted)
        return [beliefs[k] for k in at]

    def chances(self, k: int, belief: Belief) -> Array:
        """Probabilities (rows, values) of a column of values."""
        code = self.codes[k]
        if not isinstance(code, ValueCode):
            raise TypeError("a column of numbers has no values to choose from")
        return code.chances(belief.mean, belief.covariance, self.prior(k))

    def prior(self, k: int) -> tuple[Array, Array]:
        """Mean and covariance of a column's coordinates in a row of which nothing is known."""
        own = slice(self.starts[k], self.starts[k + 1])
        V = self.gaussian.components[:, own]
        covariance = (V.T * self.gaussian.deviations**2) @ V
        return self.gaussian.mean[own], covariance + self.gaussian.noise * np.eye(V.shape[1])

    def covariance(self) -> Array:
        """Of all coordinates."""
        return self.gaussian.covariance()

    def widen(self, k: int, coverage: float) -> float:
        """The measured width of a column's intervals over that of a normal."""
        return float(np.interp(coverage, COVERAGES, self.widths[k]))

    def estimate(self, k: int, belief: Belief, way: str) -> Array:
        """A filled value for each cell: its "mean", its "median", or of a column what suits it.

        "auto" is the mean of a number, the median of levels and the most probable category.
        """
        code = self.codes[k]
        if isinstance(code, NumberCode):
            deviation = np.sqrt(belief.covariance[:, 0, 0])
            if way == "median":
                return code.decode(belief.mean[:, 0])
            return code.moments(belief.mean[:, 0], deviation)[0]
        chances = self.chances(k, belief)
        if not code.is_ordered:
            return code.values[chances.argmax(axis=1)]
        if way == "mean":
            return np.asarray(chances @ code.values)
        return take_quantile(chances, code.values, 0.5)

    def deviate(self, k: int, belief: Belief) -> Array:
        """The deviation of each cell; of a category the probability of another one."""
        code = self.codes[k]
        if isinstance(code, NumberCode):
            deviation = np.sqrt(belief.covariance[:, 0, 0]) * self.widen(k, 0.8)
            return code.moments(belief.mean[:, 0], deviation)[1]
        chances = self.chances(k, belief)
        if not code.is_ordered:
            return 1 - chances.max(axis=1)
        mean = chances @ code.values
        return np.sqrt(np.maximum(chances @ code.values**2 - mean**2, 0))

    def bound(self, k: int, belief: Belief, coverage: float) -> tuple[Array, Array]:
        """The ends of an interval for each cell; of a category the most probable one, twice.

        Of values in order it is the narrowest interval that has the coverage or more.
        """
        code = self.codes[k]
        if isinstance(code, NumberCode):
            half = scipy.special.ndtri(0.5 + coverage / 2) * self.widen(k, coverage)
            half = half * np.sqrt(belief.covariance[:, 0, 0])
            ends = (code.decode(belief.mean[:, 0] + side * half) for side in (-1, 1))
            low, high = ends
            return np.minimum(low, high), np.maximum(low, high)
        chances = self.chances(k, belief)
        if not code.is_ordered:
            most = code.values[chances.argmax(axis=1)]
            return most, most
        return take_narrowest(chances, code.values, coverage)


def encode_table(X: Array, codes: Sequence[Code]) -> Array:
    """Coordinates of all columns, beside each other; NaN where a cell is missing."""
    parts = [code.encode(X[:, k]) for k, code in enumerate(codes)]
    return np.hstack([np.zeros((len(X), 0)), *parts])


def student_widths(rows: int) -> Array:
    """Widths of intervals where nothing was masked: those of Student's t.

    They are of a normal whose mean and variance are known from as many rows.
    """
    p, free = 0.5 + COVERAGES / 2, max(rows - 1, 1)
    wide = scipy.special.stdtrit(free, p) * np.sqrt((rows + 1) / free)
    return np.asarray(wide / scipy.special.ndtri(p))


def take_quantile(chances: Array, values: Array, share: float) -> Array:
    """The first value at which the probabilities of a row add up to the share."""
    at = np.sum(np.cumsum(chances, axis=1) < share - 1e-12, axis=1)
    return values[np.minimum(at, len(values) - 1)]


def take_narrowest(chances: Array, values: Array, share: float) -> tuple[Array, Array]:
    """The ends of each row's narrowest interval whose probabilities add up to the share.

    Of those that are as narrow, the most probable.
    """
    n, k = chances.shape
    sums = np.concatenate([np.zeros((n, 1)), np.cumsum(chances, axis=1)], axis=1)
    width, mass = np.full(n, np.inf), np.zeros(n)
    first, last = np.zeros(n, int), np.full(n, k - 1)
    for a in range(k):
        b = np.sum(sums[:, 1:] < sums[:, a, None] + share - 1e-12, axis=1)
        inside = b < k
        b = np.minimum(b, k - 1)
        wide, own = values[b] - values[a], sums[np.arange(n), b + 1] - sums[:, a]
        better = inside & ((wide < width) | ((wide == width) & (own > mass)))
        first, last = np.where(better, a, first), np.where(better, b, last)
        width, mass = np.where(better, wide, width), np.where(better, own, mass)
    return values[first], values[last]


def condition_rows(
    Z: Array,
    gaussian: TableGaussian,
    starts: NDArray[np.intp],
    wanted: NDArray[np.bool_],
    memo: GapMemo | None = None,
) -> list[Belief]:
    """The mean and covariance of each column's coordinates at the cells wanted (n, columns).

    With P the precision, M a row's missing coordinates and K its known ones, all of M have
    mean_M − P_MM⁻¹ P_MK (z − mean)_K and P_MM⁻¹, of which each column takes its own block.
    """
    known, P, mean = ~np.isnan(Z), gaussian.precision(), gaussian.mean
    pull = np.where(known, Z - mean, 0.0) @ P
    filled, spread = np.broadcast_to(mean, Z.shape).copy(), np.zeros(Z.shape)
    widths = np.diff(starts)
    wide = np.flatnonzero(widths > 1).tolist()
    places = {k: np.cumsum(wanted[:, k]) - 1 for k in wide}
    blocks = {k: np.zeros((int(wanted[:, k].sum()), widths[k], widths[k])) for k in wide}
    for gap in list_gaps(known) if memo is None else memo.recall(known):
        inverse = gap.invert(P)
        filled.ravel()[gap.cells] -= gap.move(inverse, pull)
        spread.ravel()[gap.cells] = np.diagonal(inverse, axis1=1, axis2=2)[gap.which]
        for k in wide:
            has = np.flatnonzero(wanted[gap.rows[:, 0], k])
            at = np.argmax(gap.cols[has] == starts[k], axis=1)[:, None] + np.arange(widths[k])
            block = inverse[gap.which[has, None, None], at[:, :, None], at[:, None, :]]
            blocks[k][places[k][gap.rows[has, 0]]] = block
    found = []
    for k, (a, b) in enumerate(pairwise(starts.tolist())):
        own = np.flatnonzero(wanted[:, k])
        block = blocks[k] if k in blocks else spread[own, a:b, None]
        found.append(Belief(own, filled[own, a:b], block.reshape(len(own), b - a, b - a)))
    return found
