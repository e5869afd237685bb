"""One cluster of two worker processes for all tests of this folder, and four slabs at least."""

import pytest
from distributed import Client, LocalCluster

from pygeco.engines.dask import slabs

SETTINGS = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}


@pytest.fixture(scope="session")
def client():
    with LocalCluster(2, **SETTINGS) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def mortal():
    """A cluster for a test that kills a worker: the death is no news to the other tests."""
    with LocalCluster(2, **SETTINGS) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="session", autouse=True)
def _slabs():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slabs, "MIN_SLABS", 4)
        yield
