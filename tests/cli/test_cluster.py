"""Where `geco fit --engine dask` computes."""

import pytest

from pygeco.cli.cluster import Cluster, open_cluster, parse_cluster
from pygeco.cli.console import Voice


def test_what_the_options_say() -> None:
    assert parse_cluster("cpu", None, None) is None
    assert parse_cluster("dask", None, 3) == Cluster(None, 3)
    assert parse_cluster("dask", "tcp://host:1", None) == Cluster("tcp://host:1", None)
    for wrong, match in (
        (("cpu", None, 2), r"^--workers: goes with --engine dask"),
        (("cuda", "tcp://host:1", None), r"^--scheduler: goes with --engine dask"),
        (("dask", "tcp://host:1", 2), r"^--workers: the scheduler has workers of its own"),
    ):
        with pytest.raises(ValueError, match=match):
            parse_cluster(*wrong)


def test_no_cluster_is_started_for_nothing(tmp_path) -> None:
    with open_cluster(None, "r.csv", Voice(False)) as client:
        assert client is None
    missing = open_cluster(Cluster(None, 1), str(tmp_path / "no.parquet"), Voice(False))
    with pytest.raises(FileNotFoundError), missing:
        pass
