"""The first impression: import, the first fit ever, and the first fit of the second process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from sections.measuring import Line, Plan, Took, show

IMPORTS = 3
# Each prints its seconds on the clock and of all cores.
IMPORT = """
import time; wall, cpu = time.perf_counter(), time.process_time()
import pygeco
print(time.perf_counter() - wall, time.process_time() - cpu)
"""
FIRST_FIT = """
import time; wall, cpu = time.perf_counter(), time.process_time()
import pygeco
from pygeco.data import load_movielens, make_ratings
try:
    ratings = load_movielens("ml-100k", download=False)
    X = (ratings.rows, ratings.cols, ratings.values, ratings.shape)
except FileNotFoundError:
    X = make_ratings({shape}, {cells})
pygeco.MatrixCompletion({settings}).fit(X)
print(time.perf_counter() - wall, time.process_time() - cpu)
"""
FITS = {
    "MatrixCompletion()": "random_state=0",
    "Solver.paper()": "10, solver=pygeco.Solver.paper()",
}


def startup(plan: Plan) -> list[Line]:
    """MovieLens-100K, or made ratings of its size; by the wall clock, as people feel it."""
    took = sorted(_python(IMPORT) for _ in range(IMPORTS))[IMPORTS // 2]
    lines = [Line("import pygeco", took, took.wall, "s", 1.0)]
    cells, shape = plan.first
    for name, settings in FITS.items():
        code = FIRST_FIT.format(settings=settings, cells=cells, shape=shape)
        with tempfile.TemporaryDirectory() as empty:
            cache = {"NUMBA_CACHE_DIR": empty} if plan.cold else {}
            first, second = (_python(code, **cache) for _ in range(2))
        lines.append(Line(f"{name}, first fit ever", first, first.wall, "s", 20.0))
        lines.append(Line(f"{name}, second process", second, second.wall, "s", 3.0))
    return show("startup: processes of their own, ML-100K or its size", lines)


def _python(code: str, **environment: str) -> Took:
    """The seconds that a fresh Python prints."""
    command, known = [sys.executable, "-c", code], os.environ | environment
    run = subprocess.run(command, env=known, capture_output=True, text=True, check=True)
    return Took(*map(float, run.stdout.split()))
