"""One cluster of two worker processes for all tests of this folder, and three slabs at least."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

import forked_workers  # noqa: F401
from pygeco.engines.dask import slabs

SETTINGS = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
HERE = Path(__file__).parent
OPEN = ExitStack()  # the cluster, from the first test that needs it to the last of the folder
CLIENTS: list[Client] = []


@pytest.fixture(scope="module")
def client():
    if not CLIENTS:
        cluster = OPEN.enter_context(LocalCluster(2, **SETTINGS))
        CLIENTS.append(OPEN.enter_context(Client(cluster)))
    return CLIENTS[0]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem) -> None:
    if nextitem is None or nextitem.path.parent != HERE:
        CLIENTS.clear()
        OPEN.close()


@pytest.fixture
def mortal():
    """A cluster for a test that kills a worker: the death is no news to the other tests."""
    with LocalCluster(2, **SETTINGS) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def _slabs():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slabs, "MIN_SLABS", 3)
        yield
