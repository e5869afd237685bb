"""A real server on a free port: faults, slow clients, replaced models, its end."""

import asyncio
import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import contextmanager

import httpx
import pytest

from pygeco.errors import ModelFileError
from pygeco.serve.metrics import make_counters
from pygeco.serve.reporting import Reporter
from pygeco.serve.running import bind, serve, watch
from pygeco.serve.service import Service
from pygeco.serve.settings import Settings
from pygeco.serve.watching import write_current
from serve_cases import run_server, write_titles
from waiting import wait_until

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers share a socket")


def children(process) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True)
    return [int(one) for one in found.stdout.split()]


@contextmanager
def asking(address):
    """A client that asks again and again meanwhile: the versions it was told, and what was lost."""
    versions, lost, stops = set(), [], threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=address, timeout=20) as client:
            while not stops.wait(0.01):
                try:
                    found = client.get("/v1/recommend?user=3&k=5")
                    versions.add(found.json()["model"] if found.status_code == 200 else found.text)
                except httpx.TransportError as error:
                    lost.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield versions, lost
    finally:
        stops.set()
        thread.join()


def test_workers_die_models_change_and_every_answer_is_whole(models, model_folder, tmp_path):
    wholes = {name: (model_folder / f"{name}.geco").read_bytes() for name in models}
    model, titles = tmp_path / "live.geco", str(write_titles(tmp_path))
    model.write_bytes(wholes["ratings"])
    options = "--titles", titles, "--workers", "2", "--access-log"
    with run_server(model, *options) as (address, process, log):
        wait_until(lambda: _try(address))
        with asking(address) as (versions, lost):
            for name in ("clicks", "ratings", "clicks"):
                part = tmp_path / "part"
                part.write_bytes(wholes[name])
                os.replace(part, model)
                version = models[name].version
                wait_until(lambda version=version: _all_serve(address, version))
            model.write_bytes(wholes["ratings"][:5000])  # in place, under the mapped arrays
            wait_until(lambda: "the model stays as it is" in log.read_text())
            counted = httpx.get(f"{address}/metrics").text
            assert "geco_model_failures_total 0" not in counted
            assert not lost
            old = children(process)
            os.kill(old[0], signal.SIGKILL)
            wait_until(lambda: len(children(process)) == 2 and old[0] not in children(process))
            wait_until(lambda: _all_serve(address, models["clicks"].version))
        assert versions == {one.version for one in models.values()}
        assert len(lost) <= 1  # the connection that the killed worker had
        assert finish_what_is_under_way(address, process).startswith(b"HTTP/1.1 200")
        assert process.wait(60) == 0  # seconds: a machine may be slow
    assert "POST /v1/recommend 200" in log.read_text()
    assert "Traceback" not in log.read_text()


def test_a_model_that_changes_while_a_worker_starts_is_served(models, model_folder, tmp_path):
    """The worker has read the name of the first copy, then the second one takes its place."""
    first, second = (model_folder / f"{name}.geco" for name in ("ratings", "clicks"))
    (tmp_path / second.name).write_bytes(second.read_bytes())
    write_current(tmp_path, tmp_path / second.name)
    reporter = Reporter(Settings(model=first), tmp_path)
    reporter.copy = first

    async def run() -> None:
        service = Service(models["ratings"], make_counters())
        watcher = asyncio.create_task(watch(service, reporter, None, tmp_path, None))
        async with asyncio.timeout(60):
            while not service.served.is_of_clicks:
                await asyncio.sleep(0.05)
        watcher.cancel()

    asyncio.run(run())


def finish_what_is_under_way(address, process) -> bytes:
    """The answer to a request whose body is on its way when the server is told to stop."""
    host, port = address.removeprefix("http://").split(":")
    body = b'{"user": 3}'
    head = f"POST /v1/recommend HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    with socket.create_connection((host, int(port))) as client:
        client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:3])
        time.sleep(0.3)
        process.terminate()
        time.sleep(0.3)
        client.sendall(body[3:])
        return client.recv(65536)


def _try(address) -> bool:
    try:
        return httpx.get(f"{address}/ready").status_code == 200
    except httpx.TransportError:
        return False


def _all_serve(address, version) -> bool:
    """Whether several connections in a row, of both workers most likely, serve this version."""
    try:
        return {httpx.get(f"{address}/ready").json()["model"] for _ in range(6)} == {version}
    except httpx.TransportError:
        return False


def test_wrong_files_and_ports_are_one_sentence(tmp_path) -> None:
    wrong = tmp_path / "wrong.geco"
    wrong.write_bytes(b"nothing")
    with pytest.raises(ModelFileError, match="is not a pygeco file"):
        serve(Settings(model=wrong, port=0), print)
    with pytest.raises(ValueError, match="can be reached by others"):
        serve(Settings(model=wrong, host="0.0.0.0"), print)
    with bind("127.0.0.1", 0) as first, pytest.raises(ValueError, match="cannot listen"):
        bind("127.0.0.1", first.getsockname()[1])
