"""Work on tall arrays of the host, by NumPy or by whoever has more cores to offer.

A fit runs BLAS on one thread, for the same bits on any machine. Blocks of rows that do not depend
on the number of threads have the same bits too, and all cores can share them: an engine that can
do so offers it here. This room knows no engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


class TallWork(Protocol):
    """Work on all cores; None where NumPy does it as well."""

    def times(self, X: Array, B: Array) -> Array | None:
        """X B."""

    def inner(self, X: Array, Y: Array) -> Array | None:
        """XᵀY."""

    def times_rows(self, X: Array, factors: Array) -> Array | None:
        """diag(factors) X."""

    def stack(self, parts: Sequence[Array], dtype: Any, factors: Array | None) -> Array | None:
        """The columns of all parts side by side, each times a factor, if they are given."""


_OFFERED: list[TallWork] = []


def offer_work(work: TallWork) -> None:
    """Have this one asked from now on, before those that were offered earlier."""
    _OFFERED.insert(0, work)


def _ask(question: Callable[[TallWork], Array | None]) -> Array | None:
    """What the first one finds who takes the work; None where nobody does."""
    for work in _OFFERED:
        found = question(work)
        if found is not None:
            return found
    return None


def multiply(X: Array, B: Array) -> Array:
    """X B for a tall X and a small B."""
    found = _ask(lambda work: work.times(X, B))
    return X @ B if found is None else found


def multiply_transposed(X: Array, Y: Array) -> Array:
    """XᵀY of two tall arrays."""
    found = _ask(lambda work: work.inner(X, Y))
    return X.T @ Y if found is None else found


def multiply_rows(X: Array, factors: Array) -> Array:
    """diag(factors) X."""
    found = _ask(lambda work: work.times_rows(X, factors))
    return factors[:, None] * X if found is None else found


def multiply_columns(X: Array, factors: Array) -> Array:
    """X diag(factors)."""
    found = _ask(lambda work: work.stack([X], np.result_type(X, factors), factors))
    return X * factors if found is None else found


def stack_columns(parts: Sequence[Array], dtype: Any) -> Array:
    """The columns of all parts, (m, k) or (m,) each, side by side in a new array."""
    found = _ask(lambda work: work.stack(parts, dtype, None))
    if found is not None:
        return found
    columns = [x[:, None] if x.ndim == 1 else x for x in parts]
    return np.ascontiguousarray(
        np.concatenate(columns, axis=1, dtype=dtype, casting="unsafe")  # one pass over each
    )
