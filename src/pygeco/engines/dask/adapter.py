"""All that this package takes from inside Dask, in one place, for the versions it was tested with.

Dask's documented interface has no graph that is sent as it is, no question to a worker without a
task, and no way to send messages at once. What is used for them is here, and nowhere else.

A task takes Dask about 18 milliseconds: its graph, its place, its report. A question is a message
to each worker that holds a slab, and one back, in three: straight to it on one machine and where
`Client(direct_to_workers=True)` says so, through the scheduler elsewhere. It is asked where all
that it needs is at hand and little has to travel. Where it is not answered, since a worker died or
a value has moved, tasks do the same work.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import dask
import distributed
from distributed import Future, get_worker
from distributed.diagnostics.plugin import WorkerPlugin

# Of Dask and distributed, which go together: the first that passes the tests, and the first that
# nobody has tried. The extra "dask" of pyproject.toml says the same.
MIN_VERSION, END_VERSION = (2026, 1), (2026, 9)


def check_version(version: str) -> None:
    """An error unless what is used of Dask's inside was tested in this version."""
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if not MIN_VERSION <= numbers < END_VERSION:
        first, end = (".".join(map(str, bound)) for bound in (MIN_VERSION, END_VERSION))
        raise ImportError(
            f"engine: 'dask' needs Dask of at least {first} and below {end}, not {version}; "
            "install pygeco[dask]."
        )


check_version(dask.__version__)
check_version(distributed.__version__)

from dask._expr import LLGExpr  # noqa: E402
from dask._task_spec import Task, TaskRef  # noqa: E402
from distributed.protocol import to_serialize  # noqa: E402

__all__ = [
    "Key",
    "Task",
    "TaskRef",
    "WorkerCalls",
    "check_version",
    "is_on_one_machine",
    "release_from_workers",
    "send_at_once",
    "submit_graph",
    "thread_count",
    "worker_calls",
]

CALL = "pygeco_call"  # what workers know the questions by
PAUSE_SECONDS = 0.0  # between messages: Dask collects them for 2 to 10 ms


def submit_graph(client: Any, graph: dict[str, Task], wanted: list[str]) -> list[Any]:
    """Futures of some tasks of a graph. Its name is made up: to hash all numbers takes long."""
    sent = LLGExpr(graph, _determ_token=uuid4().hex)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return list(client.get(sent, wanted, sync=False))


def release_from_workers(client: Any, futures: Sequence[Any]) -> None:
    """Let values that were bound to workers be anywhere from now on."""
    client.sync(client.scheduler.set_restrictions, worker={f.key: None for f in futures})


def thread_count() -> int:
    """On a worker: how many threads it has."""
    return int(get_worker().state.nthreads)


def send_at_once(client: Any) -> Any:
    """The client of a cluster of its own, with no pauses between messages: they serve many small
    tasks. Here a few large ones wait for each other.
    """
    scheduler = client.cluster.scheduler
    for batches in (client.scheduler_comm, *scheduler.stream_comms.values()):
        batches.interval = PAUSE_SECONDS
    client.register_plugin(_SendAtOnce())
    return client


class _SendAtOnce(WorkerPlugin):
    """On a worker: the same, there."""

    name = "pygeco-send-at-once"
    idempotent = True

    def setup(self, worker: Any) -> None:
        worker.batched_stream.interval = PAUSE_SECONDS


def is_on_one_machine(client: Any) -> bool:
    """Whether all workers are processes of this machine."""
    return all(
        a.split("://")[-1].startswith("127.") or a[:6] == "inproc" for a in client.nthreads()
    )


class Key(NamedTuple):
    """A value that the worker has."""

    name: str


