"""Passes of the engine "dask" across the boundaries of slabs and blocks, of any size, both ways:
each is that of the cpu on the whole.
"""

import numpy as np
import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster

import forked_workers  # noqa: F401
from pygeco import Entries
from pygeco.arrays.kinds import host
from pygeco.engines.dask import functions, grid, passes, slabs
from pygeco.losses import LogCosh

LOSS = LogCosh()


@pytest.fixture(scope="module")
def client():
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=1, **options) as cluster, Client(cluster) as client:
        yield client


def entries(shape, engine):
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random(shape) < 0.5)
    y, w = rng.standard_normal(len(rows)), rng.uniform(0.5, 2.0, len(rows))
    return Entries(rows, cols, y, shape, sample_weight=w, engine=engine)


def each_pass(data, columns):
    """The numbers of every pass over the rows (or columns), by its name."""
    rng = np.random.default_rng(1)
    cells = data.by_col if columns else data.by_row
    engine, (own, other) = data.engine, data.shape[::-1] if columns else data.shape
    P, Q = rng.standard_normal((own, 3)), rng.standard_normal((other, 3))
    found = {
        "counts": cells.counts(),
        "product": engine.product(cells, cells.values, 0.5, Q[:, 0]),
        "products": engine.products(cells, cells.values, 0.5, Q),
        "residuals": engine.residuals(cells, P, Q)[1:],
        "fresh products": engine.fresh_products(cells, P, Q, 0.5, Q)[0],
        "cross Grams": engine.cross_grams(cells, Q, Q[:, 0]),
        "total": engine.total(cells, LOSS, P, Q),
        "slopes": engine.slopes(cells, LOSS, P, Q)[1:],
        "half-sweep": data.half_sweep(Q, P, side="column" if columns else "row", ridge=1e-3),
    }
    found |= {f"moments {k}": x for k, x in enumerate(engine.moments(cells, Q))}
    found |= {f"systems {k}": x for k, x in enumerate(engine.systems(cells, LOSS, P, Q, 3))}
    return found


@pytest.mark.parametrize("shape", [(40, 9), (9, 40)], ids=str)
@pytest.mark.parametrize(("slab_count", "room", "fan"), [(1, 300, 2), (4, 300, 2), (5, 1 << 28, 8)])
def test_every_pass_is_that_of_the_whole(client, monkeypatch, shape, slab_count, room, fan) -> None:
    monkeypatch.setattr(slabs, "MIN_SLABS", slab_count)
    monkeypatch.setattr(passes, "COLUMN_BLOCK_BYTES", room)  # bytes of the columns' systems at once
    monkeypatch.setattr(grid, "PARTS_PER_SUM", fan)
    monkeypatch.setattr(functions, "MAX_FETCHED_NUMBERS", room)
    plain, spread = entries(shape, None), entries(shape, client)
    assert len(spread.engine.bounds) == slab_count + 1
    for columns in (False, True):
        expected, found = each_pass(plain, columns), each_pass(spread, columns)
        for name, known in expected.items():
            here = [float(x) for x in found[name]] if isinstance(known, tuple) else found[name]
            np.testing.assert_allclose(host(here), known, rtol=1e-9, atol=1e-10, err_msg=name)
