"""How good lists of columns are, by the columns that were held out: sums over rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array

METRICS = ("recall", "capped_recall", "ndcg", "precision", "average_precision", "hit_rate")

Figures = dict[str, dict[int, float]]


def find_hits(
    lists: NDArray[Any], pointers: NDArray[Any], indices: NDArray[Any]
) -> NDArray[np.bool_]:
    """Which places of each list hold a column of its row; columns ascend within a row.

    Row t has the columns indices[pointers[t] : pointers[t + 1]]; −1 in a list is none.
    """
    width = int(max(lists.max(initial=0), indices.max(initial=0))) + 1
    rows = np.arange(len(lists), dtype=np.int64)
    keys = np.repeat(rows, np.diff(pointers)) * width + indices
    if not len(keys):
        return np.zeros(lists.shape, bool)
    asked = rows[:, None] * width + lists
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.asarray((keys[at] == asked) & (lists >= 0))


def discount(count: int) -> Array:
    """1 / log₂(p + 1) for places p = 1, …, count."""
    return 1 / np.log2(np.arange(2, count + 2))


def measure_hits(hits: NDArray[np.bool_], held: NDArray[Any], ks: Sequence[int]) -> Array:
    """Each of `METRICS` of each row at each k, (metrics, ks, rows), from where the hits are.

    `held` counts the held-out columns of each row, at least one. A list that is shorter than k
    ends in misses.
    """
    count, places = hits.shape
    longest = max(ks)
    wide = np.zeros((count, longest))
    wide[:, :places] = hits[:, :longest]
    gains = discount(longest)
    found = np.cumsum(wide, axis=1)
    gained = np.cumsum(wide * gains, axis=1)
    best = np.cumsum(gains)
    precise = np.cumsum(wide * found / np.arange(1, longest + 1), axis=1)
    out = np.empty((len(METRICS), len(ks), count))
    for t, k in enumerate(ks):
        possible = np.minimum(held, k)
        hit = found[:, k - 1]
        out[:, t] = (
            hit / held,
            hit / possible,
            gained[:, k - 1] / best[possible - 1],
            hit / k,
            precise[:, k - 1] / possible,
            hit > 0,
        )
    return out


def measure_ranks(above: NDArray[Any], equal: NDArray[Any], ks: Sequence[int]) -> Array:
    """The same for one held-out column a row, `above` others before it and `equal` level with it.

    The mean over all orders of those that are level.
    """
    longest = max(ks)
    sums = [np.concatenate([[0.0], np.cumsum(gain)]) for gain in _gains_of_one(longest)]
    out = np.empty((len(METRICS), len(ks), len(above)))
    for t, k in enumerate(ks):
        first, last = np.minimum(above, k), np.minimum(above + equal + 1, k)
        hit, ndcg, reciprocal = ((total[last] - total[first]) / (equal + 1) for total in sums)
        out[:, t] = (hit, hit, ndcg, hit / k, reciprocal, hit)
    return out


def _gains_of_one(count: int) -> tuple[Array, Array, Array]:
    """What the only relevant column counts at each place: as a hit, in NDCG, in precision."""
    return np.ones(count), discount(count), 1 / np.arange(1, count + 1)


def count_ties(scores: Array, hits: NDArray[np.bool_], k: int) -> int:
    """How many rows would have other figures if equal scores were ordered otherwise.

    Scores descend; those beyond place k, of which one is enough, say whether the list ends among
    equals.
    """
    level = (scores[:, 1:] == scores[:, :-1]) & np.isfinite(scores[:, 1:])
    inside = level[:, : k - 1] & (hits[:, 1:k] != hits[:, : min(k, hits.shape[1]) - 1])
    return int(np.sum(inside.any(axis=1) | level[:, k - 1 : k].any(axis=1)))


@dataclass
class ListTotals:
    """Sums over rows of the figures at each k, block after block."""

    ks: tuple[int, ...]
    counts: NDArray[Any]  # how often each column was seen
    rows: int = 0
    ties: int = 0
    sums: Array = field(init=False)
    squares: Array = field(init=False)
    listed: NDArray[np.bool_] = field(init=False)
    popularity: Array = field(init=False)
    places: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        size = len(METRICS), len(self.ks)
        self.sums, self.squares = np.zeros(size), np.zeros(size)
        self.listed = np.zeros((len(self.ks), len(self.counts)), bool)
        self.popularity = np.zeros(len(self.ks))
        self.places = np.zeros(len(self.ks), np.int64)

    def add(self, figures: Array) -> None:
        """The figures of some rows, as `measure_hits` gives them."""
        self.rows += figures.shape[-1]
        self.sums += figures.sum(axis=-1)
        self.squares += (figures**2).sum(axis=-1)

    def add_lists(self, lists: NDArray[np.int64]) -> None:
        """What is on the lists of some rows; −1 is nothing."""
        for t, k in enumerate(self.ks):
            columns = lists[:, :k]
            columns = columns[columns >= 0]
            self.listed[t, columns] = True
            self.popularity[t] += self.counts[columns].sum()
            self.places[t] += len(columns)

    def means(self) -> Figures:
        """Each metric's mean over rows at each k; NaN without a row."""
        with np.errstate(invalid="ignore"):
            return _name_figures(
                self.ks, self.sums / self.rows if self.rows else self.sums * np.nan
            )

    def errors(self) -> Figures:
        """The standard error of each mean; NaN with fewer than two rows."""
        if self.rows < 2:
            return _name_figures(self.ks, np.full_like(self.sums, np.nan))
        spread = self.squares - self.sums**2 / self.rows
        variance = np.maximum(spread, 0) / (self.rows - 1)
        return _name_figures(self.ks, np.sqrt(variance / self.rows))

    def coverage(self) -> dict[int, float]:
        """The share of all columns that are on some list."""
        return dict(zip(self.ks, self.listed.mean(axis=1).tolist(), strict=True))

    def mean_popularity(self) -> dict[int, float]:
        """How often the columns on the lists were seen, on average."""
        mean = self.popularity / np.where(self.places > 0, self.places, np.nan)
        return dict(zip(self.ks, mean.tolist(), strict=True))


def _name_figures(ks: Sequence[int], values: Array) -> Figures:
    return {
        name: dict(zip(ks, line.tolist(), strict=True))
        for name, line in zip(METRICS, values, strict=True)
    }
