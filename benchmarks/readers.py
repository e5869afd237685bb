"""Rating files to a model-ready matrix: seconds and rows a second, for each format.

    python benchmarks/readers.py [ROWS]      10,000,000 by default; needs pygeco[files]

Model-ready: ids coded, cells in both orders (`Entries`). The size is MovieLens-10M's, made here.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import scipy.io

from pygeco import Entries
from pygeco.data import read_ratings
from pygeco.engines.cpu.threads import get_num_threads
from pygeco.estimators._recognize import take_cells
from pygeco.io.matrix_market import read_market
from pygeco.io.writers import write_table

USERS, ITEMS = 69_878, 10_677


def ratings(rows: int) -> pa.Table:
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(USERS * ITEMS, size=int(1.02 * rows)))
    keys = rng.permutation(keys)[:rows]
    return pa.table(
        {
            "userId": keys // ITEMS + 1,
            "movieId": keys % ITEMS + 1,
            "rating": rng.integers(1, 11, len(keys)) / 2,
            "timestamp": rng.integers(8 * 10**8, 12 * 10**8, len(keys)),
        }
    )


def doubled(table: pa.Table, path: Path) -> None:
    """MovieLens' own form."""
    write_table(table, path.with_suffix(".csv"))
    text = path.with_suffix(".csv").read_bytes().partition(b"\n")[2]
    path.write_bytes(text.replace(b",", b"::"))


def texts(table: pa.Table, path: Path) -> None:
    """Ids that are words."""
    for k, name in ((0, "userId"), (1, "movieId")):
        words = pa.compute.binary_join_element_wise("id", table.column(k).cast("string"), "-")
        table = table.set_column(k, name, words)
    write_table(table, path)


def market(table: pa.Table, path: Path) -> None:
    """Matrix Market's form, in the order of the rows."""
    columns = [table.column(k).to_numpy() for k in range(3)]
    shape = f"{USERS} {ITEMS} {table.num_rows}"
    head = f"%%MatrixMarket matrix coordinate real general\n{shape}"
    np.savetxt(path, np.column_stack(columns), fmt="%d %d %g", header=head, comments="")


def compare_market(path: Path) -> str:
    """Seconds of the processor for the cells of a file, here and by SciPy, the least of three."""

    def here() -> None:
        with path.open("rb") as file:
            read_market(file)

    def spent(read: Callable[[], object]) -> float:
        began = time.process_time()
        read()
        return time.process_time() - began

    ours, theirs = (
        min(spent(read) for _ in range(3)) for read in (here, lambda: scipy.io.mmread(path))
    )
    return f"{'':15} cells alone: {ours:.2f}, by SciPy {theirs:.2f}; ratio {ours / theirs:.2f}"


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    made, small = ratings(rows), ratings(1000)
    formats: dict[str, Callable[[pa.Table, Path], None]] = {
        "ratings.csv": write_table,
        "ratings.csv.gz": write_table,
        "ratings.csv.zst": write_table,
        "ratings.dat": doubled,
        "words.csv": texts,
        "ratings.jsonl": write_table,
        "ratings.arrow": write_table,
        "ratings.parquet": write_table,
        "ratings.mtx": market,
    }
    threads = f"{os.cpu_count()} cores, {get_num_threads()} threads"
    print(f"{made.num_rows:,} rows, {threads}")
    print("seconds on the clock: read, code, order, all; of the processor; million rows a second")
    with tempfile.TemporaryDirectory() as folder:
        for name, write in formats.items():
            path = Path(folder) / name
            write(small, path)
            measured(path)  # compiled and imported before the clock starts
            write(made, path)
            print(line(name, path, made.num_rows), flush=True)
            if name.endswith(".mtx"):
                print(compare_market(path), flush=True)
            path.unlink()


def measured(path: Path) -> list[float]:
    """The times at the start and after reading, coding ids, and ordering cells."""
    times = [time.perf_counter()]
    table = read_ratings(path).table
    times.append(time.perf_counter())
    cells = take_cells(table).X
    times.append(time.perf_counter())
    Entries(*cells)
    times.append(time.perf_counter())
    return times


def line(name: str, path: Path, rows: int) -> str:
    began = time.process_time()
    parts = np.diff(measured(path))
    worked, total = time.process_time() - began, parts.sum()
    shown = "  ".join(f"{part:5.2f}" for part in (*parts, total, worked, rows / total / 1e6))
    return f"{name:15} {path.stat().st_size / 1e6:4.0f} MB  {shown}"


if __name__ == "__main__":
    main()
