"""What goes into a list: how much a row would like a column, and how likely it is to choose it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pygeco.arrays.low_rank import Array
from pygeco.arrays.short_repr import show_fields

BY = ("auto", "value", "choice")
MIN_DEVIATION = 1e-30
LOGISTIC = 1.702  # a logistic curve of this steepness is the normal distribution's, to 0.01


class ListWeights(NamedTuple):
    """Scores of choosing, from the columns that a row knows, and how they meet predicted values.

    A row that knows the columns x is drawn to columns by x diag(inward) V diag(shrink) Vᵀ
    diag(outward), and likes a column with the probability that its value is at least `threshold`.
    Lists are by the product of the one and a power of the other.
    """

    vectors: Array  # V (n, r)
    inward: Array
    outward: Array
    shrink: Array
    power: float  # of the probability of liking; infinite where values alone make better lists
    threshold: float
    deviation: float

    def __repr__(self) -> str:
        return show_fields(self)

    def score_choices(self, known: Array) -> Array:
        """The draw of every column for rows of zeros and ones."""
        coordinates = ((known * self.inward) @ self.vectors) * self.shrink
        return (coordinates @ self.vectors.T) * self.outward

    def combine(self, choice: Array, predicted: Array, power: float) -> Array:
        """Scores of lists; what draws nobody comes last, in its own order."""
        if power == 0:
            return choice
        return np.where(choice > 0, choice * self.like(predicted) ** power, choice)

    def like(self, predicted: Array) -> Array:
        """The probability of liking what has such a predicted value."""
        steepness = -LOGISTIC / max(self.deviation, MIN_DEVIATION)
        exponent = np.clip(steepness * (predicted - self.threshold), -50, 50)
        return 1 / (1 + np.exp(exponent))


def check_by(by: object) -> None:
    if by not in BY:
        raise ValueError(f"by: unknown {by!r}; use 'auto', 'value' or 'choice'.")
