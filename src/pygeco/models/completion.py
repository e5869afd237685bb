"""A fitted model on this machine, on the CPU or a GPU."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import contiguous, empty, foreign, host, moved, on, zeros
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.average import Average
from pygeco.bayes.cold import find_cold
from pygeco.bayes.reasons import contributions
from pygeco.engines import session
from pygeco.models.base import FittedModel
from pygeco.models.list_scores import ListScores, check_by, list_by_choice, make_list_scores
from pygeco.models.ranking import UNKNOWN, Best, ListFilters, Reasons, list_length
from pygeco.models.scoring import FactorScorer, Scorer, list_best
from pygeco.models.seen import Positions, count_other_values, has_cells, hide_cells
from pygeco.models.similarity import find_alike
from pygeco.models.updating import take_in
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CompletionModel(FittedModel):
    """A model whose rows are all here.

    `average_row` is the row that stands for the average of all, in the model of a slab; without
    it, the average is that of the rows here.
    """

    average_row: int | None = None

    def linear(self, rows: Positions, cols: Positions, times: Array | None = None) -> Array:
        factors, biases = self.factors, self.biases
        rows = self._place_average(rows)
        if np.any(rows < 0) or np.any(cols < 0):
            U, V = (np.vstack([X, X.mean(axis=0, keepdims=True)]) for X in (factors.U, factors.V))
            row, col = (np.hstack([x, x.mean(keepdims=True)]) for x in (biases.row, biases.col))
            factors, biases = LowRank(U, factors.s, V), Biases(biases.mean, row, col)
        found = factors.entries(rows, cols) + biases.at(rows, cols)
        if times is not None and self.drift is not None:
            found = found + on(self.move_in_time(rows, cols, times), factors.kind)
        return found.astype(factors.U.dtype, copy=False)

    def deviation(self, rows: Positions, cols: Positions, times: Array | None = None) -> Array:
        p = self.expect_evidence()
        if self.likelihood is not None:
            z = self.linear(rows, cols)
            return self.likelihood.deviate(z, self.spread(rows, cols).astype(z.dtype))
        out = self._vary(rows, cols, noise=True)
        if self.drift is not None:
            doubt = p.scale**2 * self.drift.look_up(rows, cols, times).variance
            out = out + on(doubt, self.factors.kind)
        return np.sqrt(out).astype(self.factors.U.dtype)

    def spread(self, rows: Positions, cols: Positions) -> Array:
        return self._vary(rows, cols, noise=False)

    def _vary(self, rows: Positions, cols: Positions, *, noise: bool) -> Array:
        """The variance of linear predictions, or of new observations, time apart."""
        p, like = self.expect_evidence(), self.factors.kind
        i, j = np.broadcast_arrays(on(self._place_average(rows), like), on(cols, like))
        shape, i, j = i.shape, i.reshape(-1), j.reshape(-1)
        lost = (i < 0) | (j < 0)
        if self.average_row is not None:
            lost |= i == self.average_row
        out = empty(len(i), like)
        doubt, at = self.doubt, (i[~lost], j[~lost])
        if isinstance(doubt, Average):
            out[~lost] = doubt.variance(*at, p, noise=noise)
        else:
            out[~lost] = doubt.variance(*at, noise=noise)
        if self.average is not None:
            if doubt is p:  # one draw is off by as much as is not known
                out[~lost] += p.variance(*at, noise=False)
            cold = ~lost & find_cold(p, i, j)
            out[cold] = p.variance(i[cold], j[cold], noise=noise)
        if lost.any():
            wide = replace(p, rows=_with_average(p.rows), cols=_with_average(p.cols))
            out[lost] = wide.variance(i[lost], j[lost], noise=noise)
        return out.reshape(shape)

    def best(
        self,
        rows: Positions,
        k: int,
        filters: ListFilters = UNKNOWN,
        *,
        by: str = "auto",
    ) -> Best:
        allowed, hidden, only, hide_seen, hide_held_out = filters
        wanted = list_length(k, self.shape[1] if allowed is None else int(allowed.sum()))
        known = ((self.seen, hide_seen), (self.held_out, hide_held_out), (hidden, True))
        hides = [cells for cells, is_hidden in known if is_hidden and cells is not None]
        scorer = self._choose_scorer(by)
        if isinstance(scorer, ListScorer) and only is None and not foreign(self.factors.U):
            found, _ = list_by_choice(
                self, self.list_scores, rows.reshape(-1), wanted,
                power=scorer.power, hidden=hides, allowed=allowed,
            )  # fmt: skip
            found = found.reshape(*rows.shape, wanted)
        else:
            found, _ = list_best(scorer, rows, wanted, hidden=hides, allowed=allowed, only=only)
        answers = self.predict(on(rows, found)[..., None], np.maximum(found, 0))
        answers[found < 0] = -np.inf
        return Best(found, answers)

    @cached_property
    def left(self) -> Array:
        """U diag(s) of the factors, which lists and similar rows need again and again."""
        return self.factors.left

    def predict_lines(self, rows: Positions) -> Array:
        """All values of some rows, (k, n), in which variances do not count."""
        biases = self.biases
        z = self.left[rows] @ self.factors.V.T
        z += (biases.mean + biases.row[rows]).astype(z.dtype)[:, None]
        z += biases.col.astype(z.dtype)
        return self.respond(z)

    @cached_property
    def list_scores(self) -> ListScores:
        """What makes lists by what rows choose."""
        assert self.lists is not None
        return make_list_scores(self.lists)

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: what was kept for speed is made anew elsewhere."""
        return {field.name: self.__dict__[field.name] for field in fields(self)}

    def make_scorer(self) -> FactorScorer:
        """What differs within a row: a large mean would hide it. Scores are in double precision."""
        left, right = self.left, contiguous(self.factors.V)
        if foreign(left):
            left, right = left.astype(float), right.astype(float)
        return FactorScorer(left, right, on(self.biases.col - self.biases.col.mean(), left))

    def _choose_scorer(self, by: str) -> Scorer:
        """What makes lists by value, by choice, or by both as held-out cells weighed them."""
        check_by(by)
        if by == "choice" and self.lists is None:
            raise ValueError("by: what rows choose was not learned; use 'value', or recommend.")
        if by == "value" or self.lists is None or (by == "auto" and np.isinf(self.lists.power)):
            return self.make_scorer()
        return ListScorer(self, 0.0 if by == "choice" else self.lists.power)

    def similar_rows(self, rows: Positions, k: int) -> Best:
        return find_alike(self.left, rows, k)

    def similar_columns(self, cols: Positions, k: int) -> Best:
        return find_alike(self.factors.T.left, cols, k)

    def explain(self, row: int, column: int, k: int, time: float | None = None) -> Reasons:
        """A row's vector is linear in its cells, so its prediction is a sum over them."""
        p = self.posterior
        if p is None:
            raise ValueError("row: explain needs a model fitted with penalty='evidence'.")
        seen = self.seen
        own = slice(int(seen.pointers[row]), int(seen.pointers[row + 1]))
        cols = host(seen.indices[own]).astype(np.int64)
        others = cols != column
        cols, values = cols[others], host(seen.values[own])[others]
        lines = np.full(len(cols), row)
        said = 0.0
        if p.drift is not None:
            said = p.scale * float(p.drift.look_up(np.array(row), np.array(column), time).mean)
            values = values - p.scale * p.drift.look_up(lines, cols, seen.times[own][others]).mean
        weights = np.ones(len(cols))
        if len(seen.weights):
            weights = host(seen.weights[own])[others].astype(float)
        if p.likelihood is not None:
            z, v = p.predict_row(row, cols), host(p.variance(lines, cols, noise=False))
            squares = p.likelihood.make_squares(values.astype(float), z, v.astype(float))
            weights, values = weights * squares.weights / p.tau, squares.targets
        if p.weighing is not None:
            weights = weights * p.weighing.weights(p.predict_row(row, cols) - values)
        known = None if self.row_attributes is None else self.row_attributes.take(np.array([row]))
        base, parts, attributes = contributions(p, cols, values, weights, column, known)
        if self.average is not None:  # is what predictions are of, and the posterior is near it
            asked = None if time is None else np.array([time])
            cells = np.array([column])
            drawn = self.linear(np.array([row]), cells, asked)
            base += float(host(drawn)[0]) - float(p.predict_row(row, cells)[0]) - said
        order = np.argsort(-np.abs(parts), kind="stable")[: list_length(k, len(parts))]
        return Reasons(cols[order], parts[order], base, attributes, said)

    def was_fitted(self, rows: Positions, cols: Positions) -> NDArray[np.bool_]:
        return has_cells(self.seen, self.shape[1], rows, cols)

    def count_contradictions(self, rows: Positions, cols: Positions, values: Array) -> int:
        return count_other_values(self.seen, self.shape[1], rows, cols, values)

    def counts(self) -> tuple[Positions, Positions]:
        return (
            np.diff(host(self.seen.pointers)),
            np.bincount(host(self.seen.indices), minlength=self.shape[1]),
        )

    def check_updatable(self) -> None:
        """Such a model takes in whatever comes, wherever it is."""

    def update(
        self, new: Entries, places: tuple[Positions, Positions], times: Array | None = None
    ) -> CompletionModel:
        with session(self.factors):
            return take_in(self, new, places, times)

    def move_to(self, like: Array) -> CompletionModel:
        return moved(self, like)

    def prepare_for_file(self) -> Self:
        return self

    def row_models(self) -> tuple[CompletionModel, ...]:
        return (self,)

    @property
    def is_here(self) -> bool:
        return True

    def _place_average(self, rows: Positions) -> Positions:
        """The average row where it is asked for by −1."""
        if self.average_row is None:
            return rows
        return np.where(rows < 0, self.average_row, rows)


@dataclass(frozen=True, eq=False)
class ListScorer:
    """Scores of lists by what rows choose and, to a power, by what they would like."""

    model: CompletionModel
    power: float

    @property
    def shape(self) -> tuple[int, int]:
        return self.model.shape

    @property
    def kind(self) -> Array:
        return self.model.factors.kind

    def score_rows(self, rows: Positions) -> Array:
        model, lists = self.model, self.model.lists
        assert lists is not None
        V = model.factors.V
        known = zeros((len(rows), model.shape[1]), V, V.dtype)
        hide_cells(known, rows, model.seen, 1.0)
        choice = lists.score_choices(known)
        if self.power == 0:
            return choice
        return lists.combine(choice, model.predict_lines(rows), self.power)


def _with_average(side: Side) -> Side:
    """One more line at the end: the mean of all, with their spread and mean variance."""
    X, w = side.factor, side.variance
    b, bw = side.bias, side.bias_variance
    return Side(
        np.vstack([X, X.mean(axis=0, keepdims=True)]),
        np.hstack([b, b.mean(keepdims=True)]),
        np.vstack([w, (w.mean(axis=0) + X.var(axis=0))[None]]),
        np.hstack([bw, bw.mean(keepdims=True) + b.var()]),
    )
