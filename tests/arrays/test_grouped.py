"""Blocks of cells that have no line in common."""

import numpy as np
import pytest

from pygeco.arrays import grouped
from pygeco.arrays.grouped import cut_lines


@pytest.mark.parametrize("size", [0, 1, 7, 100])
@pytest.mark.parametrize("lines", [1, 3, 50])
def test_blocks_are_of_whole_lines_and_have_all_cells(size, lines, monkeypatch):
    monkeypatch.setattr(grouped, "MIN_BLOCK_CELLS", 4)
    own = np.sort(np.random.default_rng(size).integers(0, lines, size))
    blocks = cut_lines(own)
    assert (blocks[0], blocks[-1]) == (0, size)
    assert np.all(np.diff(blocks) > 0) or not size
    for cut in blocks[1:-1]:
        assert own[cut - 1] < own[cut]
    if size == 100 and lines == 50:
        assert len(blocks) > 10


def test_cells_in_no_order_are_one_block(monkeypatch):
    monkeypatch.setattr(grouped, "MIN_BLOCK_CELLS", 1)
    assert cut_lines(np.array([0, 0, 1, 0, 2, 2])).tolist() == [0, 6]
