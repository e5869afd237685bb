"""New cells without another fit: error and time of `partial_fit` beside those of a full refit.

    python benchmarks/updates.py               MovieLens-1M, 1 % of the cells new, a minute or two
    python benchmarks/updates.py --engine cuda

MovieLens is found through PYGECO_DATA. Times are CPU seconds on the CPU, where other work on the
machine hardly moves them, and wall seconds elsewhere. Each line is the mean over `--seeds` seeds:
errors of a few draws differ by some 0.0003 from seed to seed. The largest difference of one seed
comes last.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pygeco import MatrixCompletion
from pygeco.data import load_movielens, load_movielens_attributes

DRAWS = (0, 15)
NEW_SHARE = 0.01


class Parts(NamedTuple):
    """Tables of the cells that are fitted first, of those that come later, and of those to test."""

    early: pd.DataFrame
    late: pd.DataFrame
    test: pd.DataFrame


def load() -> Parts:
    ratings = load_movielens("ml-1m", download=False)
    rng = np.random.default_rng(0)
    test = rng.random(len(ratings.rows)) < 0.1
    late = ~test & (rng.random(len(ratings.rows)) < NEW_SHARE)
    cells = pd.DataFrame(
        {
            "user": ratings.users[ratings.rows],
            "item": ratings.items[ratings.cols],
            "rating": ratings.values,
        }
    )
    return Parts(cells[~test & ~late], cells[late], cells[test])


def measure(
    parts: Parts, draws: int, engine: str | None, tables: dict[str, Any], seed: int
) -> list[float]:
    """Errors before, after and of the refit, and the times of the update and of the refit."""
    clock = time.perf_counter if engine else time.process_time

    def fit(cells: pd.DataFrame) -> MatrixCompletion:
        model = MatrixCompletion(posterior=draws, engine=engine, random_state=seed)
        return model.fit(cells, **tables)

    fit(parts.early[:20_000]).partial_fit(parts.late[:100])  # compiles
    model = fit(parts.early)
    before = -model.score(parts.test)
    began = clock()
    model.partial_fit(parts.late)
    updated = clock()
    whole = fit(pd.concat([parts.early, parts.late]))
    ended = clock()
    errors = [-found.score(parts.test) for found in (model, whole)]
    return [before, *errors, updated - began, ended - updated]


def main() -> None:
    parser = argparse.ArgumentParser(description="Print what an update of a model takes.")
    parser.add_argument("--engine", default=None)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    parts = load()
    told = load_movielens_attributes("ml-1m", download=False)
    known = {"row_attributes": told.users, "column_attributes": told.items}
    print("draws | attributes | before | after | refit | update, s | refit, s | share | largest")
    for draws in DRAWS:
        for name, tables in (("no", {}), ("yes", known)):
            seeds = range(given.seeds if draws else 1)  # without draws a seed hardly matters
            found = [measure(parts, draws, given.engine, tables, seed) for seed in seeds]
            *errors, update, refit = np.mean(found, axis=0)
            shown = " | ".join(f"{error:.4f}" for error in errors)
            largest = max(after - again for _, after, again, *_ in found)
            print(
                f"{draws} | {name} | {shown} | {update:.2f} | {refit:.2f} | {update / refit:.3f} | "
                f"{largest:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
