"""A random share of cells, held out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.streams import Purpose, check_seed, stream


def split_cells(count: int, test_size: float = 0.1, seed: int = 0) -> NDArray[np.bool_]:
    """Choose a random share of cells to hold out.

    Parameters
    ----------
    count : int
        The number of cells.
    test_size : float, default=0.1
        The share.
    seed : int, default=0
        The same one gives the same cells.

    Returns
    -------
    bool array (count,)
        True for the held-out cells, in the order in which they were given.

    Examples
    --------
    >>> from pygeco.data import split_cells
    >>> split_cells(1000, 0.2).mean().round(1).item()
    0.2
    """
    if not 0 < test_size < 1:
        raise ValueError(f"test_size: must be between 0 and 1, not {test_size!r}.")
    check_seed(seed)
    return stream(Purpose.HOLDOUT, seed).random(count) < test_size
