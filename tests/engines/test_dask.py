"""The engine "dask" on a real cluster of processes."""

import numpy as np
import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster

from pygeco import Entries, Solver, minimize
from pygeco.data import make_ratings
from pygeco.engines.dask import slabs
from pygeco.engines.dask.tall import Tall

ROWS, COLS, VALUES, SHAPE = make_ratings((80, 30), 1100, rank=3)
VALUES = VALUES.astype(float)


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def sent(client, plain):
    cells = plain.by_row
    parts = (cells.pointers, cells.indices, cells.values, cells.weights)
    return Entries.from_slabs(slabs.from_csr(client, *parts, plain.shape[1]))


@pytest.mark.parametrize("correction", ["sweep", "core"])
def test_the_path_is_that_of_the_cpu(client, correction) -> None:
    plain = Entries(ROWS, COLS, VALUES, SHAPE)
    solver = Solver(correction=correction)
    expected = minimize(plain, 2, solver, random_state=0)
    found = minimize(sent(client, plain), 2, solver, random_state=0)
    assert len(found) == len(expected)
    for step, known in zip(found, expected, strict=True):
        assert isinstance(step.A.U, Tall)
        assert isinstance(step.A.V, np.ndarray)
        assert step.objective == pytest.approx(known.objective, rel=1e-10)
        assert step.certificate.gap() == pytest.approx(known.certificate.gap(), rel=1e-6)
