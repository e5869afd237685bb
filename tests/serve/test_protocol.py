"""Slow and greedy clients are dropped; others are not."""

import asyncio
import json
from contextlib import suppress

import pytest
import uvicorn

from pygeco.serve.protocol import make_protocol
from pygeco.serve.settings import Limits

LIMITS = Limits(head_seconds=0.2, reading_seconds=0.3, max_head=2000, max_connections=5)
END = b"0\r\n\r\n"  # of an answer in chunks
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def app(scope, receive, send) -> None:
    size = 5_000_000 if scope["path"] == "/large" else 2
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * size})


async def serve(check) -> None:
    config = uvicorn.Config(
        app, http=make_protocol(LIMITS), ws="none", lifespan="off", log_config=None, port=0
    )
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    address = server.servers[0].sockets[0].getsockname()
    try:
        await asyncio.wait_for(check(*address), 10)
    finally:
        server.servers[0].close()
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)


async def is_dropped(reader, seconds: float = 2.0) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await reader.read(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_a_head_must_come_in_time() -> None:
    async def check(host, port) -> None:
        for some in (b"", b"GET / HTTP/1.1\r\nHos"):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(some)
            assert await is_dropped(reader)
            writer.close()
        # A second request of a connection, too.
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(REQUEST)
        await reader.readuntil(END)
        writer.write(b"GET / HT")
        assert await is_dropped(reader)
        writer.close()

    asyncio.run(serve(check))


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"GET / HTTP/1.1\r\nx: " + b"y" * 3000 + b"\r\n", 431, "long_head"),
        (b"GET /?x=" + b"y" * 70_000 + b" HTTP/1.1\r\n\r\n", 431, "long_head"),
        (b"no HTTP at all\r\n\r\n", 400, "bad_request"),
    ],
)
def test_a_wrong_head_is_refused_in_the_form_of_all_errors(sent, status, code) -> None:
    async def check(host, port) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(sent)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert b"content-type: application/json" in head
        assert json.loads(await reader.read())["error"]["code"] == code  # to the end
        writer.close()

    asyncio.run(serve(check))


def test_an_answer_must_be_read() -> None:
    async def check(host, port) -> None:
        reader, writer = await asyncio.open_connection(host, port, limit=1 << 10)
        writer.write(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.sleep(0.8)
        with suppress(ConnectionError):
            assert len(await reader.read()) < 5_000_000
        writer.close()

    asyncio.run(serve(check))


def test_good_clients_stay_and_too_many_do_not() -> None:
    async def check(host, port) -> None:
        links = [await asyncio.open_connection(host, port) for _ in range(LIMITS.max_connections)]
        for _ in range(3):
            for reader, writer in links:
                writer.write(REQUEST)
                assert (await reader.readuntil(END)).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(0.1)
        reader, writer = await asyncio.open_connection(host, port)
        assert await is_dropped(reader, 0.15)
        writer.close()
        for _, other in links:
            other.close()

    asyncio.run(serve(check))
