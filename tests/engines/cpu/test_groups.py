"""Sums and moves of groups of cells against dense NumPy, by each who does them."""

import numpy as np
import pytest

from pygeco.arrays import grouped
from pygeco.arrays.grouped import NumpyWork, cut_lines, group_work
from pygeco.engines import choose_engine
from pygeco.engines.cpu import groups
from pygeco.engines.cpu.groups import GROUP_WORK, CpuGroupWork
from pygeco.engines.cpu.threads import limit_threads

WORKS = [NumpyWork(), CpuGroupWork()]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(grouped, "MIN_BLOCK_CELLS", 8)
    monkeypatch.setattr(groups, "PART_CELLS", 7)


def make(size, kind):
    rng = np.random.default_rng(size)
    codes = np.sort(rng.integers(0, max(size // 3, 1), size)).astype(kind)
    return codes, rng.standard_normal(size), rng.uniform(0.5, 2, size), rng.permutation(size)


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_passes_are_those_of_dense_numpy(work, kind, size):
    codes, values, weights, order = make(size, kind)
    count, blocks = size // 3 + 2, cut_lines(codes)  # the last groups have no cells
    Z = np.eye(count)[codes]
    for w in (None, weights):
        found = work.sum_groups(values, w, codes, count, blocks)
        assert np.allclose(found, Z.T @ (values if w is None else w * values))
    moves = np.arange(count) - 1.5
    moved = values.copy()
    work.move_groups(moved, moves, codes, blocks)
    assert np.allclose(moved, values + Z @ moves)
    order = order.astype(kind)
    assert np.array_equal(work.take(values, order), values[order])
    assert np.array_equal(work.put(work.take(values, order), order), values)


def test_sums_have_the_same_bits_for_any_number_of_threads():
    codes, values, weights, _ = make(1000, np.int32)
    blocks = cut_lines(codes)
    assert len(blocks) > 20
    sums = []
    for threads in (1, 2):
        with limit_threads(threads):
            sums.append(GROUP_WORK.sum_groups(values, weights, codes, 400, blocks))
    assert np.array_equal(*sums)


def test_the_engine_does_them():
    choose_engine("cpu")
    assert group_work() is GROUP_WORK
