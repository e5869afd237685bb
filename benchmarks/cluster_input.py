"""Parquet files with text ids to a model on a cluster: seconds, and the memory of this process.

    python benchmarks/cluster_input.py [ROWS] [WORKERS]      10,000,000 rows, 2 workers by default

Needs pygeco[dask,files]. The files are made by other processes, part by part, the same each time.
Workers are processes with one thread. The peak is this process's own, from the system (VmHWM).
"""

from __future__ import annotations

import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PART = 500_000
ITEMS = 20_000
RANK = 10


def made(folder: Path, rows: int, part: int) -> None:
    """Cells number part · PART and on: places of an m × n table by a walk that meets each once."""
    users = max(1000, rows // 50)
    t = np.arange(part * PART, min(rows, (part + 1) * PART), dtype=np.uint64)
    size = users * ITEMS
    cell = ((t * np.uint64(_stride(size)) + np.uint64(12345)) % np.uint64(size)).astype(np.int64)
    i, j = cell // ITEMS, cell % ITEMS
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((users, 4), np.float32), rng.standard_normal((ITEMS, 4), np.float32)
    noise = np.random.default_rng([1, part]).standard_normal(len(t))
    stars = 3.5 + 0.4 * np.einsum("tk,tk->t", U[i], V[j]) + 0.5 * noise
    table = pa.table(
        {
            "user": [f"user-{k * 7919 % users:09d}" for k in i.tolist()],
            "item": [f"item/{k:06d}" for k in j.tolist()],
            "rating": np.clip(np.round(2 * stars) / 2, 1, 5).astype(np.float32),
        }
    )
    pq.write_table(table, folder / f"part-{part:05d}.parquet")


def _stride(size: int) -> int:
    """About size / golden ratio, without a divisor in common with it."""
    stride = int(size / 1.6180339887)
    while np.gcd(stride, size) != 1:
        stride += 1
    return stride


def peak() -> float:
    """The largest resident memory of this process so far, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3


def fitted(folder: Path, model_file: Path, workers: int) -> None:
    """Each step of the way, with its seconds and the memory of this process so far."""
    from pygeco import MatrixCompletion, load
    from pygeco.engines.dask.cluster import start_cluster
    from pygeco.io.partitioned import read_partitioned

    print(f"{'':28}{'seconds':>9}{'client, MB':>12}")

    def tell(what: str, began: float) -> None:
        print(f"{what:28}{time.perf_counter() - began:9.1f}{peak():12.0f}", flush=True)

    began = time.perf_counter()
    with start_cluster(workers=workers) as client:
        tell("workers started", began)
        began = time.perf_counter()
        found = read_partitioned(folder, client)
        tell("files to slabs", began)
        began = time.perf_counter()
        model = MatrixCompletion(RANK, engine="dask", random_state=0).fit(found)
        tell(f"fitted, rank {model.rank_}", began)
        users = model.row_ids_[np.arange(0, len(model.row_ids_), len(model.row_ids_) // 1000)]
        began = time.perf_counter()
        model.recommend(users, 10)
        tell(f"{len(users)} users, 10 items each", began)
        began = time.perf_counter()
        model.save(model_file)
        tell(f"saved, {model_file.stat().st_size / 1e6:.0f} MB", began)
    print(found.found)
    print(f"users {len(found.row_ids):,}, items {len(found.column_ids):,}", end="; ")
    print(f"the file has rank {load(model_file, mmap=True).rank_}")


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "ratings"
        folder.mkdir()
        parts = range(-(-rows // PART))
        began = time.perf_counter()
        with get_context("spawn").Pool(2) as pool:
            pool.starmap(made, [(folder, rows, part) for part in parts])
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        print(f"made {len(parts)} files, {size:.0f} MB, in {time.perf_counter() - began:.1f} s")
        fitted(folder, Path(work) / "model.geco", workers)


if __name__ == "__main__":
    main()
