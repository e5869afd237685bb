"""Clicks: sweeps of `alternate` beside those of other packages, at the same objective.

    python benchmarks/clicks.py speed             10⁷ clicks, 64, 128 and 256 factors
    python benchmarks/clicks.py speed --clicks 1e6 --factors 64
    python benchmarks/clicks.py recommend         lists of 20 for 31,668 × 38,048, 256 factors
    python benchmarks/clicks.py recommend --yelp  the same of Yelp2018, found through PYGECO_DATA
    python benchmarks/clicks.py memory            10⁶ × 10⁶ with 10⁷ clicks, a path of rank 5
    python benchmarks/clicks.py gpu --clicks 1e8 --factors 128     sweeps on the GPU

Packages that are not installed are skipped. Sweeps of all packages alternate in one process and the
least of a few turns counts: compare within one run only.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp

from pygeco import Clicks, LowRank, Solver, data, minimize
from pygeco.algorithm.alternation import alternate
from pygeco.models import Seen
from pygeco.models.scoring import FactorScorer, list_best

SHAPE = (350_000, 300_000)
CONFIDENCE, RIDGE = 10.0, 5.0  # of a click; of both sides' vectors


def make_clicks(shape: tuple[int, int], count: float, seed: int = 0) -> sp.csr_array:
    """Clicks whose numbers by row and by column have heavy tails, in groups of like taste."""
    rng = np.random.default_rng(seed)
    m, n = shape
    tastes = 50
    taste_of_column = rng.integers(0, tastes, n)
    rows = draw(rng, np.exp(1.2 * rng.standard_normal(m)), int(1.25 * count))
    own = rng.integers(0, tastes, m)[rows]
    popular = np.exp(1.7 * rng.standard_normal(n))
    cols = draw(rng, popular, len(rows))
    for taste in range(tastes):  # two of three clicks are of the row's own taste
        mine = np.flatnonzero((own == taste) & (rng.random(len(rows)) < 0.67))
        members = np.flatnonzero(taste_of_column == taste)
        cols[mine] = members[draw(rng, popular[members], len(mine))]
    cells = np.unique(rows.astype(np.int64) * n + cols)
    cells = np.sort(rng.permutation(cells)[: int(count)])
    data = np.ones(len(cells), np.float32)
    return sp.csr_array((data, (cells // n, cells % n)), shape)


def draw(rng: np.random.Generator, weights: np.ndarray, count: int) -> np.ndarray:
    ends = np.cumsum(weights)
    return np.searchsorted(ends, rng.random(count) * ends[-1]).astype(np.int64)


Sweeps = Callable[[int], tuple[list[float], np.ndarray, np.ndarray]]  # seconds each, factors


def sweeps_of_pygeco(X: sp.csr_array, objective: Clicks, factors: int) -> Sweeps:
    def run(count: int) -> tuple[list[float], np.ndarray, np.ndarray]:
        ends: list[float] = []
        ridge = RIDGE / objective.total_weight
        found = alternate(
            objective,
            factors,
            row_ridge=ridge,
            column_ridge=ridge,
            n_sweeps=count,
            random_state=0,
            callback=lambda turn: ends.append(turn.seconds),
        )
        return np.diff([0.0, *ends]).tolist(), found.U, found.V

    return run


def sweeps_of_implicit(X: sp.csr_array, objective: Clicks, factors: int) -> Sweeps:
    from implicit.als import AlternatingLeastSquares

    given = sp.csr_matrix(X)

    def run(count: int) -> tuple[list[float], np.ndarray, np.ndarray]:
        seconds: list[float] = []
        model = AlternatingLeastSquares(
            factors=factors,
            regularization=RIDGE,
            alpha=CONFIDENCE,
            iterations=count,
            use_gpu=False,
            random_state=0,
        )
        model.fit(
            given, show_progress=False, callback=lambda turn, took, loss: seconds.append(took)
        )
        return seconds, model.user_factors, model.item_factors

    return run


PACKAGES = {"pygeco": sweeps_of_pygeco, "implicit": sweeps_of_implicit}


def measure(objective: Clicks, U: np.ndarray, V: np.ndarray) -> float:
    held = RIDGE / objective.total_weight * float(np.sum(U * U) + np.sum(V * V))
    return objective.value(LowRank.product(U.astype(float), V.astype(float))) + held


def speed(plan: argparse.Namespace) -> None:
    X = make_clicks(SHAPE, plan.clicks)
    rows, cols = (np.sort(np.diff(Y.indptr))[::-1] for Y in (X, X.tocsc()))
    for name, counts in (("row", rows), ("column", cols)):
        print(f"clicks a {name}: median {np.median(counts):.0f}, mean {counts.mean():.1f}, "
              f"most {counts[0]}")  # fmt: skip
    c = CONFIDENCE
    objective = Clicks(((c - 1) * X).astype(np.float32), background=1.0, targets=c / (c - 1))
    installed = {name: make for name, make in PACKAGES.items() if importlib.util.find_spec(name)}
    for factors in plan.factors:
        runs = {name: make(X, objective, factors) for name, make in installed.items()}
        least, values = dict.fromkeys(runs, np.inf), dict.fromkeys(runs, np.inf)
        for _ in range(plan.turns):
            for name, run in runs.items():
                seconds, U, V = run(plan.sweeps)
                least[name], values[name] = min(least[name], *seconds), measure(objective, U, V)
        for name in runs:
            print(
                f"{factors:4} factors  {name:9} {least[name]:7.2f} s a sweep, objective after "
                f"{plan.sweeps}: {values[name]:.6f}",
                flush=True,
            )
        if len(least) > 1:
            print(f"     ratio {least['pygeco'] / least['implicit']:.2f}, wanted at most 0.50")


def memory(plan: argparse.Namespace) -> None:
    X = make_clicks((1_000_000, 1_000_000), plan.clicks)
    began = time.perf_counter()
    objective = Clicks(X, background=0.01)
    size = X.nnz
    del X
    path = minimize(objective, 5, Solver(), random_state=0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{size} clicks: rank {path.A.rank} in {time.perf_counter() - began:.1f} s, peak {peak:.2f}"
        " GiB, wanted at most 3"
    )


def gpu(plan: argparse.Namespace) -> None:
    X = make_clicks((1_000_000, 500_000), plan.clicks)
    objective = Clicks(X, background=0.1, engine="cuda")
    for factors in plan.factors:
        seconds, *_ = sweeps_of_pygeco(X, objective, factors)(plan.sweeps + 1)
        print(f"{X.nnz} clicks, {factors} factors: {min(seconds[1:]):.2f} s a sweep on the GPU")


def recommend(plan: argparse.Namespace) -> None:
    """Lists of 20 for all rows, seen columns left out, of factors fitted to clicks; and of random
    ones, by whose lengths no column can be left out. The clicks are Yelp2018's, or made ones of
    its shape.
    """
    if plan.yelp:
        X = sp.csr_matrix(data.load_clicks("yelp2018").train.astype(np.float32))
    else:
        X = sp.csr_matrix(make_clicks((31_668, 38_048), 1_237_000))
    rows, factors = np.arange(X.shape[0]), max(plan.factors)
    objective = Clicks(X, background=0.1)
    ridge = RIDGE / objective.total_weight
    settings = {"row_ridge": ridge, "column_ridge": ridge, "n_sweeps": 3, "random_state": 0}
    found = alternate(objective, factors, **settings)
    rng = np.random.default_rng(0)
    noise = (rng.standard_normal((size, factors)).astype(np.float32) for size in X.shape)
    for name, (U, V) in {"fitted": (found.U, found.V), "random": tuple(noise)}.items():
        U, V = (np.ascontiguousarray(side, dtype=np.float32) for side in (U, V))
        runs = {"pygeco": list_by_pygeco(X, U, V)}
        if importlib.util.find_spec("implicit"):
            runs["implicit"] = list_by_implicit(X, U, V)
        least = {package: [np.inf, np.inf] for package in runs}
        for run in runs.values():
            run(rows[:2048])  # compiled, and in memory
        for _ in range(plan.turns):
            for package, run in runs.items():
                wall, cpu = time.perf_counter(), time.process_time()
                run(rows)
                took = time.perf_counter() - wall, time.process_time() - cpu
                least[package] = [min(pair) for pair in zip(least[package], took, strict=True)]
        for package, (wall, cpu) in least.items():
            print(f"{name} factors, {factors}: {package:9} {wall:6.2f} s, {cpu:6.2f} CPU s")
        if len(least) > 1:
            ratio = [a / b for a, b in zip(least["pygeco"], least["implicit"], strict=True)]
            print(f"     ratio {ratio[0]:.2f}, of CPU seconds {ratio[1]:.2f}; wanted 0.33, fitted")


def list_by_pygeco(X: sp.csr_matrix, U: np.ndarray, V: np.ndarray) -> Callable[..., object]:
    scorer, seen = FactorScorer(U, V), Seen(X.indptr.astype(np.int64), X.indices, X.data)
    return lambda rows: list_best(scorer, rows, 20, hidden=(seen,))


def list_by_implicit(X: sp.csr_matrix, U: np.ndarray, V: np.ndarray) -> Callable[..., object]:
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(factors=U.shape[1], use_gpu=False)
    model.user_factors, model.item_factors = U, V
    return lambda rows: model.recommend(rows, X[rows], N=20)


SECTIONS = {"speed": speed, "recommend": recommend, "memory": memory, "gpu": gpu}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--clicks", type=float, default=1e7)
    parser.add_argument("--factors", type=int, nargs="+", default=[64, 128, 256])
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--yelp", action="store_true")
    parser.add_argument("--sweeps", type=int, default=2)
    plan = parser.parse_args()
    unknown = set(plan.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"unknown section {unknown.pop()!r}; there are {', '.join(SECTIONS)}")
    for section in plan.sections or ["speed"]:
        SECTIONS[section](plan)


if __name__ == "__main__":
    main()
