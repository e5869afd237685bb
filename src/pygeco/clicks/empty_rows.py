"""Rows without a click, of whom nothing is known: they are the average row."""

from __future__ import annotations

from pygeco.arrays.kinds import contiguous, on
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.objectives import Entries


def settle_factors(factors: LowRank, entries: Entries) -> LowRank:
    """Singular vectors in the precision of the clicks; rows without any at the mean of the others.

    That is then the mean of all rows, which stands for rows that were not fitted.
    """
    filled, dtype = fill_empty_rows(factors.U, entries), entries.dtype
    factors = LowRank(filled, factors.s, factors.V).svd(filled.dtype)
    U, s, V = contiguous(factors.U, dtype), factors.s.astype(dtype), contiguous(factors.V, dtype)
    return LowRank(U, s, V)


def fill_empty_rows(X: Array, entries: Entries) -> Array:
    """X with the mean of its other rows in those without clicks; X itself where all have some."""
    is_empty = entries.counts()[0] == 0
    if not bool(is_empty.any()):
        return X
    empty = on(is_empty[:, None], X).astype(X.dtype)
    others = X * (1 - empty)
    count = len(X) - float(empty.sum(dtype=float))
    return others + empty * (others.sum(axis=0, dtype=float) / count).astype(X.dtype)
