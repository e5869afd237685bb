"""A wait on a cluster ends with a sentence, whatever does not come."""

import http.server
import socket
import threading
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("distributed")

import dask
from distributed import Client, LocalCluster, Status

from pygeco import MatrixCompletion
from pygeco.data import make_ratings
from pygeco.engines.dask import cluster, patience
from pygeco.errors import ClusterError

RATINGS = make_ratings((30, 20), 200, random_state=0)
WITHIN = 15  # seconds, of a sentence about what is missing


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(patience, "ANSWER_SECONDS", 1.5)
    with dask.config.set({"pygeco.patience": 1.0}):
        yield


def test_a_sentence_comes_soon_enough() -> None:
    assert patience.PATIENCE_SECONDS + patience.LOOK_SECONDS < WITHIN


@contextmanager
def listener(greeting):
    """A server that greets, and then says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = []

        def serve():
            while True:
                try:
                    taken.append(server.accept()[0])
                    taken[-1].sendall(greeting)
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        for one in taken:
            one.close()


@contextmanager
def web(_):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize(
    ("serve", "greeting"),
    [(listener, b""), (listener, b"SSH-2.0-OpenSSH_9.6\r\n"), (listener, b"\0" * 64), (web, b"")],
)
def test_what_is_not_a_scheduler_is_said_to_be_none(serve, greeting) -> None:
    with serve(greeting) as port:
        began = time.monotonic()
        with (
            pytest.raises(ClusterError, match=rf"answers at tcp://127.0.0.1:{port}; start one"),
            cluster.start_cluster(f"tcp://127.0.0.1:{port}"),
        ):
            pass
        assert time.monotonic() - began < 10


@pytest.fixture(scope="module")
def client():
    # Without a limit nobody looks at the memory, and a worker stays paused until told otherwise.
    quiet = {"dashboard_address": ":0", "silence_logs": 50, "memory_limit": 0}
    with (
        LocalCluster(1, threads_per_worker=1, processes=False, protocol="tcp", **quiet) as here,
        Client(here) as found,
    ):
        yield found


def test_a_worker_is_not_a_scheduler(client) -> None:
    address = client.cluster.workers[0].address
    with (
        pytest.raises(ClusterError, match="is no scheduler, but a Worker"),
        cluster.start_cluster(address),
    ):
        pass


def set_status(client, status) -> None:
    for worker in client.cluster.workers.values():
        worker.status = status
    wanted = [status.name] * len(client.cluster.workers)
    while client.run_on_scheduler(patience._worker_states) != wanted:
        time.sleep(0.05)


@pytest.fixture
def paused(client):
    set_status(client, Status.paused)
    yield client
    set_status(client, Status.running)


@pytest.mark.filterwarnings("ignore")
def test_workers_paused_for_memory_are_told_of(paused) -> None:
    with pytest.raises(ClusterError, match="all 1 workers of the cluster are paused"):
        MatrixCompletion(1, engine="dask", random_state=0).fit(RATINGS)


def test_workers_that_pause_under_way_are_told_of(paused) -> None:
    told = []
    future = paused.submit(int, 3, pure=False)
    with pytest.raises(ClusterError, match="their memory is full; free it"):
        patience.await_futures(paused, [future], told.append)
    assert told
    assert set(told) == {0.0}
    set_status(paused, Status.running)
    patience.await_futures(paused, [future], told.append)
    assert told[-1] == 1.0
    assert patience.gather_values(paused, [future]) == [3]


def test_a_cluster_without_workers_is_told_of() -> None:
    quiet = {"dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=0, processes=False, **quiet) as empty, Client(empty) as client:
        with pytest.raises(ClusterError, match="has no workers; start some with `dask worker"):
            MatrixCompletion(1, engine="dask", random_state=0).fit(RATINGS)
        with pytest.raises(ClusterError, match="has no workers"):
            patience.gather_values(client, [client.submit(int, 3)])
