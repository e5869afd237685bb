"""What the sections share: sizes, clocks, and the lines of their tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FOLDER = Path(__file__).parents[1]
Shape = tuple[int, int]


@dataclass(frozen=True)
class Plan:
    """How large and how often. `cpu`: figures from CPU seconds, for a machine that is busy."""

    large: bool = False
    cpu: bool = False
    out: Path = FOLDER / "out"
    rounds: int = 5
    pause: float = 0.2  # seconds between turns
    cells: int = 10_000_000
    shape: Shape = (69_878, 10_677)  # MovieLens-10M
    ranks: tuple[int, ...] = (32, 64)
    block: int = 2048  # sgemm's
    # |E| and the shapes of MovieLens-100K, 1M and 10M, with two sizes between them.
    sizes: tuple[tuple[int, Shape], ...] = (
        (100_000, (943, 1_682)),
        (316_000, (2_390, 2_500)),
        (1_000_000, (6_040, 3_706)),
        (3_160_000, (20_500, 6_290)),
        (10_000_000, (69_878, 10_677)),
    )
    netflix: tuple[int, Shape] = (100_000_000, (480_189, 17_770))  # with `large`
    fixed: int = 1_000_000  # cells, where m + n or the rank grows
    sides: tuple[int, ...] = (10_000, 30_000, 100_000, 300_000)  # m + n
    path: int = 10
    path_ranks: tuple[int, ...] = (5, 10, 20, 40)
    memory_rank: int = 20
    fits: tuple[tuple[int, Shape], ...] = (
        (1_000_000, (6_040, 3_706)),
        (10_000_000, (69_878, 10_677)),
    )
    first: tuple[int, Shape] = (100_000, (943, 1_682))  # start-up, without MovieLens
    cold: bool = True  # start-up with no kernel compiled


class Took(NamedTuple):
    """Seconds on the clock, and of all cores of this process together."""

    wall: float
    cpu: float

    def by(self, plan: Plan) -> float:
        """The seconds from which figures are made."""
        return self.cpu if plan.cpu else self.wall


class Line(NamedTuple):
    """A line of a table: what was done, its seconds, the figure made from them, what is wanted.

    A `tracked` figure hardly depends on the machine and goes into the baseline; `slack` is the
    share by which it may be worse than there. `more` says that more is better.
    """

    what: str
    took: Took
    figure: float
    unit: str
    wanted: float | None = None
    more: bool = False
    tracked: bool = False
    slack: float = 0.2
    note: str = ""

    @property
    def missed(self) -> bool:
        if self.wanted is None:
            return False
        return self.figure < self.wanted if self.more else self.figure > self.wanted

    def record(self) -> dict[str, Any]:
        return {**self._asdict(), "took": self.took._asdict()}


def timed(work: Callable[[], Any]) -> Took:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - wall, time.process_time() - cpu)


def best(works: dict[str, Callable[[], Any]], plan: Plan, rounds: int) -> dict[str, Took]:
    """The shortest time of each, after one that compiles.

    They take turns, so that what else the machine does falls on all of them alike, with a pause
    between them: BLAS's threads spin for a while after a product, at the cost of what comes next.
    """

    def rested(work: Callable[[], Any]) -> Took:
        time.sleep(plan.pause)
        return timed(work)

    for work in works.values():
        work()
    turns = [{name: rested(work) for name, work in works.items()} for _ in range(rounds)]
    return {name: min((turn[name] for turn in turns), key=lambda t: t.by(plan)) for name in works}


def exponent(sizes: Iterable[float], seconds: Iterable[float]) -> float:
    """The slope of log seconds against log size."""
    return float(np.polyfit(np.log(list(sizes)), np.log(list(seconds)), 1)[0])


def show(title: str, lines: list[Line]) -> list[Line]:
    """Print the table; the lines again."""
    width = max([24, *(len(line.what) for line in lines)])
    print(f"{title}\n{'':<{width}} {'wall s':>9} {'CPU s':>9} {'measured':>21}  wanted")
    for line in lines:
        seconds = " ".join(f"{t:>9.3f}" if t < 100 else f"{t:>9.0f}" for t in line.took)
        print(f"{line.what:<{width}} {seconds} {_figure(line):>21}  {_wanted(line)}".rstrip())
    print(flush=True)
    return lines


def _figure(line: Line) -> str:
    return f"{line.figure:.4g} {line.unit}"


def _wanted(line: Line) -> str:
    said = []
    if line.wanted is not None:
        said.append(f"at {'least' if line.more else 'most'} {line.wanted:.4g}")
        said += ["MISSED"] if line.missed else []
    return ", ".join([*said, *([line.note] if line.note else [])])
