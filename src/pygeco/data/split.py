"""A random share of cells, held out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.streams import Purpose, check_seed, stream


def split_cells(count: int, test_size: float = 0.1, seed: int = 0) -> NDArray[np.bool_]:
    """A mask that is true for the held-out cells, in the order in which they were given."""
    if not 0 < test_size < 1:
        raise ValueError(f"test_size: must be between 0 and 1, not {test_size!r}.")
    check_seed(seed)
    return stream(Purpose.HOLDOUT, seed).random(count) < test_size
