"""Products of tall arrays of the host, by NumPy or by whoever has more cores to offer.

A fit runs BLAS on one thread, for the same bits on any machine. Blocks of rows that do not depend
on the number of threads have the same bits too, and all cores can share them: an engine that can
do so offers it here. This room knows no engine.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


class TallProducts(Protocol):
    """Products on all cores; None where NumPy's own are the better ones."""

    def times(self, X: Array, B: Array) -> Array | None: ...

    def inner(self, X: Array, Y: Array) -> Array | None: ...


_OFFERED: list[TallProducts] = []


def offer_products(products: TallProducts) -> None:
    """Have these tried from now on, before those that were offered earlier."""
    _OFFERED.insert(0, products)


def multiply(X: Array, B: Array) -> Array:
    """X B for a tall X and a small B."""
    for products in _OFFERED:
        found = products.times(X, B)
        if found is not None:
            return found
    return X @ B


def multiply_transposed(X: Array, Y: Array) -> Array:
    """XᵀY of two tall arrays."""
    for products in _OFFERED:
        found = products.inner(X, Y)
        if found is not None:
            return found
    return X.T @ Y
