"""`geco serve` under load and under faults, on this machine.

    python benchmarks/serve_load.py MODEL [--titles FILE] [--seconds 60] [--only load,batch,...]

start     seconds from the start of the process to its first answer
load      single recommend requests a second over 32 connections, their latencies, the memory
batch     seconds of one request with 10,000 rows
replace   the model file replaced 50 times under load, then by files that are cut short
kill      SIGKILL of a worker, under load
malformed 10,000 requests that are wrong in some way, made from the OpenAPI description
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import uvloop

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from wrong_requests import make_wrong_request

PROGRAM = [sys.executable, "-c", "from pygeco.cli import main; main()", "serve"]
CONNECTIONS = 32


class Server:
    """A server in a process of its own, its address and its log."""

    def __init__(self, model: Path, options: list[str]) -> None:
        self.log = Path(tempfile.mkstemp(prefix="serve-log-")[1])
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [*PROGRAM, str(model), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=self.log.open("wb"),
        )
        assert self.process.stdout is not None
        found = re.search(r"http://([\d.]+):(\d+)/", self.process.stdout.readline().decode())
        assert found, self.log.read_text()
        self.host, self.port = found[1], int(found[2])

    def processes(self) -> list[int]:
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, check=False
        )
        return [int(one) for one in found.stdout.split()] or [self.process.pid]

    def memory(self) -> float:
        """Resident megabytes of the processes that serve, shared pages counted in each."""
        sizes = [int(Path(f"/proc/{p}/statm").read_text().split()[1]) for p in self.processes()]
        return sum(sizes) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def cpu(self) -> float:
        """CPU seconds of the processes that serve, so far."""
        used = [
            Path(f"/proc/{p}/stat").read_text().rsplit(")")[1].split() for p in self.processes()
        ]
        return sum(int(one[11]) + int(one[12]) for one in used) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(model: Path, options: list[str]) -> Iterator[Server]:
    server = Server(model, options)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(40)


class Connection:
    """One connection of HTTP/1.1, kept open."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, raw: bytes) -> tuple[int, bytes]:
        if self.reader is None or self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(
                self.server.host, self.server.port, limit=1 << 26
            )
        self.writer.write(raw)
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = int(re.search(rb"content-length: (\d+)", head.lower())[1])  # type: ignore[index]
        body = await self.reader.readexactly(size)
        if b"connection: close" in head.lower():
            self.close()
        return int(head[9:12]), body

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def post(path: str, body: bytes, kind: str = "application/json") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def ask_once(server: Server, raw: bytes) -> Any:
    link = Connection(server)
    status, body = await link.ask(raw)
    link.close()
    assert status == 200, body
    return json.loads(body)


async def wait_for(server: Server) -> float:
    """Seconds until the first list."""
    while True:
        try:
            await ask_once(server, get("/v1/recommend?user=1"))
            return time.perf_counter() - server.began
        except OSError:
            await asyncio.sleep(0.005)


class Load:
    """Requests for lists of random users over many connections, until it is told to stop."""

    def __init__(self, server: Server, users: list[Any]) -> None:
        self.server, self.users = server, users
        self.times: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.versions: Counter[str] = Counter()
        self.lost: list[str] = []
        self.stops = False

    async def run(self, seconds: float) -> None:
        tasks = [asyncio.create_task(self._client(t)) for t in range(CONNECTIONS)]
        await asyncio.sleep(seconds)
        self.stops = True
        await asyncio.gather(*tasks)

    async def _client(self, seed: int) -> None:
        rng, link = random.Random(seed), Connection(self.server)
        while not self.stops:
            raw = get(f"/v1/recommend?user={rng.choice(self.users)}&k=10")
            began = time.perf_counter()
            try:
                status, body = await link.ask(raw)
            except (OSError, asyncio.IncompleteReadError) as error:
                self.lost.append(type(error).__name__)
                link.close()
                continue
            self.times.append(time.perf_counter() - began)
            self.statuses[status] += 1
            self.versions[body[10:22].decode()] += 1
        link.close()

    def tell(self, name: str, seconds: float) -> None:
        times = np.sort(np.array(self.times)) * 1000
        at = {q: times[int(q * (len(times) - 1))] for q in (0.5, 0.9, 0.99, 1.0)}
        parts = [f"p{100 * q:g} {ms:.1f}" for q, ms in at.items()]
        print(f"{name}: {len(times) / seconds:,.0f} a second; ms {', '.join(parts)}")
        said = f"statuses {dict(self.statuses)}, lost {dict(Counter(self.lost))}"
        print(f"  {said}, versions {len(self.versions)}")


async def list_users(server: Server) -> list[Any]:
    found = []
    for digit in range(1, 10):
        answer = await ask_once(server, get(f"/v1/find?side=user&k=100&text={digit}"))
        found += [one["id"] for one in answer["matches"]]
    return found


async def measure_start(model: Path, options: list[str]) -> None:
    for t in range(3):
        with running(model, options) as server:
            seconds = await wait_for(server)
            cpu = server.cpu()
        print(f"start {t}: first answer after {seconds:.2f} s ({cpu:.2f} CPU s)")


