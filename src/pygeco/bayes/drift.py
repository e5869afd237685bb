"""Offsets of (line, period), as a fit leaves them: means, variances, and what is not known.

b_{line, period} ~ N(0, v), one v for each ladder of periods, all in units where the data have
deviation 1. A pair without cells has mean 0 and variance v.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pygeco.arrays.kinds import host, on
from pygeco.arrays.low_rank import Array
from pygeco.arrays.short_repr import show_fields
from pygeco.bayes.periods import CellPeriods, PeriodGroups, Periods, find_pairs
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side


class PeriodOffsets(NamedTuple):
    """The offsets of the pairs (line, period) that have cells, and v, the `spread` of all."""

    periods: Periods
    lines: NDArray[np.int64]
    numbers: NDArray[np.int64]
    mean: Array
    variance: Array
    spread: float

    def on_host(self) -> tuple[str, ...]:
        return self._fields

    @classmethod
    def start(cls, group: PeriodGroups, spread: float) -> PeriodOffsets:
        """Offsets of which nothing is known yet."""
        zero = np.zeros(len(group.sizes))
        return cls(group.periods, group.lines, group.numbers, zero, zero + spread, spread)

    def look_up(self, lines: NDArray[Any], times: Array) -> tuple[Array, Array]:
        """Mean and variance at lines, −1 for none, and times."""
        at = find_pairs((self.lines, self.numbers), lines, self.periods.number(times))
        if not len(self.mean):
            return np.zeros(at.shape), np.full(at.shape, self.spread)
        return np.where(at >= 0, self.mean[at], 0.0), np.where(
            at >= 0, self.variance[at], self.spread
        )

    @property
    def T(self) -> PeriodOffsets:
        side = "column" if self.periods.side == "row" else "row"
        return self._replace(periods=self.periods._replace(side=side))


@dataclass(frozen=True, eq=False)
class Drift:
    """All offsets of periods, and the last time of the data."""

    offsets: tuple[PeriodOffsets, ...]
    latest: float

    def __repr__(self) -> str:
        return show_fields(self)

    @property
    def T(self) -> Drift:
        """That of the transposed matrix."""
        return replace(self, offsets=tuple(part.T for part in self.offsets))

    def look_up(
        self, rows: NDArray[Any], cols: NDArray[Any], times: ArrayLike | None = None
    ) -> Moves:
        """What time adds at cells, and the variance of that; without times, those of the end."""
        times = self.latest if times is None else times
        i, j, t = np.broadcast_arrays(host(rows), host(cols), np.asarray(times, dtype=float))
        mean, variance = np.zeros(i.shape), np.zeros(i.shape)
        for part in self.offsets:
            moves, doubt = part.look_up(i if part.periods.side == "row" else j, t)
            mean += moves
            variance += doubt
        return Moves(mean, variance)

    def look_up_lines(self, side: str, count: int, time: float | None = None) -> Moves:
        """What one time, by default the last, adds to each line of a side."""
        own = replace(self, offsets=tuple(p for p in self.offsets if p.periods.side == side))
        every = np.arange(count)
        return own.look_up(every, every, time)

    def add_to_biases(self, biases: Biases, scale: float, time: float | None = None) -> Biases:
        """Offsets of rows and columns at one time."""
        row, col = (
            x + on(scale * self.look_up_lines(side, len(x), time).mean, x)
            for side, x in (("row", biases.row), ("column", biases.col))
        )
        return Biases(biases.mean, row, col)

    def add_to_side(self, side: Side, name: str) -> Side:
        """A side's vectors as they are at the last time."""
        moves = self.look_up_lines(name, len(side.bias))
        bias, doubt = (on(x.astype(side.bias.dtype), side.bias) for x in moves)
        return side._replace(bias=side.bias + bias, bias_variance=side.bias_variance + doubt)

    def widen(self, rows: NDArray[Any], cols: NDArray[Any]) -> Drift:
        """That of a larger matrix, in which the old rows and columns have these places."""
        places = {"row": rows, "column": cols}
        return replace(
            self,
            offsets=tuple(
                p._replace(lines=np.asarray(places[p.periods.side], dtype=np.int64)[p.lines])
                for p in self.offsets
            ),
        )

    def match(self, periods: CellPeriods) -> CellPeriods:
        """The periods of cells of which there are offsets."""
        return periods.match([part.periods for part in self.offsets])


class Moves(NamedTuple):
    """What time adds, and the variance of that."""

    mean: Array
    variance: Array


class DriftMean:
    """A running mean of draws of a drift: of their conditional means, with all their variance."""

    def __init__(self) -> None:
        self.count = 0
        self.sums: list[PeriodOffsets] = []
        self.last: Drift | None = None

    def add(self, drift: Drift) -> None:
        """A drift with conditional means and variances."""
        new = [p._replace(variance=p.variance + p.mean**2) for p in drift.offsets]
        self.sums = [_add(*pair) for pair in zip(self.sums, new, strict=True)] if self.sums else new
        self.last, self.count = drift, self.count + 1

    def result(self) -> Drift | None:
        """None where there was no draw."""
        if self.last is None:
            return None
        offsets = []
        for part in self.sums:
            mean = part.mean / self.count
            variance = np.maximum(part.variance / self.count - mean**2, 0.0)
            spread = part.spread / self.count
            offsets.append(part._replace(mean=mean, variance=variance, spread=spread))
        return replace(self.last, offsets=tuple(offsets))


def _add(one: PeriodOffsets, other: PeriodOffsets) -> PeriodOffsets:
    return one._replace(
        mean=one.mean + other.mean,
        variance=one.variance + other.variance,
        spread=one.spread + other.spread,
    )
