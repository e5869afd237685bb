"""Numbers of cells in groups, on all cores. See `pygeco.arrays.grouped`."""

from __future__ import annotations

import numpy as np

from pygeco.arrays.grouped import Places
from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu.group_kernels import move_block, put_part, sum_block, take_part

PART_CELLS = 1 << 14  # that a thread puts in order at once


class CpuGroupWork:
    """Each block adds to groups of its own, from its first cell to its last."""

    def sum_groups(
        self, values: Array, weights: Array | None, codes: Places, count: int, blocks: Places
    ) -> Array:
        out = np.zeros(count)
        sum_block(blocks, codes, values, np.zeros(0) if weights is None else weights, out)
        return out

    def move_groups(self, values: Array, moves: Array, codes: Places, blocks: Places) -> None:
        move_block(blocks, codes, moves, values)

    def take(self, values: Array, order: Places) -> Array:
        out = np.empty_like(values)
        take_part(order, PART_CELLS, values, out, -(-len(order) // PART_CELLS))
        return out

    def put(self, values: Array, order: Places) -> Array:
        out = np.empty_like(values)
        put_part(order, PART_CELLS, values, out, -(-len(order) // PART_CELLS))
        return out


GROUP_WORK = CpuGroupWork()