async def measure_load(model: Path, options: list[str], seconds: float) -> None:
    for caches in (True, False):
        own = options if caches else [*options, "--no-cache"]
        with running(model, own) as server:
            await wait_for(server)
            users = await find_all_users(server)
            await Load(server, users).run(2)
            before, cpu, own = server.memory(), server.cpu(), time.process_time()
            load = Load(server, users)
            await load.run(seconds)
            cpu, own = server.cpu() - cpu, time.process_time() - own
            name = f"load ({len(users):,} users, {'with' if caches else 'without'} cache)"
            load.tell(name, seconds)
            print(f"  memory {before:.0f} MB before, {server.memory():.0f} MB after")
            count = max(1, len(load.times))
            each = [f"{1e3 * used / count:.2f}" for used in (cpu, own)]
            print(f"  CPU ms a request: server {each[0]}, generator {each[1]}")


async def find_all_users(server: Server) -> list[Any]:
    """Every user where ids are 1 … m, as MovieLens has them; else some of them."""
    about = await ask_once(server, get("/v1/model"))
    some = await list_users(server)
    return list(range(1, about["users"] + 1)) if max(some) == about["users"] else some


async def measure_batch(model: Path, options: list[str]) -> None:
    with running(model, options) as server:
        await wait_for(server)
        users = await find_all_users(server)
        many = [users[t % len(users)] for t in range(10_000)]
        item = (await ask_once(server, get("/v1/find?k=1")))["matches"][0]["id"]
        pairs = {"users": many, "items": [item] * 10_000}
        for name, raw in (
            ("recommend", post("/v1/recommend", json.dumps({"users": many}).encode())),
            ("predict", post("/v1/predict", json.dumps(pairs).encode())),
        ):
            times = []
            for _ in range(4):
                began, cpu = time.perf_counter(), server.cpu()
                await ask_once(server, raw)
                times.append(f"{time.perf_counter() - began:.2f} ({server.cpu() - cpu:.2f} CPU)")
            print(f"batch {name}, 10,000 rows: {', '.join(times)} s")


async def measure_replacing(model: Path, options: list[str], folder: Path) -> None:
    """50 other models put in place, each by a rename; then one cut short, in both ways."""
    live, other = folder / "live.geco", make_other(model, folder)
    shutil.copy(model, live)
    with running(live, options) as server:
        await wait_for(server)
        load = Load(server, await find_all_users(server))
        task = asyncio.create_task(load.run(32))
        for t in range(50):
            shutil.copy(other if t % 2 == 0 else model, folder / "part")
            os.replace(folder / "part", live)
            await asyncio.sleep(0.6)
        await task
        load.tell("replaced 50 times", 32)
        load = Load(server, load.users)
        task = asyncio.create_task(load.run(8))
        (folder / "part").write_bytes(model.read_bytes()[: model.stat().st_size // 2])
        os.replace(folder / "part", live)
        await asyncio.sleep(3)
        live.write_bytes(other.read_bytes()[:-100])
        await task
        load.tell("cut short, renamed and in place", 8)
    lines = server.log.read_text().splitlines()
    print(
        f"  log: {sum('is in service' in one for one in lines)} models in service;",
        *lines[-2:],
        sep="\n  ",
    )


def make_other(model: Path, folder: Path) -> Path:
    """The same model, saved again: another version, the same answers."""
    from pygeco import load

    fitted = load(model)
    fitted.set_params(n_jobs=1)
    fitted.save(folder / "other.geco")
    return folder / "other.geco"


async def measure_killing(model: Path, options: list[str]) -> None:
    with running(model, [*options, "--workers", "2"]) as server:
        await wait_for(server)
        users = await find_all_users(server)
        await asyncio.sleep(10)  # until both serve
        load = Load(server, users)
        task = asyncio.create_task(load.run(20))
        await asyncio.sleep(3)
        os.kill(server.processes()[0], signal.SIGKILL)
        await task
        load.tell("two workers, one killed", 20)
        print(f"  processes at the end: {len(server.processes())}")


def make_wrong(rng: random.Random, spec: dict[str, Any]) -> bytes:
    method, path, body, kind = make_wrong_request(rng, spec)
    if body is None:
        return get(path).replace(b"GET", method.encode(), 1)
    return post(path, body, kind)


async def measure_malformed(model: Path, options: list[str]) -> None:
    with running(model, options) as server:
        await wait_for(server)
        spec = await ask_once(server, get("/openapi.json"))
        rng, statuses, shown = random.Random(0), Counter[int](), 0
        link, sizes = Connection(server), [server.memory()]
        for t in range(10_000):
            raw = make_wrong(rng, spec)
            status, body = await link.ask(raw)
            statuses[status] += 1
            shown += b"Traceback" in body
            if status >= 500:
                print(status, body, raw[:300])
            if t in (999, 4999):
                sizes.append(server.memory())
        sizes.append(server.memory())
        link.close()
    print(
        f"malformed: {dict(sorted(statuses.items()))}, tracebacks shown {shown}; memory after 0, "
        f"1,000, 5,000 and 10,000: {', '.join(f'{size:.0f}' for size in sizes)} MB; tracebacks in "
        f"the log {server.log.read_text().count('Traceback')}"
    )


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--titles")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--workers", default="1")
    parser.add_argument("--only", default="start,load,batch,replace,kill,malformed")
    given = parser.parse_args()
    options = ["--workers", given.workers] + (["--titles", given.titles] if given.titles else [])
    print(f"{os.cpu_count()} cores, load of the machine {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only.split(","):
            await {
                "start": lambda: measure_start(given.model, options),
                "load": lambda: measure_load(given.model, options, given.seconds),
                "batch": lambda: measure_batch(given.model, options),
                "replace": lambda: measure_replacing(given.model, options, Path(folder)),
                "kill": lambda: measure_killing(given.model, options[2:]),
                "malformed": lambda: measure_malformed(given.model, options),
            }[name]()
    print(f"load of the machine at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
