"""Workers that die are told of; what cannot be mended is said in one sentence."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import KilledWorker
from distributed.diagnostics.plugin import SchedulerPlugin

from pygeco.errors import ClusterError, WorkerLostWarning
from pygeco.errors.telling import warn_caller

TOPIC = "pygeco-lost-workers"


class Reporter(SchedulerPlugin):
    """On the scheduler: passes on which workers are gone."""

    name = TOPIC
    idempotent = True

    def remove_worker(self, scheduler: Any, worker: str, **_: Any) -> None:
        scheduler.log_event(TOPIC, worker)


class Watch:
    """Which workers a client's cluster lost."""

    def __init__(self, client: Any) -> None:
        self.lost: list[str] = []
        client.register_plugin(Reporter())
        client.subscribe_topic(TOPIC, lambda event: self.lost.append(str(event[1])))

    def tell(self) -> None:
        while self.lost:
            warn_caller(
                f"worker {self.lost.pop(0)} is gone; its slabs are read again and what it had "
                "worked out is made again.",
                WorkerLostWarning,
            )


_WATCHES: weakref.WeakKeyDictionary[Any, Watch] = weakref.WeakKeyDictionary()


def watch(client: Any) -> Watch:
    """The one watch of a client: it takes one listener only."""
    if client not in _WATCHES:
        _WATCHES[client] = Watch(client)
    return _WATCHES[client]


@contextmanager
def explain_errors(client: Any) -> Iterator[None]:
    """Dask's own errors, where nothing is left to try, as one sentence."""
    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"engine: {error.allowed_failures + 1} workers died one after the other over the same "
            "slab of rows, most likely out of memory; use workers with more memory."
        ) from error
    except ClusterError:
        raise
    except (Exception, asyncio.CancelledError) as e:  # of whatever kind: Dask has many for it
        if client.status == "running":
            raise
        raise ClusterError(
            "engine: the connection to the cluster's scheduler was lost; start the fit again, "
            "from its checkpoint if it has one."
        ) from e
