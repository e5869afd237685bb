"""What the rivals for clicks share: scores of columns that are a function of a row's clicks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from pygeco.arrays.low_rank import Array
from pygeco.models.seen import Positions, Seen


def take_clicks(X: Any, columns: int | None = None, dtype: Any = np.float64) -> Any:
    """A matrix of ones where X is not zero, as CSR with columns that ascend within a row."""
    if not sp.issparse(X) and np.ndim(X) != 2:
        raise ValueError(f"clicks: expected a matrix of rows and columns, not {type(X).__name__}.")
    kind = X.dtype if sp.issparse(X) else np.asarray(X).dtype
    if kind.kind not in "fiub":
        raise ValueError(f"clicks: expected numbers, not {kind}.")
    found = sp.csr_matrix(X, copy=True)
    if np.isnan(found.data).any():
        raise ValueError("clicks: have NaN; a cell without a click is zero.")
    found.sum_duplicates()
    found.eliminate_zeros()
    found.data = np.ones(len(found.data), dtype)
    if columns is not None and found.shape[1] != columns:
        raise ValueError(f"clicks: have {found.shape[1]:,} columns, the model {columns:,}.")
    return found


@dataclass(frozen=True, eq=False)
class ClickScores(ABC):
    """Scores of all columns for rows that are known by their clicks alone.

    `pygeco.evaluate` judges it, and `fold_in` gives the same for other rows.

    Attributes
    ----------
    clicks : sparse matrix (m, n)
        Ones where a row clicked.
    """

    clicks: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.clicks.shape

    @property
    def seen(self) -> Seen:
        """The clicks, which lists leave out."""
        X = self.clicks
        return Seen(X.indptr.astype(np.int64), X.indices, X.data)

    @abstractmethod
    def score_clicks(self, X: Any) -> Array:
        """Scores of all columns from the clicks of some rows, sparse (rows, n)."""

    def score_rows(self, rows: Positions) -> Array:
        """Scores of all columns for these rows."""
        return self.score_clicks(self.clicks[rows])

    def fold_in(self, clicks: Any) -> Self:
        """The same scores for other rows, by their clicks."""
        return replace(self, clicks=take_clicks(clicks, self.shape[1], self.clicks.dtype))
