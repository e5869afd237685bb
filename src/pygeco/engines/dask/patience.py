"""Waits on a cluster that end: with the results, or with a sentence about what holds them up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

import dask
from distributed import rpc, wait

from pygeco.errors import ClusterError

ANSWER_SECONDS = 5  # after which a scheduler that does not answer is given up
# Without a worker that takes tasks; longer by Dask's setting "pygeco.patience", where workers are
# started on demand. One that died is there again within a few seconds.
PATIENCE_SECONDS = 12.0
LOOK_SECONDS = 1.0  # between two looks at the workers while tasks are out
PROGRESS_SECONDS = 0.25  # the same where somebody watches


def check_scheduler(address: str) -> None:
    """An error unless Dask's scheduler answers there: Dask itself may wait without end."""
    try:
        found = asyncio.run(asyncio.wait_for(_identity(address), ANSWER_SECONDS))
    except Exception as error:  # of any kind: what is not Dask may answer anything
        who = "nothing" if isinstance(error, OSError) else "something that is not Dask's scheduler"
        raise ClusterError(
            f"scheduler: {who} answers at {address}; start one with `dask scheduler`, and its "
            "workers with `dask worker`."
        ) from error
    if found.get("type") != "Scheduler":
        raise ClusterError(
            f"scheduler: at {address} is no scheduler, but a {found.get('type')}; give the address "
            "that `dask scheduler` prints."
        )


async def _identity(address: str) -> dict[str, Any]:
    async with rpc(address, timeout=ANSWER_SECONDS) as there:
        found = await there.identity()
    return found if isinstance(found, dict) else {}


class Patience:
    """How long no worker has taken tasks, and what to say when that is too long."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.since: float | None = None

    def is_served(self) -> bool:
        """Whether some worker takes tasks; an error where none has for too long."""
        trouble = find_trouble(self.client)
        if trouble is None:
            self.since = None
            return True
        now = time.monotonic()
        self.since = now if self.since is None else self.since
        if now - self.since >= float(dask.config.get("pygeco.patience", PATIENCE_SECONDS)):
            raise ClusterError(trouble)
        return False


def find_trouble(client: Any) -> str | None:
    """Why no worker takes tasks, in a sentence; None where one does."""
    states = client.run_on_scheduler(_worker_states)
    if "running" in states:
        return None
    if "paused" in states:
        return (
            f"engine: all {len(states)} workers of the cluster are paused, since their memory is "
            "full; free it, give them more, or add workers."
        )
    return (
        f"engine: the cluster at {client.scheduler.address} has no workers; start some with "
        f"`dask worker {client.scheduler.address}`."
    )


def _worker_states(dask_scheduler: Any) -> list[str]:
    return [worker.status.name for worker in dask_scheduler.workers.values()]


def await_workers(client: Any) -> None:
    """Until a worker takes tasks."""
    patience = Patience(client)
    while not patience.is_served():
        time.sleep(PROGRESS_SECONDS)


def await_futures(
    client: Any, futures: Sequence[Any], progress: Callable[[float], object] | None = None
) -> None:
    """Until they are there, or have failed; by this client, whichever Dask would choose.

    `progress` is told the share that is done.
    """
    patience = Patience(client)
    pause = LOOK_SECONDS if progress is None else PROGRESS_SECONDS
    with client.as_current():
        while True:
            try:
                wait(futures, timeout=pause)
                break
            except TimeoutError:
                patience.is_served()
            if progress is not None:
                progress(sum(future.done() for future in futures) / len(futures))
    if progress is not None:
        progress(1.0)


def gather_values(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Their values, once all are there."""
    await_futures(client, futures)
    return list(client.gather(list(futures)))
