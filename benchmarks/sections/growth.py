"""How the time of a path grows with |E|, with m + n and with the rank."""

from __future__ import annotations

from typing import NamedTuple

from pygeco import Entries, Solver, minimize
from sections.made import sparse_ratings
from sections.measuring import Line, Plan, Shape, Took, exponent, show, timed

SOLVERS = {"sweeps": Solver(), "full cores": Solver(correction="core")}

LONG = 1.0


class Run(NamedTuple):
    """The shortest time of one path, and the size that grew."""

    what: str
    size: int
    took: Took
    cells: int
    rank: int


def growth(plan: Plan) -> list[Line]:
    """Seconds of paths on made ratings, and the slopes of log seconds against log size."""
    lines = []
    for name, solver in SOLVERS.items():
        minimize(_entries(1_000, (60, 40)), 2, solver, random_state=0)
        large = plan.large and name == "sweeps"
        runs = [
            _run(plan, f"{cells:,} cells, rank {plan.path}, {name}", cells, cells, shape, solver)
            for cells, shape in [*plan.sizes, *([plan.netflix] if large else [])]
        ]
        against = f"|E|, {name}{', with the largest' if large else ''}"
        lines += _shown(plan, runs, against, 1.05)
    sweeps = SOLVERS["sweeps"]
    runs = [
        _run(plan, f"m + n = {side:,}, {plan.fixed:,} cells", side, plan.fixed, shape, sweeps)
        for side, shape in ((side, (4 * side // 5, side // 5)) for side in plan.sides)
    ]
    lines += _shown(plan, runs, "m + n at fixed |E|", 1.05)
    # A sweep takes |E| s² + (m + n) s³, so a path to rank r about r³ where rows have many cells.
    return lines + _shown(plan, _rank_runs(plan), "the rank", 3.0)


def _entries(cells: int, shape: Shape) -> Entries:
    return Entries.from_sparse(sparse_ratings(shape, cells))


def _run(plan: Plan, what: str, size: int, cells: int, shape: Shape, solver: Solver) -> Run:
    took = _shortest(plan, _entries(cells, shape), plan.path, solver)
    return Run(what, size, took, cells, plan.path)


def _rank_runs(plan: Plan) -> list[Run]:
    cells, shape = min(plan.sizes, key=lambda size: abs(size[0] - plan.fixed))
    entries = _entries(cells, shape)
    return [
        Run(f"rank {r}, {cells:,} cells", r, _shortest(plan, entries, r, Solver()), cells, r)
        for r in plan.path_ranks
    ]


def _shortest(plan: Plan, entries: Entries, rank: int, solver: Solver) -> Took:
    """Of three runs, or of one that is long enough to time."""

    def run() -> Took:
        return timed(lambda: minimize(entries, rank, solver, random_state=0))

    first = run()
    runs = [first] if first.wall > LONG else [first, run(), run()]
    return min(runs, key=lambda t: t.by(plan))


def _shown(plan: Plan, runs: list[Run], against: str, wanted: float) -> list[Line]:
    """A line for each path, and one for the exponent."""
    seconds = [run.took.by(plan) for run in runs]
    lines = [
        Line(run.what, run.took, 1e9 * t / (run.cells * run.rank), "ns/cell and rank")
        for run, t in zip(runs, seconds, strict=True)
    ]
    slope = exponent([run.size for run in runs], seconds)
    total = Took(*(sum(part) for part in zip(*(run.took for run in runs), strict=True)))
    lines.append(Line(f"exponent of {against}", total, slope, "", wanted, tracked=True))
    return show(f"growth: whole paths against {against}", lines)
