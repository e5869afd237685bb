"""A look at the machine: what is installed, what is used, how fast the passes are."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_info

from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.engines.cpu import health
from pygeco.engines.cpu.threads import each
from pygeco.objectives import Entries

NEEDED = ("numpy", "scipy", "scikit-learn", "numba", "llvmlite", "threadpoolctl")
# Packages that are optional, and the extra that brings each.
EXTRAS = {
    "typer": "cli",
    "pyarrow": "files",
    "matplotlib": "plot",
    "jinja2": "report",
    "av": "video",
}
CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x", "cupy")


class Speeds(NamedTuple):
    """Gigabytes a second of a matvec and of a plain read; gigaflops of a sweep and of sgemm."""

    matvec: float
    read: float
    sweep: float
    sgemm: float


class Gpu(NamedTuple):
    """The graphics processors that the driver names, and the CuPy that is installed."""

    devices: list[str]
    cupy: str | None


def versions() -> dict[str, str | None]:
    """What is installed; None for what is not."""
    named = ("pygeco", *NEEDED, *EXTRAS)
    return {"python": platform.python_version()} | {name: _version(name) for name in named}


def load() -> float:
    """How many processes wanted a core in the last minute, on average; 0 where nobody counts."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def blas() -> list[str]:
    """The linear-algebra libraries that are loaded, with their threads."""
    return [
        f"{one['internal_api']} {one['version'] or ''}, {one['num_threads']} threads".replace(
            " ,", ","
        )
        for one in threadpool_info()
        if one["user_api"] == "blas"
    ]


def gpu() -> Gpu:
    """The graphics processors that the driver names, and the CuPy that is installed."""
    tool = shutil.which("nvidia-smi")
    devices: list[str] = []
    if tool is not None:
        query = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader"]
        done = subprocess.run(query, capture_output=True, text=True, check=False, timeout=20)
        devices = done.stdout.strip().splitlines() if done.returncode == 0 else []
    found = {name: _version(name) for name in CUPY}
    return Gpu(devices, next((v for v in found.values() if v), None))


def speeds(cells: int = 3_000_000, s: int = 32) -> Speeds:
    """Measured on made-up cells that do not fit a cache; the best of a few runs each."""
    entries = _cells(cells)
    m, n = entries.shape
    rng = stream(Purpose.SPEED)
    gradient = entries.gradient(LowRank.zero(entries.shape))
    x = rng.standard_normal(n).astype(np.float32)
    U, V = (rng.standard_normal((size, s)).astype(np.float32) for size in (m, n))
    block = rng.standard_normal((1024, 1024)).astype(np.float32)
    long = np.ones(16 * cells, np.float32)
    parts = np.array_split(long, 64)
    return Speeds(
        matvec=8e-9 * entries.size / _best(lambda: gradient.matvec(x)),
        read=1e-9 * long.nbytes / _best(lambda: each(lambda k: _read(parts[k]), 64)),
        sweep=1e-9 * entries.size * s**2 / _best(lambda: _half_sweep(entries, V, U), 2),
        sgemm=2e-9 * 1024**3 / _best(lambda: block @ block),
    )


def _cells(count: int) -> Entries:
    """About this many cells, 400 a row, spread over the columns."""
    m, n, each_row = max(1, count // 400), 5_003, 400
    rng = stream(Purpose.SPEED)
    rows = np.repeat(np.arange(m, dtype=np.int32), each_row)
    # 5,003 is prime, so that steps of any size meet no column twice.
    start, step = rng.integers(0, n, m), rng.integers(1, n, m)
    cols = (np.repeat(start, each_row) + np.repeat(step, each_row) * np.tile(np.arange(400), m)) % n
    values = rng.standard_normal(len(rows)).astype(np.float32)
    return Entries(rows, cols.astype(np.int32), values, (m, n))


def _half_sweep(entries: Entries, fixed: Array, start: Array) -> None:
    with one_blas_thread():
        entries.half_sweep(fixed, start, side="row", ridge=1e-3)


def _read(part: Array) -> None:
    part.sum()


def _best(work: Callable[[], object], repeats: int = 5) -> float:
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def advice(
    found: dict[str, str | None],
    used: int,
    available: int,
    cache: health.Cache,
    devices: Gpu,
    load: float = 0.0,
) -> list[str]:
    """What to fix, a sentence each."""
    said = []
    if load > 1.5 * available:
        said.append(
            f"Other programs keep this machine busy (load {load:.1f} on {available} cores): the "
            "speeds above are lower than its own."
        )
    if used < available:
        said.append(
            f"The kernels use {used} of {available} cores: unset NUMBA_NUM_THREADS or raise it."
        )
    if not cache.writable:
        said.append(
            f"Compiled kernels cannot be kept in {cache.folder or 'their folder'}: set "
            "NUMBA_CACHE_DIR to a folder that you may write to, or every start compiles again."
        )
    elif cache.misses:
        said.append(
            f"{cache.misses} kernels were compiled just now and kept; run geco doctor again, and "
            "it should find them. If it never does, set NUMBA_CACHE_DIR to a folder of your own."
        )
    if devices.devices and devices.cupy is None:
        said.append("There is a GPU, but no CuPy: pip install cupy-cuda12x (as your driver says).")
    missing = [(name, extra) for name, extra in EXTRAS.items() if found[name] is None]
    said += [f"No {name}: pip install 'pygeco[{extra}]' brings it." for name, extra in missing]
    return said


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
