"""Where passes over the data run. The solver never asks which engine it is on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any

from threadpoolctl import threadpool_limits

from pygeco.arrays.kinds import kind
from pygeco.engines.protocol import Cells, Engine, Table

__all__ = [
    "NOTICES",
    "Cells",
    "Engine",
    "Table",
    "chosen",
    "limit_threads",
    "on_cluster",
    "placed",
    "session",
    "spread",
]

# OpenMP threads that spin while they wait starve each other where cores are shared: a product of
# 10 µs then takes a scheduler's slice, 12 ms. OpenMP reads this when numba starts its threads.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Where each engine is: imported when chosen.
ENGINES = {
    "cpu": "pygeco.engines.cpu.engine",
    "cuda": "pygeco.engines.cuda.engine",
    "dask": "pygeco.engines.dask",
}
# What may be said on standard error; a program that shows its own progress says false.
NOTICES = {"compiling": True}
# The engine for the arrays of a package.
KINDS = {"cupy": "cuda"}


@contextmanager
def session(work: Any) -> Iterator[None]:
    """What holds while an objective is minimised: BLAS on one thread, for the same bits on any
    machine, and the engine's own session.
    """
    with threadpool_limits(1, "blas"), chosen(None, kind(work)).session():
        yield


def chosen(engine: str | Engine | None, *data: Any) -> Engine:
    """The engine of this name; by default that of the data's own arrays, "cpu" for NumPy's.

    A Dask client stands for the engine "dask" on its cluster.
    """
    if type(engine).__module__.partition(".")[0] == "distributed":
        return _module("dask").engine(engine)
    if engine is not None and not isinstance(engine, str):
        return engine
    own = next((x.engine for x in data if hasattr(x, "engine")), None)
    if engine is None and own is not None:  # rows on a cluster know where they are
        return own
    if engine is None:
        packages = {type(x).__module__.partition(".")[0] for x in data}
        engine = next((name for package, name in KINDS.items() if package in packages), "cpu")
    if engine not in ENGINES:
        raise ValueError(f"engine: unknown name {engine!r}; use one of {sorted(ENGINES)} or None.")
    return _module(engine).engine()


def _module(engine: str) -> Any:
    try:
        return import_module(ENGINES[engine])
    except ModuleNotFoundError as error:
        if error.name not in ("dask", "distributed"):
            raise
        raise ImportError("engine: 'dask' needs Dask; install pygeco[dask].") from error


def on_cluster() -> AbstractContextManager[bool]:
    """A cluster for a while: that of Dask's client (false), or one started for it (true)."""
    return _module("dask").borrowed()


def limit_threads(n_jobs: int | None) -> AbstractContextManager[None]:
    """Kernels of this machine on so many threads for a while; None stands for all cores."""
    return import_module("pygeco.engines.cpu.threads").limit_threads(n_jobs)


def placed(engine: Engine, by_row: Cells, by_col: Cells) -> tuple[Cells, Cells]:
    """Cells where the engine works: sent to its workers, where it has some."""
    if hasattr(engine, "sent"):
        return engine.sent(by_row, by_col.groups)
    return by_row, by_col


def spread(slabs: Any) -> tuple[Cells, Cells]:
    """Slabs of cells on a cluster, by row and by column."""
    return _module("dask").Dask(slabs).cells()
