"""What the paper says of its Figure 1, held against the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pygeco.experiments.figure1 import Curve

MARGIN = 0.002  # of RMSE: less than that is the same error


class Verdict(NamedTuple):
    """A claim, the data it was held against, whether it holds there, and the numbers."""

    claim: str
    data: str
    holds: bool
    numbers: str


class Figures:
    """The curves of one split, by method."""

    def __init__(self, curves: Sequence[Curve], dataset: str, split: str) -> None:
        self.name = f"{dataset} ({split})"
        self.dataset = dataset
        self.curves = {c.job.method: c for c in curves if c.job[:2] == (dataset, split)}

    def has(self, *methods: str) -> bool:
        return all(method in self.curves for method in methods)

    def __getitem__(self, method: str) -> Curve:
        return self.curves[method]


Claim = Callable[[Figures], Iterator[Verdict]]


def faster(at: Figures) -> Iterator[Verdict]:
    for method in ("js", "js-centred"):
        geco, js = at["geco"], at[method]
        ahead = all(geco.error(rank) < js.error(rank) for rank in range(1, 6))
        first = next((p.rank for p in js.points if p.test <= geco.points[0].test), None)
        need = f"at rank {first}" if first else f"not by rank {js.points[-1].rank}"
        yield Verdict(
            f"GECO's error falls much faster with the rank than that of {js.job.label}",
            at.name,
            ahead and (first is None or first >= 5),
            f"at rank 5: {geco.error(5):.4f} against {js.error(5):.4f}; JS reaches GECO's error of "
            f"rank 1 {need}",
        )


def overfits(at: Figures) -> Iterator[Verdict]:
    if at.dataset != "ml-100k":
        return
    geco = at["geco"]
    last = geco.points[-1]
    yield Verdict(
        "GECO overfits beyond a rank near 4",
        at.name,
        3 <= geco.best.rank <= 5 and last.test > geco.best.test + MARGIN,
        f"least {geco.best.test:.4f} at rank {geco.best.rank}, then up to {last.test:.4f} at rank "
        f"{last.rank}",
    )
    for method in ("js", "js-centred"):
        js = at[method]
        late = js.points[-1]
        yield Verdict(
            f"{js.job.label} overfits too, beyond some 30 steps",
            at.name,
            15 <= js.best.rank <= 60 and late.test > js.best.test + MARGIN,
            f"least {js.best.test:.4f} at step {js.best.rank} of {late.rank}",
        )


def compared(at: Figures) -> Iterator[Verdict]:
    said = {
        "ml-100k": ("reaches a slightly lower error than GECO", lambda d: -0.05 < d < -MARGIN),
        "ml-1m": ("has a higher error than GECO", lambda d: d > MARGIN),
        "ml-10m": ("has the same error as GECO", lambda d: abs(d) <= 5 * MARGIN),
    }
    words, holds = said[at.dataset]
    for method in ("js", "js-centred"):
        js, geco = at[method], at["geco"]
        yield Verdict(
            f"{js.job.label} {words}",
            at.name,
            bool(holds(js.best.test - geco.best.test)),
            f"least {js.best.test:.4f} at rank {js.best.rank} against {geco.best.test:.4f} at rank "
            f"{geco.best.rank}",
        )


def ten_is_enough(at: Figures) -> Iterator[Verdict]:
    geco = at["geco"]
    small = min(p.test for p in geco.points if p.rank <= 10)
    yield Verdict(
        "a rank of at most 10 is enough for GECO",
        at.name,
        small <= geco.best.test + MARGIN,
        f"least {small:.4f} up to rank 10, {geco.best.test:.4f} up to rank {geco.points[-1].rank}",
    )


CLAIMS: tuple[Claim, ...] = (faster, overfits, compared, ten_is_enough)


def verdicts(curves: Sequence[Curve]) -> list[Verdict]:
    """Every claim on every split for which the curves are there."""
    splits = dict.fromkeys((c.job.dataset, c.job.split) for c in curves)
    figures = [Figures(curves, dataset, split) for dataset, split in splits]
    return [
        verdict
        for claim in CLAIMS
        for at in figures
        if at.has("geco", "js", "js-centred")
        for verdict in claim(at)
    ]
