"""The engine "dask": agreement, time, traffic and deaths, on clusters of processes on this machine.

    python benchmarks/cluster.py agree speed tasks traffic deaths   # or some of them
    python benchmarks/cluster.py speed --cells 1e6               # 1e7 by default

docs/scale.md explains the tables. `speed` compares times inside one run; CPU seconds are beside
them, for a machine that others use too.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import threading
import time
import warnings
from collections import Counter
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from distributed import Client
from distributed.comm.tcp import TCP

from pygeco import Entries, Path, Solver, minimize
from pygeco.data import make_ratings
from pygeco.engines.cpu.threads import set_num_threads
from pygeco.engines.dask.cluster import start_cluster
from pygeco.errors import WorkerLostWarning

SWEEP = Solver(correction="sweep")


@contextmanager
def cluster(workers: int) -> Any:
    with start_cluster(workers=workers) as client:
        yield client


def ratings(shape: tuple[int, int], cells: int) -> tuple[Any, ...]:
    rows, cols, values, shape = make_ratings(shape, cells, rank=8)
    return rows, cols, values.astype(float), shape


def agree() -> None:
    """The largest relative difference of the objective from the cpu engine's, over the ranks."""
    data = ratings((6_000, 1_500), 200_000)
    for correction, rank in (("sweep", 5), ("core", 5)):
        solver = Solver(correction=correction)
        known = minimize(Entries(*data), rank, solver, random_state=0)
        for workers in (1, 2, 4):
            with cluster(workers) as client:
                found = minimize(Entries(*data, engine=client), rank, solver, random_state=0)
            worst = max(
                abs(a.objective / b.objective - 1) for a, b in zip(found, known, strict=True)
            )
            bits = float(found.steps[-1].objective).hex()
            print(f"agree  {correction:5}  {workers} worker(s)  {worst:.1e}  {bits}", flush=True)


