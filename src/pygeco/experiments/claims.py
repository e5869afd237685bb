"""What the paper says of its Figure 1, held against the numbers.

A claim is a number that is positive, or in a range, where it holds. It is measured seed by seed;
it holds, or does not, where Student's interval for its mean says so, and else it is open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pygeco.experiments.figure1 import Curve
from pygeco.experiments.repeats import Repeats, grouped

SLIGHTLY = 0.05  # of RMSE: more than that is not a slight difference
SAME = 0.01  # of RMSE: as far apart as the paper's curves are where it calls them equal


class Verdict(NamedTuple):
    """A claim, the data, whether it holds there (None: the seeds leave it open), the numbers."""

    claim: str
    data: str
    holds: bool | None
    numbers: str

    @property
    def words(self) -> str:
        return {True: "holds", False: "does NOT hold", None: "is left open by the seeds"}[
            self.holds
        ]


@dataclass(frozen=True)
class Figures:
    """The methods of one split, each with its curves."""

    dataset: str
    split: str
    methods: dict[str, Repeats]

    @property
    def name(self) -> str:
        return f"{self.dataset} ({self.split})"

    def __getitem__(self, method: str) -> Repeats:
        return self.methods[method]


Claim = Callable[[Figures], Iterator[Verdict]]
JS = ("js", "js-centred")


def faster(at: Figures) -> Iterator[Verdict]:
    for method in JS:
        geco, js = at["geco"], at[method]
        lead = geco.against(js, lambda g, j: min(j.error(r) - g.error(r) for r in range(1, 6)))
        need = js.against(geco, lambda j, g: _first(j, g.points[0].test))
        reached = f"not by rank {js.last}" if math.isinf(need.mean) else f"at rank {need.mean:.0f}"
        far = True if math.isinf(need.mean) else need.within(4, math.inf)
        yield Verdict(
            f"GECO's error falls much faster with the rank than that of {js.label}",
            at.name,
            _both(lead.within(0, math.inf), far),
            f"at rank 5: {geco.error(5)} against {js.error(5)}; JS reaches GECO's error of "
            f"rank 1 {reached}",
        )


def _first(curve: Curve, error: float) -> float:
    """The first rank with at most this error."""
    return next((p.rank for p in curve.points if p.test <= error), math.inf)


def _both(one: bool | None, other: bool | None) -> bool | None:
    return False if False in (one, other) else None if None in (one, other) else True


def overfits(at: Figures) -> Iterator[Verdict]:
    """The error is least in the range of ranks that the paper names, and higher on both sides."""
    if at.dataset != "ml-100k":
        return
    said = {
        "geco": ("GECO overfits beyond a rank near 4", 3, 5),
        "js": ("{} overfits too, beyond some 30 steps", 15, 60),
        "js-centred": ("{} overfits too, beyond some 30 steps", 15, 60),
    }
    for method, (words, low, high) in said.items():
        one = at[method]
        rise = one.estimate(
            lambda c, low=low, high=high: (  # type: ignore[misc]
                min(c.least(1, low - 1), c.least(high + 1), c.points[-1].test) - c.least(low, high)
            )
        )
        yield Verdict(
            words.format(one.label),
            at.name,
            rise.within(0, math.inf),
            f"least {one.least} at rank {one.best_ranks}, {one.error(one.last)} at rank {one.last}",
        )


def compared(at: Figures) -> Iterator[Verdict]:
    said = {
        "ml-100k": ("reaches a slightly lower error than GECO", -SLIGHTLY, 0.0),
        "ml-1m": ("has a higher error than GECO", 0.0, math.inf),
        "ml-10m": ("has the same error as GECO", -SAME, SAME),
    }
    words, low, high = said[at.dataset]
    for method in JS:
        js, geco = at[method], at["geco"]
        difference = js.against(geco, lambda j, g: j.best.test - g.best.test)
        yield Verdict(
            f"{js.label} {words}",
            at.name,
            difference.within(low, high),
            f"least {js.least} at rank {js.best_ranks} against {geco.least} at rank "
            f"{geco.best_ranks}",
        )


def ten_is_enough(at: Figures) -> Iterator[Verdict]:
    geco = at["geco"]
    rise = geco.estimate(lambda c: c.least(11) - c.least(1, 10))
    small, beyond = geco.estimate(lambda c: c.least(1, 10)), geco.estimate(lambda c: c.least(11))
    yield Verdict(
        "a rank of at most 10 is enough for GECO",
        at.name,
        rise.within(0, math.inf),
        f"least {small} up to rank 10, {beyond} from there to rank {geco.last}",
    )


CLAIMS: tuple[Claim, ...] = (faster, overfits, compared, ten_is_enough)


def verdicts(curves: Sequence[Curve]) -> list[Verdict]:
    """Every claim on every split for which the curves are there."""
    figures = [Figures(*split, methods) for split, methods in grouped(curves).items()]
    return [
        verdict
        for claim in CLAIMS
        for at in figures
        if {"geco", *JS} <= set(at.methods)
        for verdict in claim(at)
    ]
