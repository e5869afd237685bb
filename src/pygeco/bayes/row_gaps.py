"""The missing cells of a table's rows: those with as many of them together, for batched systems."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import parts
from pygeco.arrays.low_rank import Array

ROOM = 1 << 22  # numbers in the systems of rows that are solved at once
MAX_KEPT_PAIRS = 1 << 16  # of a group of rows: finding them again costs less than their room
MIN_SHARED_CELLS = 8  # missing ones of a row, for its pattern's products to be worth a turn each
MIN_SHARING = 4  # rows a pattern, for its product to be one with all of them


class Gaps(NamedTuple):
    """Some rows (n, 1) with u missing cells each, at `cols` (n, u): rows of `patterns` (p, u).

    Where columns are few, so are patterns: what follows from one is found once. cols is
    patterns[which]. `cells` (n, u) and `pairs` (p, u, u) are the places of the missing cells in a
    table that is read in one line, and of their pairs in its covariance; None where there are many.
    """

    rows: NDArray[np.intp]
    cols: NDArray[np.intp]
    patterns: NDArray[np.intp]
    which: NDArray[np.intp]
    cells: NDArray[np.intp]
    pairs: NDArray[np.intp] | None

    def invert(self, P: Array) -> Array:
        """The inverse of P within the missing cells, pattern by pattern (p, u, u)."""
        own = P.ravel()[self.place_pairs(len(P))]
        return 1 / own if own.shape[1] == 1 else np.linalg.inv(own)

    def place_pairs(self, d: int) -> NDArray[np.intp]:
        """Where pairs of missing cells are in a covariance (d, d) that is read in one line."""
        at = self.patterns
        return at[:, :, None] * d + at[:, None, :] if self.pairs is None else self.pairs

    def move(self, own: Array, pull: Array) -> Array:
        """What is missing from its mean (n, u): the inverses times the rows' pulls."""
        part = pull.ravel()[self.cells]
        if part.shape[1] == 1:
            return own[self.which, 0] * part
        if part.shape[1] < MIN_SHARED_CELLS or len(part) < MIN_SHARING * len(own):
            return (own[self.which] @ part[:, :, None])[:, :, 0]
        out = np.empty(part.shape)
        order = np.argsort(self.which, kind="stable")
        for k, rows in enumerate(np.split(order, np.cumsum(np.bincount(self.which))[:-1])):
            out[rows] = part[rows] @ own[k]
        return out


def list_gaps(known: NDArray[np.bool_]) -> list[Gaps]:
    """Rows with the same number of missing cells, as many as there is room for."""
    d = known.shape[1]
    missing = d - known.sum(axis=1)
    keys = _pack_rows(known)
    found = []
    for u in np.unique(missing[missing > 0]).tolist():
        rows = np.flatnonzero(missing == u)
        for part in parts(len(rows), max(1, ROOM // u**2)):
            own = rows[part]
            _, first, which = np.unique(keys[own], return_index=True, return_inverse=True)
            patterns = np.nonzero(~known[own[first]])[1].reshape(-1, u)
            cols = patterns[which]
            gap = Gaps(own[:, None], cols, patterns, which, own[:, None] * d + cols, None)
            keeps = len(patterns) * u**2 <= MAX_KEPT_PAIRS
            found.append(gap._replace(pairs=gap.place_pairs(d)) if keeps else gap)
    return found


def _pack_rows(known: NDArray[np.bool_]) -> NDArray[Any]:
    """A key for each row that tells which of its cells are known."""
    bits = np.packbits(known, axis=1)
    if bits.shape[1] > 8:
        return bits.view(np.dtype((np.void, bits.shape[1])))[:, 0]
    wide = np.zeros((len(bits), 8), np.uint8)
    wide[:, : bits.shape[1]] = bits
    return wide.view(np.uint64)[:, 0]


class GapMemo(dict[bytes, list[Gaps]]):
    """Gaps that were listed before: models of one table in other shapes ask for the same."""

    def recall(self, known: NDArray[np.bool_]) -> list[Gaps]:
        """What `list_gaps` gives, listed once."""
        key = known.shape[1].to_bytes(8, "little") + np.packbits(known).tobytes()
        if key not in self:
            self[key] = list_gaps(known)
        return self[key]
