"""How the GPU cuts cells into the pieces that a warp works on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays import empty, host, zeros

# A piece has |E| / PIECES cells, but at least and at most so many.
PIECES, SHORTEST, LONGEST = 1 << 16, 256, 1 << 14


class Pieces(NamedTuple):
    """Piece p has the cells starts[p] … starts[p + 1] − 1, group i the pieces first[i] …
    first[i + 1] − 1, at least one; groups[p] is the group of piece p. `split` says that some
    group has several; `known` keeps the runs that were asked for.
    """

    starts: NDArray[np.int64]
    first: NDArray[np.int64]
    groups: NDArray[np.int32]
    total: int
    length: int
    split: bool
    known: dict[int, list[tuple[slice, slice]]]


def cut(pointers: NDArray[np.int64]) -> Pieces:
    """Each group in pieces of equal length, but for its last one. Depends on the data alone."""
    size, groups = int(pointers[-1] - pointers[0]), len(pointers) - 1
    length = min(max(size // PIECES, SHORTEST), LONGEST) // 32 * 32
    each = np.maximum(-(-np.diff(pointers) // length), 1)
    first = zeros(groups + 1, pointers, np.int64)
    first[1:] = np.cumsum(each)
    count = int(first[-1])
    own = np.repeat(np.arange(groups, dtype=np.int32, like=pointers), each)
    starts = empty(count + 1, pointers, np.int64)
    starts[:count] = pointers[own] + (np.arange(count, like=pointers) - first[own]) * length
    starts[count] = pointers[-1]
    return Pieces(starts, first, own, count, length, count > groups, {})


def runs(pieces: Pieces, most: int) -> list[tuple[slice, slice]]:
    """Groups and their pieces in runs of at most `most` pieces (or of one group)."""
    if most not in pieces.known:
        pieces.known[most] = list(_runs(pieces, most))
    return pieces.known[most]


def _runs(pieces: Pieces, most: int) -> Iterator[tuple[slice, slice]]:
    groups = len(pieces.first) - 1
    if pieces.total <= most:
        yield slice(0, groups), slice(0, pieces.total)
        return
    first = host(pieces.first)
    at = 0
    while at < groups:
        end = int(np.searchsorted(first, first[at] + most, "right")) - 1
        end = min(max(end, at + 1), groups)
        yield slice(at, end), slice(int(first[at]), int(first[end]))
        at = end
