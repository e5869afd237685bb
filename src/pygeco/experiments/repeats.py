"""A method's curves from several seeds, and what can be said of their mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import stdev
from typing import NamedTuple

from scipy.special import stdtrit

from pygeco.experiments.figure1 import Curve

CONFIDENCE = 0.95  # of the interval that a verdict rests on


class Estimate(NamedTuple):
    """The mean over seeds, their standard deviation (NaN for one seed), and how many they are."""

    mean: float
    spread: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        known = [value for value in values if not math.isnan(value)]
        mean = sum(known) / len(known) if known else math.nan
        spread = stdev(known) if len(known) > 1 and math.isfinite(mean) else math.nan
        return cls(mean, spread, len(known))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the mean over all seeds lies, by Student's t; from one seed nobody knows."""
        if math.isnan(self.spread):
            return -math.inf, math.inf
        t = float(stdtrit(self.seeds - 1, 0.5 + CONFIDENCE / 2))
        half = t * self.spread / math.sqrt(self.seeds)
        return self.mean - half, self.mean + half

    def within(self, low: float, high: float) -> bool | None:
        """Whether the mean lies between the two; None where the seeds leave that open."""
        first, last = self.interval
        if low < first and last < high:
            return True
        return False if last <= low or high <= first else None

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return ""
        return f"{self.mean:.4f}" + (f" ± {self.spread:.4f}" if self.seeds > 1 else "")


class Repeats(NamedTuple):
    """The curves of one method on one split, one for each seed."""

    curves: tuple[Curve, ...]

    @property
    def label(self) -> str:
        return self.curves[0].job.label

    @property
    def last(self) -> int:
        """The highest rank of all."""
        return max(curve.points[-1].rank for curve in self.curves)

    @property
    def best_ranks(self) -> str:
        """The rank of the least error, or the range of it over the seeds."""
        ranks = sorted(curve.best.rank for curve in self.curves)
        return str(ranks[0]) if ranks[0] == ranks[-1] else f"{ranks[0]}–{ranks[-1]}"

    def estimate(self, quantity: Callable[[Curve], float]) -> Estimate:
        return Estimate.of([quantity(curve) for curve in self.curves])

    def error(self, rank: int) -> Estimate:
        return self.estimate(lambda curve: curve.error(rank))

    @property
    def least(self) -> Estimate:
        return self.estimate(lambda curve: curve.best.test)

    def against(self, other: Repeats, quantity: Callable[[Curve, Curve], float]) -> Estimate:
        """Of this method and another one, seed by seed: both see the same split."""
        theirs = {curve.job.seed: curve for curve in other.curves}
        pairs = [(c, theirs[c.job.seed]) for c in self.curves if c.job.seed in theirs]
        return Estimate.of([quantity(*pair) for pair in pairs])


def grouped(curves: Sequence[Curve]) -> dict[tuple[str, str], dict[str, Repeats]]:
    """By set and split, then by method, in the order of the curves."""
    found: dict[tuple[str, str], dict[str, list[Curve]]] = {}
    for curve in curves:
        split = found.setdefault(curve.job[:2], {})
        split.setdefault(curve.job.method, []).append(curve)
    return {
        split: {name: Repeats(tuple(of)) for name, of in methods.items()}
        for split, methods in found.items()
    }