class _Answers(WorkerPlugin):
    """On a worker: what answers questions."""

    name = "pygeco-answers"
    idempotent = True

    def setup(self, worker: Any) -> None:
        self.worker = worker
        worker.handlers[CALL] = self.answer

    async def answer(
        self, function: Callable[..., Any], program: Any, slabs: dict[str, dict[int, Any]]
    ) -> Any:
        """function(program, inputs, threads) for the slabs that are here; nothing where something
        is missing.
        """
        data, threads = self.worker.data, self.worker.state.nthreads
        mine = slabs[self.worker.address]
        if not all(x.name in data for given in mine.values() for x in given if _is_key(x)):
            return {}
        inputs = {
            t: [data[x.name] if _is_key(x) else x for x in given] for t, given in mine.items()
        }

        def values() -> dict[int, Any]:
            return {t: function(program, given, threads) for t, given in inputs.items()}

        pool = self.worker.executors["default"]
        return to_serialize(await asyncio.get_running_loop().run_in_executor(pool, values))


def _is_key(x: Any) -> bool:
    return isinstance(x, Key)


class WorkerCalls:
    """The questions of one client to its workers."""

    def __init__(self, client: Any) -> None:
        client.register_plugin(_Answers())
        self.client = weakref.proxy(client)
        self.direct = bool(client.direct_to_workers) or is_on_one_machine(client)
        self.places: weakref.WeakKeyDictionary[Any, frozenset[str]] = weakref.WeakKeyDictionary()

    @property
    def worker_count(self) -> int:
        """How many there are, about."""
        return max(1, len(set().union(*self.places.values())))

    def ask(
        self, function: Callable[..., Any], program: Any, inputs: Sequence[Sequence[Any]]
    ) -> list[Any] | None:
        """function(program, inputs[t], threads) of each slab t, where its inputs are; None where
        nobody answers.
        """
        places = self._find_places(inputs)
        if places is None:
            return None
        slabs: dict[str, dict[int, Any]] = {}
        for t, (place, given) in enumerate(zip(places, inputs, strict=True)):
            keys = [Key(x.key) if isinstance(x, Future) else x for x in given]
            slabs.setdefault(place, {})[t] = keys
        send = self.send_straight if self.direct else self.send_through
        found: dict[int, Any] = {}
        for answer in self.client.sync(send, function, program, slabs):
            found |= answer if isinstance(answer, dict) else {}
        if len(found) < len(inputs):
            self.places.clear()
            return None
        return [found[t] for t in range(len(inputs))]

    async def send_straight(
        self, function: Callable[..., Any], program: Any, slabs: dict[str, Any]
    ) -> list[Any]:
        """To each worker by itself."""

        async def send(place: str) -> Any:
            call = getattr(self.client.rpc(place), CALL)
            return await call(**_message(function, program, {place: slabs[place]}))

        return await asyncio.gather(*map(send, slabs), return_exceptions=True)

    async def send_through(
        self, function: Callable[..., Any], program: Any, slabs: dict[str, Any]
    ) -> list[Any]:
        """Through the scheduler."""
        answers = await self.client.scheduler.broadcast(
            msg={"op": CALL} | _message(function, program, slabs),
            workers=list(slabs),
            on_error="return_pickle",
        )
        return list(answers.values())

    def _find_places(self, inputs: Sequence[Sequence[Any]]) -> list[str] | None:
        """A worker for each slab that has all that its part needs."""
        needed = [[x for x in given if isinstance(x, Future)] for given in inputs]
        new = [x for given in needed for x in given if x not in self.places]
        if new:
            where = self.client.who_has(new)
            self.places |= {x: frozenset(where.get(x.key, ())) for x in new}
        places = []
        for given in needed:
            both = frozenset.intersection(*(self.places[x] for x in given)) if given else None
            if not both:
                self.places.clear()
                return None
            places.append(min(both))
        return places


def _message(function: Callable[..., Any], program: Any, slabs: dict[str, Any]) -> dict[str, Any]:
    given = {"function": function, "program": program, "slabs": slabs}
    return {name: to_serialize(value) for name, value in given.items()}


_CALLS: weakref.WeakKeyDictionary[Any, WorkerCalls] = weakref.WeakKeyDictionary()


def worker_calls(client: Any) -> WorkerCalls:
    """Those of a client, which are made once."""
    if client not in _CALLS:
        _CALLS[client] = WorkerCalls(client)
    return _CALLS[client]
