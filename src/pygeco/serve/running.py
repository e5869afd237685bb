"""A server as one process, or as several under a supervisor that share a socket and a model."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import uvicorn

from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.errors import ModelFileError, ReadError
from pygeco.serve.app import make_app
from pygeco.serve.guard import Guard
from pygeco.serve.listing import list_rows
from pygeco.serve.metrics import Counters, make_counters
from pygeco.serve.protocol import make_protocol
from pygeco.serve.reporting import Reporter
from pygeco.serve.requests import FoldIn, Known
from pygeco.serve.served import Served, TitleFile, open_served
from pygeco.serve.service import Service
from pygeco.serve.settings import Settings
from pygeco.serve.watching import POLL_SECONDS, ModelFile, read_current, write_current

LOG = logging.getLogger("pygeco.serve")
COUNTERS = "counters"
WARM_UP_SECONDS = 0.5  # after the start
SWITCH_SECONDS = 0.0005  # for which a thread waits for another's Python; 0.005 by default
WARM_UP_ROWS = 64
MIN_LIFE_SECONDS = 2.0  # of a worker; one that dies sooner is not started again at once
MAX_EARLY_DEATHS = 5  # in a row, then the server gives up
THREAD_SETTINGS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. `announce` is told the address once clients may connect."""
    settings.check()
    sock = bind(settings.host, settings.port)
    folder = Path(tempfile.mkdtemp(prefix="geco-serve-"))
    try:
        file = ModelFile(settings.model, folder, open_counters(settings, folder, settings.workers))
        copy = file.copy()
        write_current(folder, copy)
        host, port = sock.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        if settings.workers == 1:
            run_process(settings, sock, folder, 0, file, lambda: announce(address))
        else:
            Supervisor(settings, sock, folder, file).run(lambda: announce(address))
    finally:
        sock.close()
        shutil.rmtree(folder, ignore_errors=True)


def open_counters(settings: Settings, folder: Path, line: int) -> Counters:
    """A line of the counters that all processes share: each worker's own, and last the file's."""
    return make_counters(folder / COUNTERS, settings.workers + 1, line)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; an `OSError` that names the address where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(1024)
    except OSError as error:
        sock.close()
        reason = error.strerror or str(error)
        raise ValueError(f"--port: cannot listen on {host}:{port}: {reason}.") from error
    return sock


def run_process(
    settings: Settings,
    sock: socket.socket,
    folder: Path,
    line: int,
    file: ModelFile | None,
    announce: Callable[[], None] | None = None,
) -> None:
    """One process of a server, until it is told to stop. `file` is looked at by one alone."""
    copy = read_current(folder)
    titles = find_titles(settings)
    served = open_served(copy, titles)
    counters = open_counters(settings, folder, line)
    service = Service(served, counters, caches=settings.caches)
    reporter = Reporter(settings, folder)
    reporter.copy = copy
    app = make_app(service, settings.limits, reporter, needs_token=settings.token is not None)
    config = uvicorn.Config(
        Guard(app, settings, counters),
        http=make_protocol(settings.limits),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # nothing here asks who is asking
        server_header=False,
        backlog=1024,
        timeout_keep_alive=int(settings.limits.idle_seconds),
        timeout_graceful_shutdown=int(settings.limits.drain_seconds),
    )
    server = uvicorn.Server(config)
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(ValueError):  # in a thread, where tests run it
            signal.signal(number, _stay)  # uvicorn's own takes its place until it has stopped

    async def run() -> None:
        watcher = asyncio.create_task(watch(service, reporter, titles, folder, file))
        if announce is not None:
            announce()
        try:
            await server.serve(sockets=[sock])
        finally:
            watcher.cancel()
            service.close()

    sys.setswitchinterval(SWITCH_SECONDS)  # lists are some 40 short calls beside the event loop
    gc.freeze()  # what is here now stays; looking through it takes milliseconds
    # Products of a few rows are done before a second thread wakes; processes use other cores.
    with one_blas_thread(), asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(run())


