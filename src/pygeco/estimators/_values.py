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


def refuse_other_order(X: Any, **beside: Any) -> None:
    """Refuse Series whose index has the labels of X in another order: pandas would go by label,
    scikit-learn by position, and one of the two is not what was meant.
    """
    index: Any = getattr(X, "index", None)
    for name, values in beside.items():
        own: Any = getattr(values, "index", None)
        if not (hasattr(index, "equals") and hasattr(own, "equals")) or own.equals(index):
            continue
        if own.is_unique and index.is_unique and len(own) == len(index) and own.isin(index).all():
            raise ValueError(
                f"{name}: its index has the labels of X in another order; pass "
                f"{name}.loc[X.index] to go by label, or {name}.to_numpy() to go by position."
            )
