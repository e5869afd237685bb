"""A row's table: room for all that is written, and nothing of the row before."""

import pytest

from pygeco.engines.cpu.row_tables import tables
from pygeco.engines.cpu.simd import TILE
from pygeco.engines.cpu.vectors import BYTES


@pytest.mark.parametrize("itemsize", [4, 8])
@pytest.mark.parametrize("offset", [0, 1])
def test_tiles_stay_within_a_row_s_table(itemsize, offset):
    # A tile covers 8 rows and a register's columns, whatever the rank; one too many once damaged
    # the heap at rank 0, where the fit of the offsets begins.
    lanes = BYTES // itemsize
    for s in range(1 - offset, 130):
        d4, stride, size = tables(s, s + offset, lanes)
        width = max(1, -(-s // lanes)) * lanes
        last = width - lanes  # the first column of the last tiles
        reach = (max(last, -(-s // TILE) * TILE - TILE) + TILE - 1) * stride + width
        if s or lanes == 2 * TILE:
            assert reach <= size - 2 * stride  # where sums of vectors are made
        assert d4 * stride + width <= size - stride
        assert stride >= width
