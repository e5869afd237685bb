"""Questions: sums of which nothing is kept are asked of the workers, without a task.

A task takes Dask about 18 milliseconds: its graph, its place, its report. A question is a message
to each worker that holds a slab, and one back, in three: straight to it on one machine and where
`Client(direct_to_workers=True)` says so, through the scheduler elsewhere. It is asked where all
that it needs is at hand and little has to travel. Where it is not answered, since a worker died or
a value has moved, tasks do the same work.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

from distributed import Future
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.protocol import to_serialize

from pygeco.engines.dask import programs as work
from pygeco.engines.dask.programs import Program
from pygeco.engines.dask.scratch_files import on_one_machine

MOST = 1 << 25  # bytes that may pass through the scheduler for a question, and for its answers
ASK = "pygeco_ask"


class Key(NamedTuple):
    """A value that the worker has."""

    name: str


class Answers(WorkerPlugin):
    """On a worker: what answers questions."""

    name = "pygeco-answers"
    idempotent = True

    def setup(self, worker: Any) -> None:
        self.worker = worker
        worker.handlers[ASK] = self.answer

    async def answer(self, program: Program, slabs: dict[str, dict[int, Any]]) -> Any:
        """The program's values for the slabs that are here; none where something is missing."""
        data = self.worker.data
        mine = slabs[self.worker.address]
        if not all(x.name in data for given in mine.values() for x in given if _is_key(x)):
            return {}
        inputs = {
            t: [data[x.name] if _is_key(x) else x for x in given] for t, given in mine.items()
        }

        def values() -> dict[int, Any]:
            return {t: work.ran(self.worker, program, given) for t, given in inputs.items()}

        pool = self.worker.executors["default"]
        return to_serialize(await asyncio.get_running_loop().run_in_executor(pool, values))


def _is_key(x: Any) -> bool:
    return isinstance(x, Key)


class Asks:
    """The questions of one client."""

    def __init__(self, client: Any) -> None:
        client.register_plugin(Answers())
        self.client = weakref.proxy(client)
        self.direct = bool(client.direct_to_workers) or on_one_machine(client)
        self.homes: weakref.WeakKeyDictionary[Any, frozenset[str]] = weakref.WeakKeyDictionary()

    @property
    def workers(self) -> int:
        """How many there are, about."""
        return max(1, len(set().union(*self.homes.values())))

    def parts(self, program: Program, inputs: Sequence[Sequence[Any]]) -> list[Any] | None:
        """The program's value for each slab; None where nobody answers. inputs[t] are slab t's."""
        homes = self._homes(inputs)
        if homes is None:
            return None
        slabs: dict[str, dict[int, Any]] = {}
        for t, (home, given) in enumerate(zip(homes, inputs, strict=True)):
            keys = [Key(x.key) if isinstance(x, Future) else x for x in given]
            slabs.setdefault(home, {})[t] = keys
        send = self._straight if self.direct else self._through
        found: dict[int, Any] = {}
        for answer in self.client.sync(send, program, slabs):
            found |= answer if isinstance(answer, dict) else {}
        if len(found) < len(inputs):
            self.homes.clear()
            return None
        return [found[t] for t in range(len(inputs))]

    async def _straight(self, program: Program, slabs: dict[str, Any]) -> list[Any]:
        async def sent(home: str) -> Any:
            given = {home: slabs[home]}
            return await getattr(self.client.rpc(home), ASK)(
                program=to_serialize(program), slabs=to_serialize(given)
            )

        return await asyncio.gather(*map(sent, slabs), return_exceptions=True)

    async def _through(self, program: Program, slabs: dict[str, Any]) -> list[Any]:
        message = {"op": ASK, "program": to_serialize(program), "slabs": to_serialize(slabs)}
        answers = await self.client.scheduler.broadcast(
            msg=message, workers=list(slabs), on_error="return_pickle"
        )
        return list(answers.values())

    def _homes(self, inputs: Sequence[Sequence[Any]]) -> list[str] | None:
        """A worker for each slab that has all that its part needs."""
        needed = [[x for x in given if isinstance(x, Future)] for given in inputs]
        new = [x for given in needed for x in given if x not in self.homes]
        if new:
            where = self.client.who_has(new)
            self.homes |= {x: frozenset(where.get(x.key, ())) for x in new}
        homes = []
        for given in needed:
            both = frozenset.intersection(*(self.homes[x] for x in given)) if given else None
            if not both:
                self.homes.clear()
                return None
            homes.append(min(both))
        return homes


_ASKS: weakref.WeakKeyDictionary[Any, Asks] = weakref.WeakKeyDictionary()


def asks(client: Any) -> Asks:
    """The one of a client."""
    if client not in _ASKS:
        _ASKS[client] = Asks(client)
    return _ASKS[client]
