"""What columns of numbers without names may be: ids, pairs of ids, cells with values."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

MIN_TRIPLES = (10, 200, 200)  # rows from which 3, 4 and 5 columns can be told from a small matrix
MIN_PAIRS = 50  # rows from which two columns of integers, with values beside them, are pairs
MIN_DISTINCT_PAIRS = 0.9  # of the pairs of triples; numbers of a matrix repeat each other's pairs
MIN_TIME = 10**6  # numbers from here on, all of them, are times: seconds or yyyymmdd


def looks_like_triples(columns: list[NDArray[Any]]) -> bool:
    """Whether two of three columns, a time aside, could be the ids of the cells of a third; of more
    columns where there are many rows.

    Ids are whole, are not negative, repeat, and hardly any pair of them comes twice.
    """
    first = columns[: len(MIN_TRIPLES) + 4]  # of any more, too many are left
    rest = [c for c in first if not (is_whole(c) and float(c.min(initial=0)) >= MIN_TIME)]
    if not 3 <= len(rest) <= len(MIN_TRIPLES) + 2 or len(columns) - len(rest) > 1:
        return False
    if len(rest[0]) < MIN_TRIPLES[len(rest) - 3]:
        return False
    ids = [np.unique(c, return_inverse=True)[1] for c in rest if is_whole(c) and c.min() >= 0]
    return any(_are_pairs(one, other) for one, other in combinations(ids, 2))


def looks_like_pairs(columns: list[NDArray[Any]]) -> bool:
    """Whether two columns of whole numbers could be the ids of cells, many enough to tell."""
    if len(columns) != 2 or len(columns[0]) < MIN_PAIRS:
        return False
    if not all(is_whole(column) and column.min() >= 0 for column in columns):
        return False
    one, other = (np.unique(column, return_inverse=True)[1] for column in columns)
    return _are_pairs(one, other)


def _are_pairs(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    repeat = max(int(one.max()), int(other.max())) + 1 < len(one)
    return repeat and _count_pairs(one, other) >= MIN_DISTINCT_PAIRS * len(one)


def _count_pairs(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    return len(np.unique(one * (int(other.max(initial=0)) + 1) + other))


def is_whole(column: NDArray[Any]) -> bool:
    if column.dtype.kind in "iu":
        return True
    return column.dtype.kind == "f" and bool(
        np.all(np.isfinite(column) & (np.floor(column) == column))
    )


def are_ids(table: NDArray[Any]) -> bool:
    """Whether two columns beside values are ids: text, integers, whole numbers that pair up.

    A few integers that repeat each other's pairs are a small matrix, as scikit-learn's checks have.
    """
    if table.dtype.kind not in "iuf":
        return table.dtype.kind in "OU"
    if not all(is_whole(column) for column in table.T):
        return False
    one, other = (np.unique(column, return_inverse=True)[1] for column in table.T)
    if table.dtype.kind == "f":
        return _are_pairs(one, other)
    return len(table) >= MIN_PAIRS or 2 * _count_pairs(one, other) >= len(table)
