"""One cluster of two worker processes for all tests of this folder."""

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def client():
    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(2, **settings) as cluster, Client(cluster) as client:
        yield client
