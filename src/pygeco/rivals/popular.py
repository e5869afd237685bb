"""The same list for all: columns by how many rows clicked them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.rivals.click_scores import ClickScores, take_clicks


@dataclass(frozen=True, eq=False)
class Popular(ClickScores):
    """Scores that are the same for each row.

    Attributes
    ----------
    clicks : sparse matrix (m, n)
        Ones where a row clicked.
    counts : array (n,)
        How many rows clicked each column.
    """

    counts: Array

    def score_clicks(self, X: Any) -> Array:
        return np.tile(self.counts, (X.shape[0], 1))


def popular(clicks: Any) -> Popular:
    """Score columns by how many rows clicked them: the figure to beat.

    Parameters
    ----------
    clicks : sparse matrix or array (m, n)
        What is not zero is a click.

    Returns
    -------
    Popular

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.rivals import popular
    >>> popular(np.array([[1, 0, 1], [0, 0, 1]])).counts
    array([1., 0., 2.])
    """
    X = take_clicks(clicks)
    return Popular(X, np.asarray(X.sum(axis=0), dtype=float).reshape(-1))
