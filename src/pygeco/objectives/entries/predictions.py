"""Predictions at the observed cells: all that the loss sees of a matrix, and linear in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pygeco.arrays.checks import check_factors
from pygeco.arrays.kinds import zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.engines import Cells
from pygeco.objectives.entries.gradient import EntriesGradient
from pygeco.objectives.entries.objective import Entries


@dataclass(frozen=True, eq=False)
class Predictions:
    """z = A at the cells of `entries`, by row and by column, in float64.

    A sum of many rank-one matrices is followed in O(|E|) each, where a pass over its factors
    would cost O(|E| k).
    """

    entries: Entries
    rows: Array
    cols: Array

    @classmethod
    def of(cls, entries: Entries, A: LowRank) -> Predictions:
        """O(|E| s)."""
        check_factors(A, entries.shape)
        left = A.left
        rows, cols = _at_cells(entries.by_row, left, A.V), _at_cells(entries.by_col, A.V, left)
        return cls(entries, rows, cols)

    def mix(self, a: float, other: Predictions, b: float) -> Predictions:
        """The predictions of a A + b A′. O(|E|)."""
        return Predictions(
            self.entries, a * self.rows + b * other.rows, a * self.cols + b * other.cols
        )

    def slopes_at(self, rows: Array) -> Array:
        """w ℓ′(z, y) by row, for other predictions z."""
        return _slopes(self.entries, self.entries.by_row, rows)

    @cached_property
    def slopes(self) -> Array:
        """w ℓ′(z, y) by row."""
        return self.slopes_at(self.rows)

    @property
    def value(self) -> float:
        """R(A)."""
        cells = self.entries.by_row
        losses = self.entries.loss.value(self.rows, cells.values)
        total = losses @ cells.weights if len(cells.weights) else losses.sum()
        return float(total) / self.entries.total_weight

    def along(self, other: Predictions) -> float:
        """⟨∇R(A), A′⟩."""
        return float(self.slopes @ other.rows) / self.entries.total_weight

    def gradient(self) -> EntriesGradient:
        """∇R(A), as `entries.gradient(A)` gives it. O(|E|)."""
        cols = _slopes(self.entries, self.entries.by_col, self.cols)
        scale = 1.0 / self.entries.total_weight
        return EntriesGradient(self.entries, self.slopes, cols, scale, self.value, self.along(self))


def _at_cells(cells: Cells, P: Array, Q: Array) -> Array:
    """⟨P_i, Q_j⟩ at the cells: the residuals of zero targets."""
    nothing = zeros(cells.size, cells.values)
    return cells.engine.residuals(cells._replace(values=nothing, weights=nothing[:0]), P, Q).data


def _slopes(entries: Entries, cells: Cells, z: Array) -> Array:
    slopes = entries.loss.slope(z, cells.values)
    return slopes * cells.weights if len(cells.weights) else slopes
