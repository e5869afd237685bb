"""Compile the largest kernels, each once: the tests' own processes then find them on the disk.

Without that, every process that needs one before another has kept it compiles it for itself. The
same holds for the files of the tests, in which pytest rewrites the asserts.
"""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from pygeco import Entries, ImplicitCompletion, MatrixCompletion
from pygeco.cli.warming import plan_fits
from pygeco.data import make_ratings
from pygeco.engines.cpu.largest import find_largest_products
from pygeco.engines.dask import sweeps
from pygeco.engines.values import Largest, Ridges


def compile_for(dtype: str) -> None:
    """What `geco doctor --warm` compiles, in one precision, and the columns of a cluster."""
    gc.disable()  # a tenth of the time, and the process ends soon
    for name, fit in plan_fits():
        if name.endswith(dtype):
            fit()
    rows, cols, values, shape = make_ratings((60, 40), 1_000)
    entries = Entries(rows, cols, values.astype(dtype), shape)
    columns(entries, np.ones((60, 2), dtype), np.ones((40, 2), dtype))


def columns(entries: Entries, fixed: np.ndarray, start: np.ndarray) -> None:
    """The systems of columns, as the workers of a cluster sum and solve them."""
    tables = sweeps.column_tables(entries.by_col, fixed, None, None, None, False)
    n, s = start.shape
    ridges = Ridges(
        fixed, None, None, None, np.ones(n), np.eye(s), np.zeros(s), 1.0, 0.0, None, False
    )
    rest = {k: v for k, v in ridges._asdict().items() if k not in sweeps.PARTNER}
    sweeps.solve_columns(tables, start, rest, False, False)


def compile_lists() -> None:
    """A model of clicks, and lists for many rows."""
    gc.disable()
    cells = make_ratings((60, 40), 1_000)
    ImplicitCompletion(2, share=0.5, random_state=0).fit(cells[:2]).recommend([0], 3)
    MatrixCompletion(2, random_state=0).fit(cells).recommend(np.arange(60), 5)
    left, right = np.ones((2, 2), np.float32), np.ones((9, 2), np.float32)
    hidden = (np.array([0, 1, 2]), np.array([0, 1], np.int32))
    find_largest_products(Largest(left, right, np.arange(2), (hidden,), None, 3))


def rewrite_asserts() -> None:
    """What pytest makes of the files of tests, where it looks for it. Its names are its own."""
    from _pytest.assertion import rewrite

    config: Any = SimpleNamespace(getini=lambda name: False)
    state: Any = SimpleNamespace(trace=print)
    folder = Path(__file__).parent.absolute()
    for file in (*folder.rglob("test_*.py"), *folder.rglob("conftest.py")):
        kept = rewrite.get_cache_dir(file)
        kept.mkdir(parents=True, exist_ok=True)
        stamp, code = rewrite._rewrite_test(file, config)
        rewrite._write_pyc(state, code, stamp, kept / (file.stem + rewrite.PYC_TAIL))


def main() -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        jobs = [pool.submit(compile_for, dtype) for dtype in ("float32", "float64")]
        jobs += [pool.submit(job) for job in (compile_lists, rewrite_asserts)]
        for job in jobs:
            job.result()


if __name__ == "__main__":
    sys.exit(main())