async def watch(
    service: Service,
    reporter: Reporter,
    titles: TitleFile | None,
    folder: Path,
    file: ModelFile | None,
) -> None:
    """Take models into service as they are put in place."""
    served_copy = reporter.copy  # perhaps no longer the current one
    await asyncio.sleep(WARM_UP_SECONDS)
    await asyncio.to_thread(warm_up, service.served)  # answers do not wait for it
    while True:
        await asyncio.sleep(POLL_SECONDS)
        try:
            if file is not None:
                found = await asyncio.to_thread(file.look)
                if found is not None:
                    write_current(folder, found)
            copy = read_current(folder)
            if copy == served_copy:
                continue
            served_copy = copy
            served = await asyncio.to_thread(prepare, copy, titles)
        except (ModelFileError, ReadError, OSError) as error:
            service.counters.count("model_failures_total")
            LOG.error("the model stays as it is: %s", error)
            continue
        service.replace_model(served)
        reporter.copy = copy
        LOG.info("model %s is in service", served.version)


def warm_up(served: Served) -> None:
    """Load the kernels of batches and of new people, once the first answers are out.

    A model of clicks finds the basis of its background too, which takes longer than an answer may.
    """
    from pygeco.serve.newcomers import fold_people

    rows = np.arange(min(WARM_UP_ROWS, *served.model.shape))
    value = None if served.is_of_clicks else served.bounds[0]
    known = [Known(item=served.name(1, rows[:1])[0], value=value)]
    try:
        list_rows(served.model, served.list_parts, rows, 1, by="auto", hides=True, allowed=None)
        fold_people(served, [known], FoldIn(k=1, reasons=1), None)
    except Exception:
        LOG.exception("the first lists failed")


def prepare(copy: Path, titles: TitleFile | None) -> Served:
    """A model ready to answer at once."""
    served = open_served(copy, titles)
    _ = served.list_parts
    warm_up(served)
    return served


def find_titles(settings: Settings) -> TitleFile | None:
    if settings.titles is None:
        return None
    return TitleFile(settings.titles, settings.title_item, settings.title)


class Supervisor:
    """Worker processes: started, started again when they die, told to stop, waited for."""

    def __init__(
        self, settings: Settings, sock: socket.socket, folder: Path, file: ModelFile
    ) -> None:
        self.settings, self.sock, self.folder, self.file = settings, sock, folder, file
        self.workers: list[subprocess.Popen[bytes]] = []
        self.began: list[float] = []
        self.early_deaths = 0
        self.stops = threading.Event()

    def run(self, announce: Callable[[], None]) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.stops.set())
        for line in range(self.settings.workers):
            self.workers.append(self._start(line))
            self.began.append(time.monotonic())
        announce()
        try:
            while not self.stops.wait(POLL_SECONDS):
                self._look_after_workers()
                found = self.file.look()
                if found is not None:
                    write_current(self.folder, found)
        finally:
            self._stop()

    def _start(self, line: int) -> subprocess.Popen[bytes]:
        threads = str(max(1, (os.cpu_count() or 1) // self.settings.workers))
        process = subprocess.Popen(
            [sys.executable, "-m", "pygeco.serve.worker"],
            stdin=subprocess.PIPE,
            pass_fds=(self.sock.fileno(),),
            env=dict.fromkeys(THREAD_SETTINGS, threads) | os.environ,
        )
        told = {
            "settings": self.settings.to_json(),
            "socket": self.sock.fileno(),
            "folder": str(self.folder),
            "line": line,
        }
        assert process.stdin is not None
        process.stdin.write(json.dumps(told).encode() + b"\n")
        process.stdin.flush()  # and stays open: its end tells the worker that this process died
        return process

    def _look_after_workers(self) -> None:
        for line, process in enumerate(self.workers):
            if process.poll() is None:
                continue
            lived = time.monotonic() - self.began[line]
            self.early_deaths = self.early_deaths + 1 if lived < MIN_LIFE_SECONDS else 0
            if self.early_deaths > MAX_EARLY_DEATHS:
                raise RuntimeError("the workers die as soon as they are started; see the log.")
            LOG.error("worker %d ended with %d and is started again", line, process.returncode)
            _close(process)
            self.workers[line] = self._start(line)
            self.began[line] = time.monotonic()

    def _stop(self) -> None:
        for process in self.workers:
            process.terminate()
        last = time.monotonic() + self.settings.limits.drain_seconds + 5
        for process in self.workers:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, last - time.monotonic()))
            if process.poll() is None:
                process.kill()
                process.wait()
            _close(process)


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()


def _stay(*_: object) -> None:
    """A signal that has done its work."""
