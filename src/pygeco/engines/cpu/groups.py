"""Numbers of cells in groups, on all cores. See `pygeco.arrays.grouped`."""

from __future__ import annotations

import numpy as np

from pygeco.arrays.grouped import Places
from pygeco.arrays.low_rank import Array
from pygeco.engines.cpu.parallel import spread

PART_CELLS = 1 << 14  # that a thread puts in order at once


@spread("blocks", ends=1)
def _sum_block(b, blocks, codes, values, weights, out):
    for e in range(np.uint64(blocks[b]), np.uint64(blocks[b + 1])):
        w = weights[e] if len(weights) else 1.0
        out[codes[e]] += w * values[e]


@spread("blocks", ends=1)
def _move_block(b, blocks, codes, moves, values):
    for e in range(np.uint64(blocks[b]), np.uint64(blocks[b + 1])):
        values[e] += moves[codes[e]]


@spread("parts")
def _take_part(b, order, size, values, out, parts):
    for e in range(np.uint64(b * size), np.uint64(min((b + 1) * size, len(order)))):
        out[e] = values[order[e]]


@spread("parts")
def _put_part(b, order, size, values, out, parts):
    for e in range(np.uint64(b * size), np.uint64(min((b + 1) * size, len(order)))):
        out[order[e]] = values[e]


class CpuGroupWork:
    """Each block adds to groups of its own, from its first cell to its last."""

    def sum_groups(
        self, values: Array, weights: Array | None, codes: Places, count: int, blocks: Places
    ) -> Array:
        out = np.zeros(count)
        _sum_block(blocks, codes, values, np.zeros(0) if weights is None else weights, out)
        return out

    def move_groups(self, values: Array, moves: Array, codes: Places, blocks: Places) -> None:
        _move_block(blocks, codes, moves, values)

    def take(self, values: Array, order: Places) -> Array:
        out = np.empty_like(values)
        _take_part(order, PART_CELLS, values, out, -(-len(order) // PART_CELLS))
        return out

    def put(self, values: Array, order: Places) -> Array:
        out = np.empty_like(values)
        _put_part(order, PART_CELLS, values, out, -(-len(order) // PART_CELLS))
        return out


GROUP_WORK = CpuGroupWork()
