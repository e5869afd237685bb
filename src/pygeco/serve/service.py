"""Questions in an event loop: one thread computes; what waits meanwhile is answered together."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import msgspec

from pygeco.serve import answers
from pygeco.serve.finding import TextIndex, build_index, name_matches
from pygeco.serve.metrics import Counters
from pygeco.serve.picture import describe_served, map_items
from pygeco.serve.requests import Find, Recommend
from pygeco.serve.served import Served
from pygeco.serve.typed import RequestError
from pygeco.serve.writing import write_lists

T = TypeVar("T")
MAX_TOGETHER = 64  # single requests that are answered in one pass
ROWS_AT_ONCE = 1024  # of a batch: single requests get their turn between these
MAX_CACHED = 4_096  # lists in the cache: about 4 MB of ten items


class Waiting(NamedTuple):
    """A single request for a list."""

    served: Served
    asked: Recommend
    future: asyncio.Future[bytes]


class Service:
    """The model in service, and everything that is asked of it.

    An answer is made from the model that was in service when its request came, and from no other.
    """

    def __init__(self, served: Served, counters: Counters, *, caches: bool = True) -> None:
        self.served, self.counters = served, counters
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="geco-answers")
        self._waiting: list[Waiting] = []
        self._drain: asyncio.Task[None] | None = None
        self._cache: OrderedDict[Any, bytes] = OrderedDict()
        self._made: dict[tuple[str, str], Any] = {}
        self._max_cached = MAX_CACHED if caches else 0
        counters.count("model_loads_total")

    def replace_model(self, served: Served) -> None:
        """Take another model into service; requests under way keep the one they have."""
        self.served = served
        self._cache.clear()
        self._made = {key: made for key, made in self._made.items() if key[0] == served.version}
        self.counters.count("model_loads_total")

    async def compute(self, function: Callable[..., T], *given: Any) -> T:
        """A call in the thread that computes."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *given)

    async def answer(
        self, function: Callable[[Served, Any], dict[str, Any]], served: Served, asked: Any
    ) -> bytes:
        """The JSON of an answer that needs one call."""
        return await self.compute(
            lambda: _encode(function(served, asked) | {"model": served.version})
        )

    async def recommend(self, served: Served, asked: Recommend) -> bytes:
        """Lists of one user, from the cache or together with others; or of many, in turns."""
        users, is_one = answers.take_one_or_many(asked.user, asked.users, "user, users")
        if is_one:
            return await self._recommend_one(served, asked)
        own = list(dict.fromkeys(users))  # each user once
        step = len(own) if asked.reasons else ROWS_AT_ONCE
        made: list[bytes] = []
        for at in range(0, len(own), step):
            made += await self.compute(write_lists, served, own[at : at + step], asked)
        by_user = dict(zip(own, made, strict=True))
        return b'{"model":"%s","lists":[%s]}' % (
            served.version.encode(),
            b",".join([by_user[user] for user in users]),
        )

    async def find(self, served: Served, asked: Find) -> bytes:
        """Users or items by text."""
        side = 1 if asked.side == "item" else 0
        index: TextIndex = await self._keep(
            served, f"index {side}", lambda: build_index(served, side)
        )
        found = name_matches(served, side, index.find(asked.text, asked.k))
        return _encode({"model": served.version, "matches": found})

    async def map(self, served: Served) -> bytes:
        return await self._keep(
            served, "map", lambda: _encode(map_items(served) | {"model": served.version})
        )

    async def describe(self, served: Served) -> bytes:
        return await self._keep(served, "about", lambda: _encode(describe_served(served)))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _keep(self, served: Served, name: str, make: Callable[[], Any]) -> Any:
        """What is made once for a model."""
        key = served.version, name
        if key not in self._made:
            found = await self.compute(make)
            if served is self.served:
                self._made[key] = found
            return found
        return self._made[key]

    async def _recommend_one(self, served: Served, asked: Recommend) -> bytes:
        key = None
        if asked.only is None and asked.without is None:
            key = (served.version, asked)
            found = self._cache.get(key)
            if found is not None:
                self._cache.move_to_end(key)
                self.counters.count("cache_hits_total")
                return found
        self.counters.count("cache_misses_total")
        loop = asyncio.get_running_loop()
        one = Waiting(served, asked, loop.create_future())
        self._waiting.append(one)
        if self._drain is None:
            self._drain = loop.create_task(self._answer_waiting())
        found = await one.future
        if key is not None and served is self.served and self._max_cached:
            self._cache[key] = found
            if len(self._cache) > self._max_cached:
                self._cache.popitem(last=False)
        return found

    async def _answer_waiting(self) -> None:
        try:
            while self._waiting:
                some = self._waiting[:MAX_TOGETHER]
                del self._waiting[:MAX_TOGETHER]
                self.counters.count("batches_total")
                found = await self.compute(_answer_together, some)
                for one, answer in zip(some, found, strict=True):
                    if one.future.done():  # its client has gone
                        continue
                    if isinstance(answer, bytes):
                        one.future.set_result(answer)
                    else:
                        one.future.set_exception(answer)
        finally:
            self._drain = None


def _answer_together(waiting: list[Waiting]) -> list[bytes | Exception]:
    """An answer or an error for each, those that ask alike in one pass."""
    groups: dict[Any, list[int]] = {}
    for at, one in enumerate(waiting):
        is_filtered = one.asked.only is not None or one.asked.without is not None
        rest = at if is_filtered else replace(one.asked, user=None)
        groups.setdefault((id(one.served), rest), []).append(at)
    found: list[bytes | Exception] = [b""] * len(waiting)
    for places in groups.values():
        some = [waiting[at] for at in places]
        for at, answer in zip(places, _answer_alike(some), strict=True):
            found[at] = answer
    return found


def _answer_alike(waiting: list[Waiting]) -> list[bytes | Exception]:
    served, asked = waiting[0].served, waiting[0].asked
    try:
        lists = write_lists(served, [one.asked.user for one in waiting], asked)
    except Exception as error:
        if len(waiting) == 1 or not isinstance(error, RequestError):
            return [error] * len(waiting)
        return [_answer_alike([one])[0] for one in waiting]  # the fault is one's alone
    head = b'{"model":"%s",' % served.version.encode()
    return [head + one[1:] for one in lists]


def _encode(value: object) -> bytes:
    return msgspec.json.encode(value)
