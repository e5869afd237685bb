"""Numbers of cells in groups: summed over groups, moved by a number a group, put in another order.

NumPy does it, or an engine that has more cores to offer; this room knows none. `blocks` are the
bounds of runs of cells that have no group in common. They follow from the cells alone, so that the
cores change no bit.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array

Places = NDArray[np.integer]
MIN_BLOCK_CELLS = 1 << 13
MAX_BLOCKS = 256


class GroupWork(Protocol):
    """The passes; arrays of the host, in float64."""

    def sum_groups(
        self, values: Array, weights: Array | None, codes: Places, count: int, blocks: Places
    ) -> Array:
        """Σ w x over the cells of each of `count` groups."""

    def move_groups(self, values: Array, moves: Array, codes: Places, blocks: Places) -> None:
        """values += moves[codes], in place."""

    def take(self, values: Array, order: Places) -> Array:
        """values[order]."""

    def put(self, values: Array, order: Places) -> Array:
        """The inverse: out[order] = values."""


class NumpyWork:
    """On one core."""

    def sum_groups(
        self, values: Array, weights: Array | None, codes: Places, count: int, blocks: Places
    ) -> Array:
        weighed = values if weights is None else values * weights
        return np.bincount(codes, weighed, minlength=count).astype(float)

    def move_groups(self, values: Array, moves: Array, codes: Places, blocks: Places) -> None:
        values += moves[codes]

    def take(self, values: Array, order: Places) -> Array:
        return values[order]

    def put(self, values: Array, order: Places) -> Array:
        out = np.empty_like(values)
        out[order] = values
        return out


_OFFERED: list[GroupWork] = [NumpyWork()]


def offer_groups(work: GroupWork) -> None:
    """Have this one do the passes from now on."""
    _OFFERED[:] = [work]


def group_work() -> GroupWork:
    """Who does the passes."""
    return _OFFERED[0]


def cut_lines(lines: Places) -> Places:
    """Blocks of cells of whole lines, where the cells come line by line; else one block."""
    size = len(lines)
    if not size or (lines[1:] < lines[:-1]).any():
        return np.array([0, size])
    count = int(np.clip(size // MIN_BLOCK_CELLS, 1, MAX_BLOCKS))
    marks = lines[np.arange(1, count) * size // count]
    return np.unique(np.r_[0, np.searchsorted(lines, marks), size])
