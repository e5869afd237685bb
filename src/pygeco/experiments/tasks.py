"""What is fitted: a rating set, split, and the errors of a fit against its rank."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.path import Step
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.data import Ratings, load_movielens
from pygeco.objectives import Entries

HALF = "half"
OFFICIAL = {"ml-100k": "ub", "ml-10m": "rb"}
DATASETS = ("ml-100k", "ml-1m", "ml-10m")


def splits_of(dataset: str) -> tuple[str, ...]:
    """The random half of Jaggi and Sulovský, and the official split where there is one."""
    return (HALF, OFFICIAL[dataset]) if dataset in OFFICIAL else (HALF,)


class Point(NamedTuple):
    """The root mean squared errors at one rank, and the seconds it took to get there."""

    rank: int
    train: float
    test: float
    seconds: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Halves:
    """Cells to fit and cells to judge by, under one objective each."""

    train: Entries
    test: Entries

    @classmethod
    def of(cls, ratings: Ratings, held: NDArray[np.bool_]) -> Halves:
        return cls(Entries(*ratings.cells(~held)), Entries(*ratings.cells(held)))

    @cached_property
    def centered(self) -> Halves:
        """The same ratings minus the mean of those to fit."""
        row = np.full(self.train.shape[0], float(np.mean(self.train.by_row.values, dtype=float)))
        col = np.zeros(self.train.shape[1])
        return Halves(self.train.shift(row, col), self.test.shift(row, col))

    @cached_property
    def inner(self) -> Halves:
        """The cells to fit alone, a random tenth of them (seed 0) held out."""
        held = stream(Purpose.EXPERIMENT).random(self.train.size) < 0.1
        return Halves(self.train.subset(~held), self.train.subset(held))

    @property
    def spread(self) -> float:
        """√(mn) times the root mean square of the ratings: a scale for trace norms."""
        return math.sqrt(math.prod(self.train.shape) * self.train.value_at_zero)

    def error(self, A: LowRank) -> float:
        """The error on the cells to judge by."""
        return math.sqrt(self.test.value(A))

    def points(self, steps: Iterable[Step], note: str = "") -> list[Point]:
        return [
            Point(t.rank, math.sqrt(t.objective), self.error(t.A), t.seconds, note) for t in steps
        ]

    def triplets(self) -> tuple[Any, ...]:
        """The cells to fit as (rows, cols, values, shape)."""
        cells = self.train.by_row
        rows = np.repeat(np.arange(self.train.shape[0], dtype=np.int32), cells.counts())
        return rows, cells.indices, cells.values, self.train.shape


def load(dataset: str, split: str, seed: int = 0) -> Halves:
    """The half is over the rows in file order: `default_rng(seed).random(len(y)) < 0.5` is held.

    An official split is the same for every seed.
    """
    if split == HALF:
        ratings = load_movielens(dataset)
        return Halves.of(ratings, np.random.default_rng(seed).random(len(ratings.values)) < 0.5)
    ratings = load_movielens(dataset, split)
    return Halves.of(ratings, ratings.test)
