"""Values that come beside pairs of ids."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def name_values(y: Any) -> str:
    """What the values are called where they come beside the pairs."""
    return str(getattr(y, "name", None) or "rating")


def check_values(y: ArrayLike, count: int) -> NDArray[Any]:
    """The values beside `count` pairs, as numbers."""
    try:
        values = np.asarray(y)
        values = values if values.dtype == np.float32 else values.astype(float)
    except (TypeError, ValueError):
        raise ValueError("y: expected numbers, one for each pair of X.") from None
    if values.shape != (count,):
        raise ValueError(f"y: expected {count:,} values, one for each pair, not {values.shape}.")
    return values
