"""How fits gain from cores: seconds with 1, 2, 4, … threads, beside cmfrec and implicit.

    PYGECO_DATA=... python benchmarks/cores.py [--threads 1 2 4 8 16] [--fits movielens ...]

Each fit runs once to warm up, then `--turns` times with each number of threads, of which the
shortest counts. "movielens" and "draws" are the default fit and `posterior=15` of MovieLens-1M,
"made" and "path" the default fit and the path to rank 10 of 9.2 million made ratings of
MovieLens-10M's shape. "loop" is what the cores can: multiply-adds on numbers that stay in the first
cache. "cmfrec" and "implicit" fit the same made ratings, 40 factors and 5
iterations, where they are installed.

With `--beside`, as many processes as the most threads do the same fit at once, each on one thread
and on a core of its own. None waits for another: times one that they do together is what the cores
give to such a fit where nothing is shared, but caches and memory, which all of them want.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp

from pygeco import Entries, MatrixCompletion, minimize
from pygeco.data import load_movielens
from pygeco.engines.cpu.parallel import Kernel
from pygeco.engines.cpu.threads import limit_threads
from sections.made import sparse_ratings

MADE_SHAPE, MADE_CELLS = (69_878, 10_677), 9_200_000
PATH_RANK = 10
LOOP_TIMES = 500_000
PEERS = ("cmfrec", "implicit")
PEER_FACTORS, PEER_ROUNDS = 40, 5
KERNELS_SHOWN = 15


@cache
def movielens() -> sp.csr_array:
    ratings = load_movielens("ml-1m", None, download=False)
    shape = len(ratings.users), len(ratings.items)
    return sp.csr_array((ratings.values, (ratings.rows, ratings.cols)), shape=shape)


@cache
def made() -> sp.csr_array:
    return sparse_ratings(MADE_SHAPE, MADE_CELLS)


@cache
def made_entries() -> Entries:
    return Entries.from_sparse(made())


def fit_path(threads: int) -> None:
    with limit_threads(threads):
        minimize(made_entries(), PATH_RANK, random_state=0)


@numba.njit(parallel=True, fastmath=True)
def _multiply_and_add(x, sums, times):
    for part in numba.prange(len(sums)):
        total = np.zeros(len(x), x.dtype)
        for _ in range(times):
            for i in range(len(x)):
                total[i] += x[i] * x[i]
        sums[part] = total.sum()


def run_loop(threads: int) -> None:
    numba.set_num_threads(threads)  # numba's own: the loop is not one of the project's kernels
    _multiply_and_add(np.ones(256, np.float32), np.empty(64, np.float32), LOOP_TIMES)


def fit_cmfrec(threads: int) -> None:
    from cmfrec import CMF

    model = CMF(k=PEER_FACTORS, niter=PEER_ROUNDS, nthreads=threads, verbose=False)
    model.fit(made().tocoo())


def fit_implicit(threads: int) -> None:
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(PEER_FACTORS, iterations=PEER_ROUNDS, num_threads=threads)
    model.fit(sp.csr_matrix(made()), show_progress=False)


FITS: dict[str, Callable[[int], Any]] = {
    "movielens": lambda threads: MatrixCompletion(n_jobs=threads, random_state=0).fit(movielens()),
    "draws": lambda threads: MatrixCompletion(n_jobs=threads, posterior=15, random_state=0).fit(
        movielens()
    ),
    "made": lambda threads: MatrixCompletion(n_jobs=threads, random_state=0).fit(made()),
    "path": fit_path,
    "loop": run_loop,
    "cmfrec": fit_cmfrec,
    "implicit": fit_implicit,
}


def _fit_alone(name: str, core: int, barrier: Any, turns: int, answers: Any) -> None:
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[core]})
    FITS[name](1)
    found = []
    for _ in range(turns):
        barrier.wait()
        found.append(measure(FITS[name], 1, 1))
    answers.put(found)


def measure_beside(name: str, processes: int, turns: int) -> float:
    """The mean seconds of one of so many processes that fit at once; the shortest of the turns."""
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(processes), context.SimpleQueue()
    given = (barrier, turns, answers)
    started = [
        context.Process(target=_fit_alone, args=(name, core, *given)) for core in range(processes)
    ]
    for process in started:
        process.start()
    found = [answers.get() for _ in started]
    for process in started:
        process.join()
    return float(np.min(np.mean(found, axis=0)))


def measure_kernels(fit: Callable[[int], Any], threads: int) -> dict[str, float]:
    """The seconds of each kernel in one fit; "rest" is what none of them took."""
    found: dict[str, float] = defaultdict(float)
    run = Kernel.run

    def timed_run(kernel: Kernel, arrays: tuple[Any, ...], threads: int) -> None:
        began = time.perf_counter()
        run(kernel, arrays, threads)
        found[kernel.compiled.__name__] += time.perf_counter() - began

    Kernel.run = timed_run  # type: ignore[method-assign]
    try:
        found["rest"] = measure(fit, threads, 1)
    finally:
        Kernel.run = run  # type: ignore[method-assign]
    found["rest"] -= sum(seconds for name, seconds in found.items() if name != "rest")
    return found


def show_kernels(name: str, few: int, most: int) -> None:
    one, many = (measure_kernels(FITS[name], count) for count in (few, most))
    print(f"  {name}: seconds with {few} and {most} threads")
    for kernel in sorted(one, key=one.__getitem__, reverse=True)[:KERNELS_SHOWN]:
        gain = one[kernel] / max(many[kernel], 1e-9)
        print(f"    {kernel:<24} {one[kernel]:8.3f} {many[kernel]:8.3f}  {gain:5.1f}", flush=True)


def measure(fit: Callable[[int], Any], threads: int, turns: int) -> float:
    """The shortest of several turns."""
    found = []
    for _ in range(turns):
        began = time.perf_counter()
        fit(threads)
        found.append(time.perf_counter() - began)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    most = os.cpu_count() or 1
    usual = [count for count in (1, 2, 4, 8, 16) if count <= most]
    parser.add_argument("--threads", type=int, nargs="+", default=usual)
    parser.add_argument("--fits", nargs="+", choices=FITS, default=list(FITS))
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--beside", nargs="*", choices=FITS, default=[], help="of these fits, too")
    parser.add_argument("--kernels", action="store_true", help="where the time goes, too")
    given = parser.parse_args()
    counts = [f"{count} |" for count in given.threads]
    print("| seconds with threads |", *counts, "times one | processes, times one |")
    print("| --- |" + " ---: |" * (len(given.threads) + 2))
    for name in given.fits:
        if name in PEERS and find_spec(name) is None:
            print(f"| {name} | not installed |")
            continue
        FITS[name](max(given.threads))
        found = [measure(FITS[name], count, given.turns) for count in given.threads]
        shown = " | ".join(f"{seconds:.2f}" for seconds in found)
        beside, most = "", max(given.threads)
        if name in given.beside:
            seconds = measure_beside(name, most, given.turns)
            beside = f"{seconds:.2f} s, {most * found[0] / seconds:.1f}"
        print(f"| {name} | {shown} | {found[0] / min(found):.1f} | {beside} |", flush=True)
        if given.kernels and name not in PEERS:
            show_kernels(name, min(given.threads), most)


if __name__ == "__main__":
    main()