def speed(cells: int) -> None:
    """A path to rank 10: the cpu engine with 2 threads, and 2 workers with one thread each.

    Two turns of each, one after the other; the quicker ones are compared.
    """
    data = ratings((cells // 140, cells // 930), cells)
    set_num_threads(2)
    plain = Entries(*data)
    with cluster(2) as client:
        entries = Entries(*data, engine=client)
        turns: dict[str, list[Turn]] = {"cpu": [], "dask": []}
        for _ in range(2):
            for name, objective in (("cpu", plain), ("dask", entries)):
                minimize(objective, 1, SWEEP, random_state=0)
                turns[name].append(turn(objective, client))
    here, there = (min(turns[name], key=lambda t: t.wall) for name in ("cpu", "dask"))
    worst = max(
        abs(a.objective / b.objective - 1) for a, b in zip(there.path, here.path, strict=True)
    )
    print(
        f"speed  {cells:.0e} cells  cpu {here.wall:.1f} s ({here.cpu:.1f} CPU s)  "
        f"dask {there.wall:.1f} s ({there.cpu:.1f} CPU s)  ratio {there.wall / here.wall:.2f} "
        f"({there.cpu / here.cpu:.2f} in CPU s)  largest difference {worst:.1e}",
        flush=True,
    )


class Turn(NamedTuple):
    path: Path
    wall: float
    cpu: float


def turn(objective: Entries, client: Client) -> Turn:
    """A path to rank 10, its seconds, and the CPU seconds of all processes."""
    before, began = spent() + workers_spent(client), time.perf_counter()
    path = minimize(objective, 10, SWEEP, random_state=0)
    wall = time.perf_counter() - began
    return Turn(path, wall, spent() + workers_spent(client) - before)


def spent() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def workers_spent(client: Client) -> float:
    return sum(client.run(spent).values())


def traffic() -> None:
    """Bytes of a rank: from the client, to the client, to the workers, and from them."""
    print("traffic  workers     n   rank    client →    → client   → workers   workers →")
    for n, several in ((1_000, (1, 2, 4)), (4_000, (2,))):
        data = ratings((8_000, n), 200_000)
        for workers in several:
            with cluster(workers) as client:
                counted()
                client.run(counted)
                entries = Entries(*data, engine=client)
                minimize(entries, 1, SWEEP, random_state=0)
                watch = Traffic(client)
                minimize(entries, 6, SWEEP, random_state=0, callback=watch)
            for rank, (out, back, down, up) in watch.rows.items():
                print(
                    f"traffic  {workers:7}  {n:4}  {rank:5}  "
                    + "  ".join(f"{x / 1e3:7.0f} kB" for x in (out, back, down, up)),
                    flush=True,
                )


class Traffic:
    """What was written since the last rank."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.scheduler = client.scheduler.address
        self.workers = set(client.scheduler_info(n_workers=-1)["workers"])
        self.before = self.now()
        self.rows: dict[int, np.ndarray] = {}

    def now(self) -> np.ndarray:
        out = TCP.sent[self.scheduler]
        names = client_side(self.client)
        down = sum(size for peer, size in TCP.sent.items() if peer in names)
        back = sum(TCP.sent.values()) - out - down
        up = sum(self.client.run(written).values())
        return np.array([out, back, down, up], float)

    def __call__(self, step: Any) -> bool:
        now = self.now()
        self.rows[step.rank] = now - self.before
        self.before = self.now()  # without what asking for it took
        return False


def client_side(client: Client) -> set[str]:
    """The addresses at which the scheduler knows the workers."""
    made: Any = client.cluster
    found = set(made.scheduler.workers)
    for name in list(made.scheduler.stream_comms):
        comm = made.scheduler.stream_comms[name].comm
        if comm is not None:
            found.add(comm.peer_address)
    return found


def counted() -> None:
    """Count the bytes that this process writes from now on, by the other end's address."""
    if hasattr(TCP, "sent"):
        return
    write, TCP.sent = TCP.write, Counter()

    async def writing(self: Any, *args: Any, **kwargs: Any) -> Any:
        size = await write(self, *args, **kwargs)
        TCP.sent[self.peer_address] += size
        return size

    TCP.write = writing


def written() -> int:
    from distributed.comm.tcp import TCP  # that of the worker on which this runs

    return sum(TCP.sent.values())


def tasks() -> None:
    """What an empty task costs: CPU milliseconds of client and scheduler, and of two workers."""
    with cluster(2) as client:
        for count in (1, 8, 32, 128):
            before, cpu, began = workers_spent(client), spent(), time.perf_counter()
            for trip in range(20):
                client.gather(client.map(same, [(trip, k) for k in range(count)], pure=False))
            wall = (time.perf_counter() - began) / 20
            own, theirs = spent() - cpu, workers_spent(client) - before
            print(
                f"tasks  {count:4} a trip: {wall * 1e3:.0f} ms, client and scheduler "
                f"{own / 20 * 1e3:.1f} CPU ms, workers {theirs / 20 * 1e3:.1f} CPU ms",
                flush=True,
            )


def same(x: Any) -> Any:
    return x


def deaths() -> None:
    """One of three workers is killed (SIGKILL) at a random moment of a fit, five times on each of
    two clusters.
    """
    data, chance = ratings((2_000, 300), 40_000), random.Random(0)
    for _ in range(2):
        with cluster(3) as client:
            known, took = fitted(client, data, None)
            print(f"deaths  none: objective {known!r} after {took:.1f} s", flush=True)
            for _ in range(5):
                killer = Killer(living(client)[chance.randrange(3)], chance)
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    found, seconds = fitted(client, data, killer)
                lost = sum(issubclass(t.category, WorkerLostWarning) for t in told)
                same = "the same" if found == known else f"{found!r}"
                print(
                    f"deaths  {killer.wait:.1f} s after rank {killer.rank}: {same}, "
                    f"{seconds:.1f} s, {lost} warning(s)",
                    flush=True,
                )


class Killer:
    """Kills a process at a random moment of the rank after a random one."""

    def __init__(self, pid: int, chance: random.Random) -> None:
        self.pid, self.rank, self.share = pid, chance.randrange(1, 4), chance.random()
        self.wait = 0.0

    def __call__(self, step: Any) -> bool:
        if step.rank == self.rank:
            self.wait = self.share * step.seconds / step.rank
            threading.Timer(self.wait, os.kill, (self.pid, signal.SIGKILL)).start()
        return False


def living(client: Client) -> list[int]:
    """The processes of the three workers, once a dead one has been replaced."""
    while True:
        try:
            pids = sorted(client.run(os.getpid).values())
        except OSError:  # one is dead, and not yet known to be
            pids = []
        if len(pids) == 3:
            return pids
        time.sleep(0.5)


def fitted(client: Client, data: Any, killer: Killer | None) -> tuple[float, float]:
    """The objective at rank 4, and the seconds."""
    began = time.perf_counter()
    entries = Entries(*data, engine=client)
    path = minimize(entries, 4, SWEEP, random_state=0, callback=killer)
    return path.steps[-1].objective, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "parts", nargs="*", default=["agree", "speed", "tasks", "traffic", "deaths"]
    )
    parser.add_argument("--cells", type=float, default=1e7)
    given = parser.parse_args()
    for part in given.parts:
        if part == "speed":
            speed(int(given.cells))
        else:
            {"agree": agree, "traffic": traffic, "deaths": deaths, "tasks": tasks}[part]()


if __name__ == "__main__":
    main()
