"""Both orders of cells against a stable sort, for any number of runs side by side."""

import numpy as np
import pytest

from pygeco.engines.cpu import cells as orders
from pygeco.engines.cpu.engine import ENGINE


@pytest.mark.parametrize("runs", [1, 3, 32])
@pytest.mark.parametrize("shape", [(1, 1), (7, 400), (400, 7), (90, 80)])
def test_orders_are_those_of_a_stable_sort(monkeypatch, runs, shape) -> None:
    monkeypatch.setattr(orders, "MAX_SORTING_RUNS", runs)
    monkeypatch.setattr(orders, "SORTED_CELLS_PER_PLACE", 1e-9)
    rng = np.random.default_rng(runs)
    count = 1_000  # some cells repeat, and keep their order
    at = [rng.integers(0, size, count).astype(np.int32) for size in shape]
    values, weights = np.arange(count, dtype=np.float32), rng.random(count).astype(np.float32)
    both = ENGINE.both_orders(*at, values, weights, shape)
    for order, (major, minor), groups in zip(both, (at, at[::-1]), shape, strict=True):
        sort = np.lexsort((np.arange(count), minor, major))
        np.testing.assert_array_equal(order.values, values[sort])
        np.testing.assert_array_equal(order.weights, weights[sort])
        np.testing.assert_array_equal(order.indices, minor[sort])
        counts = np.bincount(major, minlength=groups)
        np.testing.assert_array_equal(order.pointers, np.append(0, np.cumsum(counts)))


def test_no_cells() -> None:
    none = np.zeros(0, np.int32)
    both = ENGINE.both_orders(none, none, np.zeros(0, np.float32), None, (3, 2))
    assert [order.pointers.tolist() for order in both] == [[0] * 4, [0] * 3]


@pytest.mark.parametrize("groups", [0, 1, 15, 16, 17, 600, 5000])
@pytest.mark.parametrize("cells", [0, 1, 30, 3000])
def test_blocks_are_whole_vectors_of_groups_where_they_stay_small(groups, cells):
    rng = np.random.default_rng(0)
    pointers = np.concatenate([[0], np.cumsum(rng.poisson(cells, groups))]).astype(np.int64)
    blocks = orders.cut_blocks(pointers)
    assert blocks[0] == 0
    assert blocks[-1] == groups
    assert np.all(np.diff(blocks) > 0)
    assert len(blocks) - 1 <= orders.BLOCK_COUNT
    if cells > 1 and groups >= 600:
        assert np.all(blocks[:-1] % orders.SYSTEMS_AT_ONCE == 0)


def test_blocks_of_few_long_groups_are_shared():
    # Whole vectors of them would leave most cores without work.
    pointers = np.arange(0, 40_001, 1000)
    np.testing.assert_array_equal(orders.cut_blocks(pointers), orders.block_bounds(pointers))
    assert len(orders.cut_blocks(pointers)) == 41
    heavy = np.concatenate([np.arange(200), 200 + np.arange(1, 41) * 5000])
    sizes = np.diff(heavy[orders.cut_blocks(heavy)])
    assert sizes.max() <= orders.MAX_BLOCK_SHARE * heavy[-1]
