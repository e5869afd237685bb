"""Users a second of `recommend`: top-10 lists for every row, cells that were fitted left out.

    python benchmarks/serving.py

Random factors of the shapes of MovieLens-1M and 10M: what is served does not matter, how long it
takes does. CPU seconds count too: on a machine that is shared, users per CPU second times the
cores says what an idle one would do.
"""

from __future__ import annotations

import os
import resource
import time
from dataclasses import replace

import numpy as np

from pygeco import LowRank, MatrixCompletion
from pygeco.data import make_ratings
from pygeco.models import Seen
from pygeco.objectives.entries.biases import Biases

CASES = [
    ((6_040, 3_706), 1_000_000, 20),
    ((69_878, 10_677), 10_000_000, 20),
    ((69_878, 10_677), 10_000_000, 40),
]


def served(shape: tuple[int, int], count: int, rank: int) -> MatrixCompletion:
    """A model of this shape and rank, with random factors and that many known cells."""
    rng = np.random.default_rng(0)
    model = MatrixCompletion(1, random_state=0).fit(make_ratings((60, 40), 1_000))
    m, n = shape
    ratings = make_ratings(shape, count)
    order = np.argsort(ratings.rows, kind="stable")
    pointers = np.searchsorted(ratings.rows[order], np.arange(m + 1))
    U, V = (rng.standard_normal((size, rank)).astype(np.float32) for size in shape)
    model.model_ = replace(
        model.model_,
        factors=LowRank(U, np.ones(rank, np.float32), V),
        biases=Biases(3.5, 0.3 * rng.standard_normal(m), 0.3 * rng.standard_normal(n)),
        seen=Seen(pointers, ratings.cols[order], ratings.values[order]),
    )
    return model


def main() -> None:
    cores = os.cpu_count() or 1
    print(f"{cores} cores; top-10, fitted cells left out")
    print(f"{'shape':>18} {'rank':>5} {'seconds':>8} {'users/s':>10} {'users/CPU s × cores':>20}")
    for shape, count, rank in CASES:
        model = served(shape, count, rank)
        model.recommend(np.arange(64), 10)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        wall, cpu = time.perf_counter(), time.process_time()
        model.recommend(np.arange(shape[0]), 10)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        name = f"{shape[0]:,} × {shape[1]:,}"
        fast, idle = shape[0] / wall, cores * shape[0] / cpu
        print(f"{name:>18} {rank:>5} {wall:>8.2f} {fast:>10,.0f} {idle:>20,.0f}  +{more:.0f} MB")


if __name__ == "__main__":
    main()
