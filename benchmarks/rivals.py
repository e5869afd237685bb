"""The rivals' published behavior, measured: exact recovery, rates, and MovieLens-1M in seconds.

python benchmarks/rivals.py            recovery and rates
PYGECO_DATA=... python benchmarks/rivals.py --movielens   the last table too
"""

from __future__ import annotations

import sys
import time

import numpy as np

from pygeco import Entries, LowRank, Solver, minimize
from pygeco.algorithm.directions import Lanczos
from pygeco.data import load_movielens, make_low_rank
from pygeco.rivals import admira, hazan, js, optspace, r1mp, soft_impute, svt


def alphas(entries: Entries, least: float, count: int) -> np.ndarray:
    """Penalties from half of the one at which A = 0 is optimal down to a share of it."""
    G = entries.gradient(LowRank.zero(entries.shape))
    top = Lanczos()(G, np.random.default_rng(0)).sigma
    return top * np.geomspace(0.5, least, count)


def recovery() -> None:
    """A rank-5 500 × 500 matrix from 30 % of its cells."""
    truth = make_low_rank((500, 500), 5, random_state=0)
    exact = truth.to_dense()
    rows, cols = np.nonzero(np.random.default_rng(1).random(exact.shape) < 0.3)
    entries = Entries(rows, cols, exact[rows, cols], exact.shape)
    small = alphas(entries, 1e-6, 12)
    fits = {
        "SVT": lambda: svt(entries, 20, tol=5e-5, random_state=0),
        "OptSpace": lambda: optspace(entries, 5, tol=1e-6, random_state=0),
        "ADMiRA": lambda: admira(entries, 5, tol=1e-5, random_state=0),
        "Soft-Impute": lambda: soft_impute(entries, 20, small, random_state=0),
        "Soft-Impute, ALS": lambda: soft_impute(entries, 8, small, als=True, random_state=0),
        "GECO, sweeps": lambda: minimize(entries, 5, Solver(correction="sweep"), random_state=0),
    }
    print("recovery of a rank-5 500 × 500 matrix from 30 % of its cells")
    print(f"{'':18s}{'error':>9s}{'seconds':>9s}{'steps':>7s}")
    for name, fit in fits.items():
        fit()  # compiled, and the caches warm
        began = time.perf_counter()
        path = fit()
        seconds = time.perf_counter() - began
        error = np.linalg.norm(path.A.to_dense() - exact) / np.linalg.norm(exact)
        print(f"{name:18s}{error:9.1e}{seconds:9.2f}{len(path):7d}", flush=True)


def rates(steps: int = 1000) -> None:
    """The exponent p of gap ≈ c k^−p over the last nine tenths of a run."""
    truth = make_low_rank((60, 50), 3, random_state=0).to_dense()
    rng = np.random.default_rng(1)
    noisy = truth + 0.5 * rng.standard_normal(truth.shape)
    rows, cols = np.nonzero(rng.random(truth.shape) < 0.6)
    entries = Entries(rows, cols, noisy[rows, cols], truth.shape)
    bound = 0.5 * float(np.linalg.norm(truth, "nuc"))
    print("\nJS and Hazan: the duality gap falls as k to the power of")
    for rival in (js, hazan):
        gap = [step.gap for step in rival(entries, steps, bound, random_state=0)]
        k = np.arange(1, steps + 1)
        part = slice(steps // 10, None)
        print(f"{rival.__name__:8s}{np.polyfit(np.log(k[part]), np.log(gap[part]), 1)[0]:6.2f}")


def movielens() -> None:
    """One fit of each on a random half of MovieLens-1M, the mean subtracted."""
    ratings = load_movielens("ml-1m")
    held = np.random.default_rng(0).random(len(ratings.values)) < 0.5
    train = Entries(*ratings.cells(~held))
    mean = float(train.by_row.values.mean(dtype=float))
    train = train.shift(np.full(train.shape[0], mean), np.zeros(train.shape[1]))
    rows, cols, values, _ = ratings.cells(held)
    bound = float(np.sqrt(np.prod(train.shape) * train.value_at_zero))
    fits = {
        "JS, 100 steps": lambda: js(train, 100, bound, random_state=0),
        "Hazan, 100 steps": lambda: hazan(train, 100, bound, random_state=0),
        "R1MP, rank 30": lambda: r1mp(train, 30, random_state=0),
        "economic, rank 30": lambda: r1mp(train, 30, economic=True, random_state=0),
        "ADMiRA, rank 10": lambda: admira(train, 10, random_state=0),
        "OptSpace, rank 10": lambda: optspace(train, 10, max_iter=100, random_state=0),
        "Soft-Impute": lambda: soft_impute(
            train, 30, alphas(train, 0.2, 3), tol=1e-3, random_state=0
        ),
        "Soft-Impute, ALS": lambda: soft_impute(
            train, 30, alphas(train, 0.2, 3), als=True, tol=1e-3, random_state=0
        ),
        "SVT, 50 steps": lambda: svt(
            train, 20, tau=5 * bound, delta=1.9, max_iter=50, random_state=0
        ),
    }
    print("\na random half of MovieLens-1M")
    print(f"{'':20s}{'test RMSE':>10s}{'rank':>6s}{'seconds':>9s}{'CPU':>7s}")
    for name, fit in fits.items():
        began, busy = time.perf_counter(), time.process_time()
        path = fit()
        seconds, cpu = time.perf_counter() - began, time.process_time() - busy
        error = np.sqrt(np.mean((mean + path.A.entries(rows, cols) - values) ** 2))
        print(f"{name:20s}{error:10.4f}{path[-1].rank:6d}{seconds:9.1f}{cpu:7.1f}", flush=True)


if __name__ == "__main__":
    recovery()
    rates()
    if "--movielens" in sys.argv:
        movielens()
