"""What can be asked of a fitted model, wherever its rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.short_repr import show_fields
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.average import Average
from pygeco.bayes.drift import Drift
from pygeco.bayes.likelihoods.base import Likelihood
from pygeco.bayes.posterior import Posterior
from pygeco.engines import Engine, choose_engine
from pygeco.losses import Loss
from pygeco.models.list_scores import ListWeights
from pygeco.models.new_lines import NewLines
from pygeco.models.ranking import UNKNOWN, Best, ListFilters, Reasons
from pygeco.models.seen import Positions, Seen, sort_cells
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases

if TYPE_CHECKING:
    from pygeco.models.completion import CompletionModel


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedModel(NewLines, ABC):
    """Z = A + μ + b_i + c_j, as a fit left it. Rows and columns are positions, 0 … m − 1.

    Where a method takes positions of cells, −1 stands for the average row or column. Where time
    says something, `biases` are those of the last time of the data, of which every answer speaks
    that is not asked for another.

    Attributes
    ----------
    factors : LowRank
        A, m × n.
    biases : Biases
        μ, b and c.
    loss : Loss
        With what it left open estimated from the data.
    seen, held_out : Seen
        The cells of the fit, and those that were kept out of it, if any.
    offsets : tuple of str
        Which of "global", "row" and "column" were fitted.
    penalty : Penalty, "evidence" or None
    total_weight : float
        Of the cells.
    levels : tuple of float
        The mean of counts^gamma of the rows, and of the columns; see `Penalty`.
    bounds : tuple of float
        The smallest and the largest observed value.
    clips : bool
        Whether predictions are clipped to `bounds`.
    posterior, average : Posterior and Average or None
        Where the evidence was used, and where draws were.
    row_attributes, column_attributes : AttributeValues or None
        What the fit was told of rows and columns.
    lists : ListWeights or None
        What rows choose, where that was learned.
    """

    factors: LowRank
    biases: Biases
    loss: Loss
    seen: Seen
    offsets: tuple[str, ...]
    penalty: Penalty | str | None
    total_weight: float
    levels: tuple[float, float]
    bounds: tuple[float, float]
    clips: bool
    posterior: Posterior | None = None
    average: Average | None = None
    held_out: Seen | None = None
    row_attributes: AttributeValues | None = None
    column_attributes: AttributeValues | None = None
    lists: ListWeights | None = None

    def __repr__(self) -> str:
        return show_fields(self)

    @property
    def weight_unit(self) -> float:
        """What a given weight of one is among those of the cells."""
        return 1.0 if self.posterior is None else self.posterior.weight_unit

    @abstractmethod
    def linear(self, rows: Positions, cols: Positions, times: Array | None = None) -> Array:
        """⟨u_i s, v_j⟩ + μ + b_i + c_j at cells, and what time adds; positions broadcast."""

    @abstractmethod
    def deviation(self, rows: Positions, cols: Positions, times: Array | None = None) -> Array:
        """The standard deviation of a new observation; an average has the spread of all."""

    @abstractmethod
    def spread(self, rows: Positions, cols: Positions) -> Array:
        """The variance of linear predictions at cells, by the evidence, without noise or time."""

    @abstractmethod
    def best(
        self,
        rows: Positions,
        k: int,
        filters: ListFilters = UNKNOWN,
        *,
        by: str = "auto",
    ) -> Best:
        """The k columns to list for each row, of those that the filters let pass, and predictions.

        By value, those with the highest linear prediction: that is what a row likes, where a mean
        count rises with what is not known of it. "auto" counts how likely a row is to choose
        them too, where the model has `lists`; "choice" counts that alone.
        """

    def add_lines(
        self, rows: AttributeValues | None, columns: AttributeValues | None
    ) -> CompletionModel:
        """The model with rows and columns after its own that are known by attributes alone."""
        from pygeco.models.cold import add_lines

        return add_lines(self, rows, columns)

    @abstractmethod
    def similar_rows(self, rows: Positions, k: int) -> Best:
        """The k rows with the largest cosine to each of `rows`, itself left out."""

    @abstractmethod
    def similar_columns(self, cols: Positions, k: int) -> Best:
        """The same for columns."""

    @abstractmethod
    def explain(self, row: int, column: int, k: int, time: float | None = None) -> Reasons:
        """The k known cells of the row that move its prediction at `column` most."""

    @abstractmethod
    def was_fitted(self, rows: Positions, cols: Positions) -> NDArray[np.bool_]:
        """Whether each cell is one of the fit's; −1 is none."""

    @abstractmethod
    def count_contradictions(self, rows: Positions, cols: Positions, values: Array) -> int:
        """How many cells have another value than the fit had there, as far as is known here."""

    @abstractmethod
    def check_updatable(self) -> None:
        """An error where new cells cannot be taken in."""

    @abstractmethod
    def update(
        self, new: Entries, places: tuple[Positions, Positions], times: Array | None = None
    ) -> FittedModel:
        """With new cells taken in, without another fit; `times` are theirs, row by row.

        `new` has the shape of the larger matrix, in which places[0] and places[1] say where the
        old rows and columns are. A cell that is known already gets its new value.
        """

    @abstractmethod
    def move_to(self, like: Array) -> FittedModel:
        """The same model with its large arrays of the kind of `like`."""

    @abstractmethod
    def prepare_for_file(self) -> Self:
        """The same model, of which a file can be written without holding all of it here."""

    @abstractmethod
    def row_models(self) -> tuple[object, ...]:
        """Models of runs of rows, in order, or futures of them."""

    @property
    @abstractmethod
    def is_here(self) -> bool:
        """Whether all rows are with this process, rather than with the workers of a cluster."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.factors.shape

    @property
    def engine(self) -> Engine:
        """Where the model is; of one on a cluster, its columns, which is what new rows need."""
        return choose_engine(None, self.factors.V)

    @property
    def likelihood(self) -> Likelihood | None:
        """That of labels, levels and counts, where the evidence was used."""
        found = self.average or self.posterior
        return None if found is None else found.likelihood

    @property
    def noise(self) -> float:
        """The variance of the noise of numbers; of ordinary ones, where some are wild."""
        p, found = self.expect_evidence(), self.doubt
        if isinstance(found, Average):
            return found.scale**2 * found.noise / p.tails
        return p.scale**2 / p.tau

    @property
    def doubt(self) -> Average | Posterior:
        """What says how far predictions are from certain: draws, but one alone says nothing."""
        found = self.average
        return self.expect_evidence() if found is None or len(found.draws) < 2 else found

    def respond(self, z: Array, variance: Array | None = None) -> Array:
        """Linear predictions, known up to a variance, on the scale of the observed values."""
        if self.likelihood is None or variance is None:
            values = self.loss.response(z)
        else:
            values = self.likelihood.respond(z, variance.astype(z.dtype))
        return np.clip(values, *self.bounds) if self.clips else values

    def predict(self, rows: Positions, cols: Positions, times: Array | None = None) -> Array:
        """The values at cells, on the scale of the observed ones."""
        variance = None if self.likelihood is None else self.spread(rows, cols)
        return self.respond(self.linear(rows, cols, times), variance)

    @property
    def drift(self) -> Drift | None:
        """What time adds, in units of `posterior.scale`."""
        found = self.average or self.posterior
        return None if found is None else found.drift

    def move_in_time(self, rows: Positions, cols: Positions, times: Array) -> Array:
        """What other times add to linear predictions, which are of the last; on the host."""
        drift, p = self.drift, self.posterior
        if drift is None or p is None:
            return np.zeros(np.broadcast_shapes(np.shape(rows), np.shape(cols)))
        asked, end = drift.look_up(rows, cols, times), drift.look_up(rows, cols)
        return p.scale * (asked.mean - end.mean)

    def at(self, time: float | None) -> Self:
        """The model as it speaks of one time, by default the last."""
        drift, p = self.drift, self.posterior
        if time is None or drift is None or p is None:
            return self
        raw = drift.add_to_biases(self.biases, -p.scale)
        return replace(self, biases=drift.add_to_biases(raw, p.scale, time))

    def score(self, z: Array, targets: Array, variance: Array | None = None) -> float:
        """Higher is better: −RMSE of linear predictions, or minus the mean loss of labels."""
        if self.likelihood is not None and variance is not None:
            return -float(np.mean(self.likelihood.score_loss(targets, z, variance), dtype=float))
        if not self.loss.regression:
            return -float(np.mean(self.loss.value(z, targets), dtype=float))
        error = self.respond(z) - targets
        return -float(np.sqrt(np.mean(error.astype(float) ** 2)))

    def to_dense(self) -> Array:
        """The whole completed matrix."""
        if self.likelihood is not None:
            m, n = self.shape
            return self.predict(np.arange(m)[:, None], np.arange(n))
        b = self.biases
        full = self.factors.to_dense() + (b.mean + b.row[:, None] + b.col)
        return self.respond(full.astype(self.factors.U.dtype, copy=False))

    def rank_for_average(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Best:
        """The k best columns of the average row, of those allowed."""
        n = self.shape[1]
        z = host(self.linear(np.full(n, -1), np.arange(n)))
        ranked = z if allowed is None else np.where(allowed, z, -np.inf)
        order = np.argsort(-ranked, kind="stable")[:k]
        average = np.full(len(order), -1)
        variance = None if self.likelihood is None else host(self.spread(average, order))
        return Best(order, self.respond(z[order], variance))

    def keep_held_out(
        self, rows: Positions, cols: Positions, values: Array, times: Array | None = None
    ) -> Self:
        """The same model with cells that were kept out of its fit."""
        return replace(self, held_out=sort_cells(rows, cols, values, self.shape, times))
