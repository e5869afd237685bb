"""The cluster that `geco fit --engine dask` computes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from pygeco.cli.console import EngineError, Voice


class Cluster(NamedTuple):
    """Where Dask's scheduler is, or how many workers to start here."""

    scheduler: str | None
    workers: int | None


def parse_cluster(engine: str, scheduler: str | None, workers: int | None) -> Cluster | None:
    given = [
        name for name, it in (("scheduler", scheduler), ("workers", workers)) if it is not None
    ]
    if engine != "dask":
        if given:
            raise ValueError(f"--{given[0]}: goes with --engine dask.")
        return None
    if len(given) == 2:
        raise ValueError("--workers: the scheduler has workers of its own; leave it out.")
    return Cluster(scheduler, workers)


@contextmanager
def open_cluster(cluster: Cluster | None, ratings: str, voice: Voice) -> Iterator[Any]:
    """A client of the cluster, where one does the work."""
    if cluster is None:
        yield None
        return
    from pygeco.engines.dask.cluster import start_cluster
    from pygeco.errors import ClusterError

    if "://" not in ratings and not Path(ratings).exists():
        raise FileNotFoundError(2, "No such file or directory", ratings)
    try:
        with ExitStack() as stack:
            with voice.busy("looking for the workers"):
                client = stack.enter_context(start_cluster(*cluster))
            drawn = f"; dashboard: {client.dashboard_link}" if find_spec("bokeh") else ""
            voice.note(f"{len(client.nthreads())} workers{drawn}.")
            yield client
    except ClusterError as error:
        raise EngineError(f"--{error}") from error
