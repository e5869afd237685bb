"""The paper's figure for MovieLens-1M: RMSE at ranks 1 to 10 for three seeds, and its cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pygeco import Entries, Path, Solver, minimize
from pygeco.data import Ratings, load_movielens
from sections.measuring import Line, Plan, show, timed

PRODUCTS = 2_000
RATIO = 8.0  # the time of a path, at most, in that of so many products


def movielens(plan: Plan) -> list[Line] | None:
    """`Solver.paper()` on raw ratings, random 90/10."""
    try:
        ratings = load_movielens("ml-1m", download=False)
    except FileNotFoundError as error:
        print(f"movielens: skipped: {error}\n")
        return None
    lines = [line for seed in (0, 1, 2) for line in seeded(ratings, seed, plan)]
    return show("movielens: ML-1M, Solver.paper(), rank 10", lines)


def seeded(ratings: Ratings, seed: int, plan: Plan) -> list[Line]:
    """Errors by rank, and the time of the path between two halves of the products."""
    cells, held = ratings.cells(~ratings.test), ratings.cells(ratings.test)
    entries = Entries(*cells)
    matrix = sp.csr_array((cells[2].astype(float), cells[:2]), cells[3])
    minimize(entries, 1, Solver.paper(), random_state=0)
    paths: list[Path] = []
    products = _products(matrix, plan)
    took = timed(lambda: paths.append(minimize(entries, 10, Solver.paper(), random_state=seed)))
    ratio = took.by(plan) / (products + _products(matrix, plan))
    train = [step.objective**0.5 for step in paths[0]]
    test = [np.sqrt(np.mean((step.A.entries(*held[:2]) - held[2]) ** 2)) for step in paths[0]]
    unit = f"× {PRODUCTS:,} products"
    return [
        Line(f"seed {seed}: train", took, train[-1], "RMSE", note=_by_rank(train)),
        Line(f"seed {seed}: test", took, float(test[-1]), "RMSE", tracked=True, slack=0.005,
             note=_by_rank(test)),
        Line(f"seed {seed}: path", took, ratio, unit, RATIO, tracked=True),
    ]  # fmt: skip


def _products(matrix: Any, plan: Plan) -> float:
    """Seconds for half of the products with scipy's CSR, on one core."""
    x = np.ones(matrix.shape[1])

    def work() -> None:
        for _ in range(PRODUCTS // 2):
            matrix @ x

    return timed(work).by(plan)


def _by_rank(errors: list[Any]) -> str:
    return "by rank " + " ".join(f"{error:.3f}" for error in errors)
