"""Where passes over the data run. The solver never asks which engine it is on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any

from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.kinds import distant, kind
from pygeco.engines.protocol import Engine, LocalEngine, TableEngine
from pygeco.engines.values import Cells, Table

__all__ = [
    "COMPILING",
    "NOTICES",
    "Cells",
    "Engine",
    "LocalEngine",
    "Table",
    "TableEngine",
    "borrow_cluster",
    "cells_of_slabs",
    "choose_engine",
    "choose_local_engine",
    "choose_table_engine",
    "has_cluster",
    "limit_threads",
    "session",
]

# The module of each engine, imported when the engine is chosen; its `engine()` gives it.
ENGINE_MODULES = {
    "cpu": "pygeco.engines.cpu.engine",
    "cuda": "pygeco.engines.cuda.engine",
    "dask": "pygeco.engines.dask",
}
# The engine for the arrays of a package.
ENGINE_OF_PACKAGE = {"cupy": "cuda"}
# What may be said on standard error; a program that shows its own progress says false.
NOTICES = {"compiling": True}
# When the compilations began that go on now, by time.monotonic(); for programs that show it.
COMPILING: list[float] = []


@contextmanager
def session(objective: Any) -> Iterator[None]:
    """What holds while an objective is minimized: BLAS on one thread, for the same bits on any
    machine, and the engine's own session.
    """
    with one_blas_thread(), choose_engine(None, kind(objective)).session():
        yield


def choose_engine(engine: str | Engine | None, *data: Any) -> Engine:
    """The engine of this name; by default that of the data's own arrays, "cpu" for NumPy's.

    A Dask client stands for the engine "dask" on its cluster.
    """
    if type(engine).__module__.partition(".")[0] == "distributed":
        return _module("dask").engine(engine)
    if isinstance(engine, Engine):
        return engine
    if engine is None:
        engine = next((x.engine for x in data if distant(x)), None)
        if engine is not None:  # rows on a cluster know where they are
            return engine
        packages = {type(x).__module__.partition(".")[0] for x in data}
        engine = next((name for p, name in ENGINE_OF_PACKAGE.items() if p in packages), "cpu")
    if not isinstance(engine, str) or engine not in ENGINE_MODULES:
        known = sorted(ENGINE_MODULES)
        raise ValueError(f"engine: unknown name {engine!r}; use one of {known} or None.")
    return _module(engine).engine()


def choose_table_engine(engine: str | Engine | None, *data: Any) -> TableEngine:
    """The same for a dense table."""
    found = choose_engine(engine, *data)
    if not isinstance(found, TableEngine):
        raise TypeError(
            f"engine: {found.name!r} serves observed cells, not dense tables; use engine='cpu' or "
            "'cuda'."
        )
    return found


def choose_local_engine(*data: Any) -> LocalEngine:
    """The engine of arrays at hand."""
    found = choose_engine(None, *data)
    if not isinstance(found, LocalEngine):
        raise TypeError("rows on a cluster are not at hand; fetch them with `get` first.")
    return found


def _module(engine: str) -> Any:
    try:
        return import_module(ENGINE_MODULES[engine])
    except ModuleNotFoundError as error:
        if error.name not in ("dask", "distributed"):
            raise
        raise ImportError("engine: 'dask' needs Dask; install pygeco[dask].") from error


def borrow_cluster() -> AbstractContextManager[bool]:
    """A cluster for a while: that of Dask's client (false), or one started for it (true)."""
    return _module("dask").borrow_client()


def has_cluster() -> bool:
    """Whether Dask has a client that it would take by itself."""
    if "distributed" not in sys.modules:
        return False
    found = import_module("pygeco.engines.dask.cluster").find_client()
    return found is not None


def limit_threads(n_jobs: int | None) -> AbstractContextManager[None]:
    """Kernels of this machine on so many threads for a while; None stands for all cores."""
    return import_module("pygeco.engines.cpu.threads").limit_threads(n_jobs)


def cells_of_slabs(slabs: Any) -> tuple[Cells, Cells]:
    """Slabs of cells on a cluster, by row and by column."""
    return _module("dask").Dask(slabs).cells()
