"""Where `geco fit --engine dask` computes."""

import pytest

from pygeco.cli.cluster import Cluster, cluster_of, open_cluster
from pygeco.cli.console import Voice


def test_what_the_options_say() -> None:
    assert cluster_of("cpu", None, None) is None
    assert cluster_of("dask", None, 3) == Cluster(None, 3)
    assert cluster_of("dask", "tcp://host:1", None) == Cluster("tcp://host:1", None)
    for wrong, match in (
        (("cpu", None, 2), r"^--workers: goes with --engine dask"),
        (("cuda", "tcp://host:1", None), r"^--scheduler: goes with --engine dask"),
        (("dask", "tcp://host:1", 2), r"^--workers: the scheduler has workers of its own"),
    ):
        with pytest.raises(ValueError, match=match):
            cluster_of(*wrong)


def test_no_cluster_is_started_for_nothing(tmp_path) -> None:
    with open_cluster(None, "r.csv", Voice(False)) as client:
        assert client is None
    missing = open_cluster(Cluster(None, 1), str(tmp_path / "no.parquet"), Voice(False))
    with pytest.raises(FileNotFoundError), missing:
        pass
