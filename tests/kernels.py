"""Compile the largest kernels, each once: the tests' own processes then find them on the disk.

Without that, every process that needs one before another has kept it compiles it for itself.
"""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from pygeco import Entries
from pygeco.cli.warming import plan_fits
from pygeco.data import make_ratings
from pygeco.engines.dask import sweeps
from pygeco.engines.values import Ridges


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


def main() -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for _ in pool.map(compile_for, ("float32", "float64")):
            pass


if __name__ == "__main__":
    sys.exit(main())
