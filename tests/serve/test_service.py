"""What waits is answered together, each from the model it asked, and cached by version."""

import asyncio
import json

from pygeco.serve.metrics import make_counters
from pygeco.serve.requests import Recommend
from pygeco.serve.service import Service
from pygeco.serve.typed import RequestError


def count(service, name) -> int:
    return int(service.counters.own[service.counters._events[name]])


def test_many_at_once_are_few_passes_and_the_same_answers(ratings) -> None:
    async def run():
        together = Service(ratings, make_counters())
        asked = [
            Recommend(user=i % 80 + 1, k=4, by="value" if i % 3 else "auto") for i in range(90)
        ]
        found = await asyncio.gather(*(together.recommend(ratings, one) for one in asked))
        assert count(together, "batches_total") <= 4
        alone = Service(ratings, make_counters(), caches=False)
        for one, body in zip(asked, found, strict=True):
            assert await alone.recommend(ratings, one) == body
        before = count(together, "cache_hits_total")
        assert await together.recommend(ratings, asked[0]) == found[0]
        assert count(together, "cache_hits_total") == before + 1
        together.close()
        alone.close()

    asyncio.run(run())


def test_the_fault_of_one_is_its_own(ratings) -> None:
    async def run():
        service = Service(ratings, make_counters())
        asked = [Recommend(user=user, unknown="error") for user in (1, "nobody", 2)]
        found = await asyncio.gather(
            *(service.recommend(ratings, one) for one in asked), return_exceptions=True
        )
        assert isinstance(found[1], RequestError)
        assert json.loads(found[0])["user"] == 1
        assert json.loads(found[2])["user"] == 2
        service.close()

    asyncio.run(run())


def test_a_model_is_replaced_between_answers_never_within(ratings, clicks) -> None:
    async def run():
        service = Service(ratings, make_counters())
        users = list(range(1, 81)) * 20  # more than one block
        batch = asyncio.create_task(service.recommend(ratings, Recommend(users=users, k=2)))
        single = asyncio.create_task(service.recommend(ratings, Recommend(user=1)))
        await asyncio.sleep(0)
        service.replace_model(clicks)
        new = await service.recommend(service.served, Recommend(user=1))
        assert json.loads(new)["model"] == clicks.version
        old = json.loads(await batch)
        assert old["model"] == json.loads(await single)["model"] == ratings.version
        assert old["lists"][:80] == old["lists"][80:160] == old["lists"][-80:]
        again = await service.recommend(service.served, Recommend(user=1))
        assert again == new  # and not what was made for the other model
        service.close()

    asyncio.run(run())
