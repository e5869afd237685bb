"""Sums and moves of groups of cells, and orders of cells; see `groups`."""

from __future__ import annotations

import numpy as np

from pygeco.engines.cpu.parallel import spread


@spread("blocks", ends=1)
def sum_block(b, blocks, codes, values, weights, out):
    for e in range(np.uint64(blocks[b]), np.uint64(blocks[b + 1])):
        w = weights[e] if len(weights) else 1.0
        out[codes[e]] += w * values[e]


@spread("blocks", ends=1)
def move_block(b, blocks, codes, moves, values):
    for e in range(np.uint64(blocks[b]), np.uint64(blocks[b + 1])):
        values[e] += moves[codes[e]]


@spread("parts")
def take_part(b, order, size, values, out, parts):
    for e in range(np.uint64(b * size), np.uint64(min((b + 1) * size, len(order)))):
        out[e] = values[order[e]]


@spread("parts")
def put_part(b, order, size, values, out, parts):
    for e in range(np.uint64(b * size), np.uint64(min((b + 1) * size, len(order)))):
        out[order[e]] = values[e]
