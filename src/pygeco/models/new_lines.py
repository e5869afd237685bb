"""What a fitted model makes of rows and columns that were not fitted."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.kinds import on, ones
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.posterior import Posterior
from pygeco.losses import Loss
from pygeco.models.folding import Folded, Linear, Sizes, fold, measure_variances
from pygeco.models.seen import Positions
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases


class NewLines:
    """New rows and columns of a model, each fitted to its own cells alone."""

    factors: LowRank
    biases: Biases
    loss: Loss
    offsets: tuple[str, ...]
    penalty: Penalty | str | None
    total_weight: float
    levels: tuple[float, float]
    posterior: Posterior | None

    @abstractmethod
    def counts(self) -> tuple[Positions, Positions]:
        """Cells of each row and of each column."""

    @property
    def components(self) -> Array:
        """Vᵀ; with offsets for rows, and one more component, all ones."""
        V = self.factors.V
        rest = [ones((1, len(V)), V, V.dtype)] if "row" in self.offsets else []
        return np.vstack([V.T, *rest])

    def fold_rows(self, entries: Entries, values: AttributeValues | None = None) -> Folded:
        """New rows, each fitted to its own cells alone, in the basis of V."""
        return fold(self.folding_state(), self.factors, self.biases, entries, values)

    def fold_columns(self, entries: Entries, values: AttributeValues | None = None) -> Folded:
        """New columns, whose cells are given transposed, in the basis of U."""
        return fold(self.folding_state().T, self.factors.T, self.biases.T, entries, values)

    def vary_rows(
        self, entries: Entries, values: AttributeValues | None = None, *, noise: bool
    ) -> Array:
        """The variances of linear predictions in whole new rows, or of new observations there.

        They are in units of the posterior's scale, squared.
        """
        return measure_variances(self.expect_evidence().at_end, entries, values, noise=noise)

    def deviate_rows(self, entries: Entries) -> Array:
        """The standard deviations of new observations in whole new rows, by the evidence."""
        p = self.expect_evidence()
        if p.likelihood is None:
            return p.scale * np.sqrt(self.vary_rows(entries, noise=True))
        found, variance = self.fold_rows(entries), self.vary_rows(entries, noise=False)
        offsets = found.offsets[:, None] + (self.biases.mean + self.biases.col)
        return p.likelihood.deviate(found.coordinates @ self.factors.V.T + offsets, variance)

    def vary_columns(
        self, entries: Entries, values: AttributeValues | None = None, *, noise: bool
    ) -> Array:
        """The same in new columns, whose cells are given transposed; (rows, columns)."""
        return measure_variances(self.expect_evidence().at_end.T, entries, values, noise=noise).T

    def expect_evidence(self) -> Posterior:
        """The posterior; an error where there is none."""
        if self.posterior is None:
            raise ValueError("return_std: needs a model fitted with penalty='evidence'.")
        return self.posterior

    def complete_rows(self, W: Array) -> Array:
        """Linear predictions of whole rows from their coordinates in `components`."""
        basis = self.components
        W = on(W, basis)
        full = W @ basis + (self.biases.mean + self.biases.col)
        return full.astype(np.result_type(W, basis), copy=False)

    def complete_columns(self, W: Array) -> Array:
        """The same for columns, from coordinates in U and, where it was fitted, their offset."""
        basis = self.factors.U
        W = on(W, basis)
        if "column" in self.offsets:
            basis = np.column_stack([basis, ones(len(basis), basis, basis.dtype)])
        z = basis @ W.T + (self.biases.mean + self.biases.row)[:, None]
        return z.astype(np.result_type(W, basis), copy=False)

    def folding_state(self) -> Linear | Posterior:
        """What rows and columns that were not fitted are folded into."""
        if self.posterior is not None:
            return self.posterior.at_end
        rows, cols = (Sizes(*size) for size in zip(self.counts(), self.levels, strict=True))
        return Linear(
            self.factors,
            self.biases,
            rows,
            cols,
            ("row" in self.offsets, "column" in self.offsets),
            None if isinstance(self.penalty, str) else self.penalty,
            self.total_weight,
            self.loss,
        )
