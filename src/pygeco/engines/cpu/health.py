"""What numba has compiled for this machine, and where it is kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from pygeco.engines.cpu import products, sweep

# The kernels that a matvec, a half-sweep and the grouping of cells run.
KERNELS = (
    products.put_triplets,
    products.put_transposed,
    products.matvec,
    products.residuals,
    sweep.half_sweep,
)


class Cache(NamedTuple):
    """Where compiled kernels are kept, and how many were found there by this process."""

    folder: str
    writable: bool
    megabytes: float
    hits: int
    misses: int


def cache() -> Cache:
    """The state of the kernels' cache; call it after some of them have run."""
    stats = [kernel.stats for kernel in KERNELS]
    folder = Path(stats[0].cache_path or "")
    files = [*folder.glob("*.nbc"), *folder.glob("*.nbi")] if folder.is_dir() else []
    return Cache(
        str(folder),
        os.access(folder, os.W_OK),
        sum(file.stat().st_size for file in files) / 2**20,
        sum(sum(one.cache_hits.values()) for one in stats),
        sum(sum(one.cache_misses.values()) for one in stats),
    )
