"""The paper's Figure 1: every method on every split, kept in files so that a run can go on."""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pygeco import __version__
from pygeco.arrays.whole_file import whole_text
from pygeco.experiments.methods import METHODS
from pygeco.experiments.tasks import Halves, Point, load, splits_of

SEEDS = 3
COLUMNS = ("dataset", "split", "method", "seed", *Point._fields, "total_seconds")


class Job(NamedTuple):
    """One method on one split of one rating set, from one seed."""

    dataset: str
    split: str
    method: str
    seed: int = 0

    @property
    def label(self) -> str:
        return METHODS[self.method].label

    def __str__(self) -> str:
        return f"{self.dataset} ({self.split}), seed {self.seed}: {self.label}"


class Curve(NamedTuple):
    """The errors of a job against rank, and the seconds of all of it, choices included."""

    job: Job
    points: tuple[Point, ...]
    seconds: float

    @property
    def best(self) -> Point:
        """The least error on the test cells, as the paper reports it."""
        return min(self.points, key=lambda point: point.test)

    def error(self, rank: int) -> float:
        """The test error at this rank, the last one where there are several; NaN without any."""
        return next((p.test for p in reversed(self.points) if p.rank == rank), math.nan)

    def least(self, first: int, last: float = math.inf) -> float:
        """The least test error at ranks from `first` to `last`; infinite without any."""
        return min((p.test for p in self.points if first <= p.rank <= last), default=math.inf)


def planned(datasets: Iterable[str], seeds: int = SEEDS) -> list[Job]:
    """Every run, set by set; what the claims speak of from several seeds."""
    return [
        Job(dataset, split, method.name, seed)
        for dataset in datasets
        for split in splits_of(dataset)
        for seed in range(seeds)
        for method in METHODS.values()
        if method.repeated or seed == 0
    ]


def curve(job: Job, folder: Path) -> Curve:
    """The curve of a job: as kept in the folder by this version, or computed and then kept."""
    name = f"{job.dataset}-{job.split}-{job.method}-{job.seed}.csv"
    file = folder / "runs" / __version__ / name
    if file.is_file():
        return read(file)[0]
    data = _halves(job.dataset, job.split, job.seed)
    began = time.perf_counter()
    points = tuple(METHODS[job.method].run(data, job.seed))
    found = Curve(job, points, time.perf_counter() - began)
    file.parent.mkdir(parents=True, exist_ok=True)
    write([found], file)
    return found


@lru_cache(maxsize=1)
def _halves(dataset: str, split: str, seed: int) -> Halves:
    return load(dataset, split, seed)


def write(curves: Iterable[Curve], file: Path) -> None:
    """One line for each point; the file is written whole or not at all."""
    with whole_text(file) as out:
        table = csv.writer(out)
        table.writerow(COLUMNS)
        for one in curves:
            table.writerows([*one.job, *point, one.seconds] for point in one.points)


def read(file: Path) -> list[Curve]:
    """The curves of a file, in its order."""
    found: dict[Job, list[Point]] = {}
    seconds: dict[Job, float] = {}
    with file.open(newline="", encoding="utf-8") as source:
        for row in csv.DictReader(source):
            job = Job(row["dataset"], row["split"], row["method"], int(row["seed"]))
            errors = float(row["train"]), float(row["test"]), float(row["seconds"])
            found.setdefault(job, []).append(Point(int(row["rank"]), *errors, row["note"]))
            seconds[job] = float(row["total_seconds"])
    return [Curve(job, tuple(points), seconds[job]) for job, points in found.items()]
