"""A low-rank matrix under gross outliers: RobustPCA against principal component pursuit.

    python benchmarks/robust.py --sizes 400 1000
    python benchmarks/robust.py --sizes 2000 --shares 0.1 --kinds uniform --threads 2

n × n, rank n/20. Outliers are uniform in ±500 ("uniform") or ± the signal's own size ("own").
Relative errors of the low-rank part, seconds, and their ratio in this run. The rival runs with each
number of BLAS `--threads` and its best time counts; the best of `--repeats` counts for both. Then
the same with a tenth of the cells missing as well, which the rival cannot say.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from pygeco import RobustPCA
from pygeco.rivals import principal_component_pursuit


def problem(n: int, share: float, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """L and L with outliers in a share of its cells."""
    rng = np.random.default_rng(seed)
    rank = n // 20
    L = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n))
    if kind == "uniform":
        wild = rng.uniform(-500, 500, (n, n))
    else:
        wild = rng.choice([-1.0, 1.0], (n, n)) * L.std()
    return L, L + wild * (rng.random((n, n)) < share)


def timed(work: Callable[[], np.ndarray], repeats: int) -> tuple[np.ndarray, float]:
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return result, best


def robust(X: np.ndarray, rank: int) -> np.ndarray:
    return RobustPCA(rank, center=False, random_state=0).fit(X).low_rank_.to_dense()


def rival(X: np.ndarray, threads: list[int], repeats: int) -> tuple[np.ndarray, float]:
    """The best time over these numbers of BLAS threads."""
    found = []
    for count in threads:
        with threadpool_limits(count):
            found.append(timed(lambda: principal_component_pursuit(X).low_rank, repeats))
    return min(found, key=lambda one: one[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[400, 1000])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 0.2])
    parser.add_argument("--kinds", nargs="+", default=["uniform", "own"])
    parser.add_argument("--seeds", type=int, default=1)
    every = os.cpu_count() or 1
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, every}))
    parser.add_argument("--repeats", type=int, default=1)
    given = parser.parse_args()
    robust(problem(60, 0.1, "own", 0)[1], 3)  # compile
    print("   n  share  kind     pursuit  error    RobustPCA  error    ratio  missing too")
    for n in given.sizes:
        for kind in given.kinds:
            for share in given.shares:
                for seed in range(given.seeds):
                    L, Y = problem(n, share, kind, seed)
                    size = np.linalg.norm(L)
                    theirs, slow = rival(Y, given.threads, given.repeats)
                    ours, fast = timed(lambda Y=Y, n=n: robust(Y, n // 20), given.repeats)
                    gaps = np.random.default_rng(seed + 1).random(Y.shape) < 0.1
                    some = robust(np.where(gaps, np.nan, Y), n // 20)
                    errors = [np.linalg.norm(A - L) / size for A in (theirs, ours, some)]
                    print(
                        f"{n:4d}  {share:5.2f}  {kind:7s} {slow:7.2f}s  {errors[0]:.0e}"
                        f"  {fast:8.2f}s  {errors[1]:.0e}  {fast / slow:6.3f}  {errors[2]:.0e}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
