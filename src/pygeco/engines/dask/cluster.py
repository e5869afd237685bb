"""Where the slabs go: the cluster of Dask's current client, or one on this machine."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, LocalCluster

from pygeco.arrays.cores import count_cores
from pygeco.engines.cpu.engine import CpuCells
from pygeco.engines.dask.adapter import send_at_once
from pygeco.engines.dask.passes import Dask
from pygeco.engines.dask.patience import ANSWER_SECONDS, await_workers, check_scheduler
from pygeco.engines.dask.slabs import from_csr
from pygeco.engines.values import Cells

# Between processes of one machine: how long a call to one that is dead may take (30 s otherwise).
LOCAL_TIMEOUTS = {"distributed.comm.timeouts.connect": "5s"}
# Memory that is freed is used again: with Dask's own settings every array of a pass is asked of the
# system, and every page of it cleared, each time.
WORKER_MEMORY = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 30,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 25,
}


class Sender(CpuCells):
    """The engine of cells that are not on the cluster yet: they are grouped here, then sent."""

    name = "dask"

    def __init__(self, client: Any = None) -> None:
        self.client = client

    def place_cells(self, by_row: Cells, by_col: Cells) -> tuple[Cells, Cells]:
        """The cells on the workers, by row and by column."""
        client = current_client() if self.client is None else self.client
        return Dask(from_csr(client, *by_row[:4], by_col.groups)).cells()


def engine(client: Any = None) -> Sender:
    return Sender(client)


def find_client() -> Any:
    """The client that Dask itself would take; None where there is none."""
    try:
        return Client.current()
    except ValueError:
        return None


def current_client() -> Any:
    """The same, or one for a cluster on this machine, which ends with this process."""
    found = find_client()
    if found is None:
        cluster = start_local_cluster()
        found = send_at_once(Client(cluster))
        atexit.register(_close, found, cluster)
    return found


def start_local_cluster(workers: int | None = None) -> LocalCluster:
    """Processes with a thread each, one a core by default; what goes wrong in one is told
    here, so it keeps no log.
    """
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": ":0"}
    with dask.config.set(WORKER_MEMORY):
        return LocalCluster(n_workers=workers or count_cores(), threads_per_worker=1, **quiet)


@contextmanager
def start_cluster(address: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """A client of the scheduler at an address; or of a cluster here, which ends with the block."""
    if address is None:
        with (
            dask.config.set(LOCAL_TIMEOUTS),
            start_local_cluster(workers) as cluster,
            Client(cluster) as client,
        ):
            yield send_at_once(client)
    else:
        check_scheduler(address)
        with Client(address, timeout=ANSWER_SECONDS) as client:
            await_workers(client)
            yield client


def submit_call(client: Any, function: Callable[..., Any], *args: Any) -> Any:
    """A future of function(*args), of its own; arguments may be large."""
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(function, *args, pure=False)


@contextmanager
def borrow_client() -> Iterator[bool]:
    """A client for a while: the current one (false), or one of a cluster started for it (true)."""
    client = find_client()
    if client is not None:
        await_workers(client)
        yield False
        return
    with start_cluster():
        yield True


def _close(client: Any, cluster: Any) -> None:
    client.close()
    cluster.close()
