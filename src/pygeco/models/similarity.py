"""Lines of a factor that point the same way: rows or columns alike."""

from __future__ import annotations

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.engines import choose_local_engine
from pygeco.models.ranking import Best, list_length, rank_lines
from pygeco.models.seen import Positions


def find_alike(vectors: Array, index: Positions, k: int) -> Best:
    """The k lines of `vectors` (p, r) with the largest cosine to each line of index."""
    V = _unit(vectors)

    def scores(flat: Positions) -> Array:
        table = V[flat] @ V.T
        table[np.arange(len(table), like=flat), flat] = -np.inf
        return table

    return rank_lines(index, list_length(k, len(V)), scores, V)


def find_nearest(vectors: Array, asked: Array, k: int) -> Best:
    """The k lines of `vectors` with the largest cosine to each line of `asked`."""
    own = _unit(vectors)
    table = _unit(asked) @ own.T
    found, best = choose_local_engine(own).top_k(table, min(k, len(own)))
    return Best(found, best)


def _unit(vectors: Array) -> Array:
    """Lines of length 1 in double precision; zeros stay."""
    V = vectors.astype(float)
    size = np.linalg.norm(V, axis=1, keepdims=True)
    return V / np.where(size > 0, size, 1)
