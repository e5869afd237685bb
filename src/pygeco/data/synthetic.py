"""Matrices that the package makes itself, for demos, tests and benchmarks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.checks import check_rank
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.short_repr import show_fields
from pygeco.arrays.streams import RandomState, seed_from


class Triplets(NamedTuple):
    """Observed cells, as `MatrixCompletion().fit(triplets)` takes them.

    Attributes
    ----------
    rows, cols : int arrays
        The positions of the cells.
    values : array
        The values of the cells.
    shape : tuple of two ints
        The shape of the matrix.
    """

    rows: NDArray[Any]
    cols: NDArray[Any]
    values: Array
    shape: tuple[int, int]

    def __repr__(self) -> str:
        return show_fields(self)


def make_low_rank(shape: tuple[int, int], rank: int, random_state: RandomState = 0) -> LowRank:
    """Make a random matrix of a given rank, with entries of variance about one.

    Parameters
    ----------
    shape : tuple of two ints
        The shape of the matrix.
    rank : int
        The rank of the matrix.
    random_state : int, Generator or None, default=0
        The same seed gives the same matrix.

    Returns
    -------
    LowRank

    Examples
    --------
    >>> from pygeco.data import make_low_rank
    >>> make_low_rank((30, 20), 3).rank
    3
    """
    seed = seed_from(random_state)
    rng = np.random.default_rng(seed)
    (m, n), rank = shape, check_rank(rank)
    U, V = rng.standard_normal((m, rank)), rng.standard_normal((n, rank))
    return LowRank(U, np.full(rank, rank**-0.5), V).svd()


def make_ratings(
    shape: tuple[int, int] = (1000, 600),
    cells: int = 40_000,
    rank: int = 4,
    noise: float = 0.5,
    random_state: RandomState = 0,
    dtype: type = np.float32,
) -> Triplets:
    """Make ratings from 1 to 5 in halves: a few tastes, popular columns, busy rows, and noise.

    Rows and columns are drawn with power-law popularity; each cell occurs at most once.

    Parameters
    ----------
    shape : tuple of two ints, default=(1000, 600)
        Of the matrix.
    cells : int, default=40_000
        The number of ratings; at most half of all cells.
    rank : int, default=4
        The number of tastes.
    noise : float, default=0.5
        The standard deviation of the noise, in stars.
    random_state : int, Generator or None, default=0
        The same seed gives the same ratings.
    dtype : type, default=numpy.float32
        The type of the values.

    Returns
    -------
    Triplets

    Examples
    --------
    >>> from pygeco.data import make_ratings
    >>> rows, cols, values, shape = make_ratings((30, 20), 200)
    >>> len(values), shape
    (200, (30, 20))
    """
    seed = seed_from(random_state)
    rng = np.random.default_rng(seed)
    m, n = shape
    if not 0 < cells <= 0.5 * m * n:
        raise ValueError(f"cells: must be between 1 and half of m × n = {m * n // 2}, not {cells}.")
    keys = np.zeros(0, np.int64)
    while len(keys) < cells:
        want = int(1.3 * (cells - len(keys))) + 16
        i = rng.permutation(m)[(m * rng.random(want) ** 1.5).astype(np.int64)]
        j = (n * rng.random(want) ** 2).astype(np.int64)
        keys = np.unique(np.concatenate([keys, i * n + j]))
    keys = rng.permutation(keys)[:cells]
    rows, cols = (keys // n).astype(np.int32), (keys % n).astype(np.int32)
    taste = make_low_rank(shape, rank, seed + 1)
    liking = 0.8 * taste.entries(rows, cols)
    mood, fame = 0.4 * rng.standard_normal(m), 0.4 * rng.standard_normal(n)
    stars = 3.5 + liking + mood[rows] + fame[cols] + noise * rng.standard_normal(cells)
    values: Array = np.clip(np.round(2 * stars) / 2, 1, 5).astype(dtype)
    return Triplets(rows, cols, values, shape)
