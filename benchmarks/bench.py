"""Growth, the paper's experiment, and start-up, as short tables and as JSON in benchmarks/out/.

    python benchmarks/bench.py                     every section
    python benchmarks/bench.py growth movielens    some of growth, movielens, startup

Sections that read MovieLens find it through PYGECO_DATA and are skipped without it. Compare
figures of one run only: machines and their load differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from pygeco import Entries, MatrixCompletion, Solver, minimize
from pygeco.data import Ratings, load_movielens, make_ratings

OUT = Path(__file__).parent / "out"
# |E| and the shapes of MovieLens-100K, 1M and 10M, with two sizes between them.
SIZES = [
    (100_000, (943, 1_682)),
    (316_000, (2_390, 2_500)),
    (1_000_000, (6_040, 3_706)),
    (3_160_000, (20_500, 6_290)),
    (10_000_000, (69_878, 10_677)),
]


def growth() -> dict[str, Any]:
    """Seconds per rank against |E| on synthetic ratings, and the fitted exponent."""
    print("growth: seconds per rank, ranks 1 to 10, full cores")
    print(f"{'cells':>11} {'shape':>16} {'seconds/rank':>13} {'ns/cell':>8}")
    solver = Solver(correction="core")
    minimize(Entries(*make_ratings((60, 40), 1_000)), 2, solver, random_state=0)
    rows = []
    for cells, shape in SIZES:
        entries = Entries(*make_ratings(shape, cells))
        repeats = 5 if cells <= 1_000_000 else 2
        seconds = min(_timed(entries, solver) for _ in range(repeats)) / 10
        rows.append({"cells": cells, "shape": shape, "seconds_per_rank": seconds})
        name = f"{shape[0]:,} × {shape[1]:,}"
        print(f"{cells:>11,} {name:>16} {seconds:>13.4f} {1e9 * seconds / cells:>8.1f}", flush=True)
    log = np.log([[row["cells"], row["seconds_per_rank"]] for row in rows])
    exponent = float(np.polyfit(log[:, 0], log[:, 1], 1)[0])
    print(f"exponent {exponent:.2f} (at most 1.10 wanted)\n")
    return {"rows": rows, "exponent": exponent}


def _timed(entries: Entries, solver: Solver) -> float:
    began = time.perf_counter()
    minimize(entries, 10, solver, random_state=0)
    return time.perf_counter() - began


def movielens() -> dict[str, Any] | None:
    """The paper's figure for MovieLens-1M: RMSE at ranks 1 to 10 for three seeds, and its cost.

    Beside it, the model that needs no argument.
    """
    ratings = _ratings("ml-1m")
    if ratings is None:
        return None
    rows, cols, values, shape = ratings.cells(~ratings.test)
    entries = Entries(rows, cols, values, shape)
    matrix = sp.csr_array((values.astype(float), (rows, cols)), shape)
    minimize(entries, 1, Solver.paper(), random_state=0)
    found = []
    for seed in (0, 1, 2):
        products = _products(matrix)
        path = minimize(entries, 10, Solver.paper(), random_state=seed)
        products = 0.5 * (products + _products(matrix))
        held = ratings.cells(ratings.test)
        errors = [np.sqrt(np.mean((t.A.entries(*held[:2]) - held[2]) ** 2)) for t in path]
        found.append(
            {
                "seed": seed,
                "train": [t.objective**0.5 for t in path],
                "test": [float(e) for e in errors],
                "seconds": path[-1].seconds,
                "products": products,
                "ratio": path[-1].seconds / products,
            }
        )
    _show_movielens(found)
    MatrixCompletion(random_state=0).fit(make_ratings((60, 40), 1_000))
    began = time.perf_counter()
    model = MatrixCompletion(random_state=0).fit((rows, cols, values, shape))
    seconds, error = time.perf_counter() - began, -model.score(ratings.cells(ratings.test))
    print(f"MatrixCompletion(): test RMSE {error:.4f}, rank {model.rank_}, {seconds:.1f} s\n")
    return {"seeds": found, "default": {"test": error, "rank": model.rank_, "seconds": seconds}}


def _products(matrix: sp.csr_array) -> float:
    """Seconds for 2,000 products with scipy's CSR on one core."""
    x = np.ones(matrix.shape[1])
    began = time.perf_counter()
    for _ in range(2_000):
        matrix @ x
    return time.perf_counter() - began


def _show_movielens(found: list[dict[str, Any]]) -> None:
    print("movielens: ML-1M, random 90/10, raw ratings, Solver.paper(); RMSE on train | test")
    print("rank  " + "  ".join(f"   seed {t['seed']}     " for t in found))
    for k in range(10):
        cells = "  ".join(f"{t['train'][k]:.4f} | {t['test'][k]:.4f}" for t in found)
        print(f"{k + 1:4d}  {cells}")
    for t in found:
        print(
            f"seed {t['seed']}: {t['seconds']:.2f} s, 2,000 CSR products {t['products']:.2f} s, "
            f"ratio {t['ratio']:.1f} (at most 8 wanted)"
        )


FIRST_FIT = """
import time; began = time.perf_counter()
import pygeco
from pygeco.data import load_movielens, make_ratings
try:
    ratings = load_movielens("ml-100k")
    X = (ratings.rows, ratings.cols, ratings.values, ratings.shape)
except FileNotFoundError:
    X = make_ratings((943, 1682), 100_000)
pygeco.MatrixCompletion({settings}).fit(X)
print(time.perf_counter() - began)
"""
FITS = {
    "MatrixCompletion()": "random_state=0",
    "Solver.paper()": "10, solver=pygeco.Solver.paper()",
}


def startup() -> dict[str, Any]:
    """Import, the first fit ever (nothing compiled) and the second process, on MovieLens-100K."""
    imports = [
        _python(
            "import time; t = time.perf_counter(); import pygeco; print(time.perf_counter() - t)"
        )
        for _ in range(5)
    ]
    result: dict[str, Any] = {"import": statistics.median(imports)}
    print(f"startup: import pygeco {result['import']:.2f} s (under 1 wanted)")
    for name, settings in FITS.items():
        code = FIRST_FIT.format(settings=settings)
        with tempfile.TemporaryDirectory() as empty:
            first, second = (_python(code, NUMBA_CACHE_DIR=empty) for _ in range(2))
        result[name] = {"first": first, "second": second}
        print(
            f"ML-100K, {name}: first fit ever {first:.1f} s (under 20 wanted), "
            f"second process {second:.2f} s (under 3 wanted)"
        )
    print()
    return result


def _python(code: str, **environment: str) -> float:
    """The number that a fresh Python prints."""
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout)


def _ratings(name: str) -> Ratings | None:
    try:
        return load_movielens(name)
    except FileNotFoundError as error:
        print(f"skipped: {error}\n")
        return None


SECTIONS: dict[str, Callable[[], dict[str, Any] | None]] = {
    "growth": growth,
    "movielens": movielens,
    "startup": startup,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Print pygeco's benchmark tables.")
    parser.add_argument(
        "sections", nargs="*", metavar="section", help=f"any of {', '.join(SECTIONS)}"
    )
    chosen = parser.parse_args().sections or list(SECTIONS)
    unknown = [name for name in chosen if name not in SECTIONS]
    if unknown:
        parser.error(f"unknown section {unknown[0]!r}; use any of {', '.join(SECTIONS)}")
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}\n")
    OUT.mkdir(exist_ok=True)
    for name in chosen:
        result = SECTIONS[name]()
        if result is not None:
            (OUT / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
