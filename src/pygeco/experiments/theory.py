"""Theorems 1 and 2 and Corollary 1 of the paper, measured on synthetic matrices."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.directions import Lanczos, Pair
from pygeco.algorithm.guarantees import guaranteed_gap, guaranteed_gap_at_rank
from pygeco.algorithm.run import minimize
from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.operators import Operator
from pygeco.arrays.streams import Purpose, stream
from pygeco.arrays.whole_file import whole_text
from pygeco.data import make_low_rank
from pygeco.experiments.reproduction import draw
from pygeco.objectives import Entries
from pygeco.plot import reproduction as pictures

TAUS = (0.0, 0.3, 0.6, 0.9)
SIDES = (40, 80, 160, 320)
NEEDED = 0.05  # F(A) / F(0) at which a matrix counts as learned
ROUNDING = 1e-12
GRID = 1.1  # the ratio of the numbers of cells that are tried


@dataclass(frozen=True)
class Worst:
    """ApproxSV as bad as τ allows: uᵀGv = (1 − τ) σ₁ exactly, the rest of u at random."""

    tau: float

    def __call__(self, G: Operator, rng: np.random.Generator) -> Pair:
        best = Lanczos(1e-6, 300)(G, rng)
        if best.sigma == 0.0:
            return best
        away = rng.standard_normal(len(best.u))
        away -= best.u * (best.u @ away)
        share = 1 - self.tau
        u = share * best.u + np.sqrt(1 - share**2) * away / np.linalg.norm(away)
        return best._replace(u=u, sigma=share * best.sigma)


class Gap(NamedTuple):
    """R(A) − R(Ā) after `rank` steps, and what bounds it."""

    tau: float
    rank: int
    measured: float
    certificate: float
    theorem_1: float
    theorem_2: float


def gaps(tau: float, rank: int = 20, seed: int = 0) -> list[Gap]:
    """GECO with full cores on half of the cells of a 60 × 50 matrix Ā of rank 4."""
    other = make_low_rank((60, 50), 4, seed)
    rows, cols = np.nonzero(stream(Purpose.EXPERIMENT, seed).random((60, 50)) < 0.5)
    entries = Entries(rows, cols, other.entries(rows, cols), other.shape)
    # σ: the least curvature of λ ↦ R(Σ λ_k u_k v_kᵀ) over the singular vectors of Ā.
    strong = float(np.linalg.eigvalsh(entries.span(other).diagonal(other.s)[1])[0])
    size, beta = float(other.s.sum()), entries.smoothness
    solver = Solver(direction=Worst(tau), correction="core")
    path = minimize(entries, rank, solver, random_state=seed)
    return [
        Gap(
            tau,
            step.rank,
            step.objective - entries.value(other),
            step.certificate.gap(size),
            guaranteed_gap(size, step.rank, smoothness=beta, tau=tau),
            guaranteed_gap_at_rank(
                other.rank,
                step.rank,
                smoothness=beta,
                strong_convexity=strong,
                value_at_zero=entries.value_at_zero,
                tau=tau,
            ),
        )
        for step in path
    ]


class Needed(NamedTuple):
    """The fewest cells from which an n × n matrix was learned, the median over seeds."""

    side: int
    cells: float


def needed(side: int, rank: int = 2, seeds: int = 3) -> Needed:
    """Ā has rank 2 and ‖Ā‖_tr ≈ √2 n, as Corollary 1 wants it: of the order of √(mn)."""
    return Needed(side, float(np.median([_fewest(side, rank, seed) for seed in range(seeds)])))


def _fewest(side: int, rank: int, seed: int) -> int:
    truth = make_low_rank((side, side), rank, seed)
    order = stream(Purpose.EXPERIMENT, seed).permutation(side * side)
    count = 2.0 * side
    while not is_learned(truth, order[: int(count)], 2 * rank):
        count *= GRID
    return int(count)


def is_learned(truth: LowRank, cells: NDArray[np.int64], rank: int) -> bool:
    """Whether F(A) ≤ NEEDED F(0) at some rank of the path, F the mean over all cells."""
    rows, cols = np.divmod(cells, truth.shape[1])
    entries = Entries(rows, cols, truth.entries(rows, cols), truth.shape)
    exact = truth.to_dense()
    solver = Solver(correction="core", replacements=5, signs=True)
    path = minimize(entries, rank, solver, random_state=0)
    errors = [float(np.sum((step.A.to_dense() - exact) ** 2)) for step in path]
    return min(errors) <= NEEDED * float(np.sum(exact**2))


def exponent(found: Sequence[Needed]) -> float:
    """p of the fit cells ≈ c n^p."""
    sides, cells = zip(*found, strict=True)
    return float(np.polyfit(np.log(sides), np.log(cells), 1)[0])


def publish(bounds: Sequence[Gap], cells: Sequence[Needed], folder: Path) -> str:
    """theory.csv, theory.png and .svg; a sentence on what they show."""
    with whole_text(folder / "theory.csv") as out:
        table = csv.writer(out)
        table.writerow(Gap._fields)
        table.writerows(bounds)
        table.writerow(Needed._fields)
        table.writerows(cells)
    draw(lambda: _picture(bounds, cells), folder / "theory")
    beyond = sum(gap.measured > min(gap[3:]) + ROUNDING for gap in bounds)
    taus = ", ".join(f"{tau:g}" for tau in sorted({gap.tau for gap in bounds}))
    return (
        f"{beyond} of {len(bounds)} gaps exceed a bound, for τ = {taus}. The cells that suffice "
        f"grow as n^{exponent(cells):.2f}; Corollary 1 allows n^1.5."
    )


def _picture(bounds: Sequence[Gap], cells: Sequence[Needed]) -> Any:
    curves: dict[str, list[pictures.Bounded]] = {}
    for gap in bounds:
        curves.setdefault(f"τ = {gap.tau:g}", []).append(pictures.Bounded(*gap[1:]))
    sides, counts = zip(*cells, strict=True)
    return pictures.theory(curves, sides, counts, exponent(cells))
