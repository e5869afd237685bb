"""Lists by what rows choose and like, for many rows at once in single precision.

The same scores as `models.completion.ListScorer`, whose products are in double precision, arranged
for a server: what does not depend on the row is multiplied once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.models.completion import CompletionModel
from pygeco.models.lists import LOGISTIC, MIN_DEVIATION
from pygeco.models.ranking import Best
from pygeco.models.seen import Positions, Seen, hide_cells

CELLS_AT_ONCE = 1 << 21  # scores in memory at a time: 8 MB
SPARE = 32  # columns beside a list that rounding could bring into it
CANDIDATES = 64  # columns by choice that are looked at first, beside four times the list


class Cells(NamedTuple):
    """Known columns of rows: those of row t are columns[pointers[t] : pointers[t + 1]]."""

    pointers: NDArray[np.int64]
    columns: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ListScores:
    """Draw = x `encoder` `right`ᵀ for a row x of zeros and ones; see `ListWeights`."""

    encoder: Array
    right: Array
    power: float
    threshold: float
    deviation: float

    def draw(self, known: Cells) -> Array:
        """How much each column draws rows with these known columns, (rows, n)."""
        count = len(known.pointers) - 1
        ones = np.ones(len(known.columns), np.float32)
        x = sp.csr_array(
            (ones, known.columns, known.pointers), shape=(count, len(self.encoder)), copy=False
        )
        return (x @ self.encoder) @ self.right.T

    def weigh(self, choice: Array, predicted: Array) -> Array:
        """The draw times the probability of liking to a power; what draws nobody stays as it is."""
        steepness = np.float32(-LOGISTIC / max(self.deviation, MIN_DEVIATION))
        exponent = np.clip(steepness * (predicted - np.float32(self.threshold)), -50, 50)
        liking = np.exp(np.float32(-self.power) * np.log(np.float32(1) + np.exp(exponent)))
        return np.where(choice > 0, choice * liking, choice)


def make_list_scores(model: CompletionModel) -> ListScores | None:
    """The scores of a model that learned what rows choose; None where values make the lists."""
    lists = model.lists
    if lists is None:
        return None
    V = np.asarray(lists.vectors, np.float32)
    return ListScores(
        encoder=V * (np.asarray(lists.inward, np.float32)[:, None] * lists.shrink),
        right=V * np.asarray(lists.outward, np.float32)[:, None],
        power=lists.power,
        threshold=lists.threshold,
        deviation=lists.deviation,
    )


def list_rows(
    model: CompletionModel,
    scores: ListScores | None,
    rows: Positions,
    k: int,
    *,
    by: str,
    hides: bool,
    allowed: NDArray[np.bool_] | None,
) -> Best:
    """The lists of fitted rows, with predicted values; as `CompletionModel.best` gives them."""
    k = min(k, model.shape[1] if allowed is None else int(allowed.sum()))
    hidden = [cells for cells in (model.seen, model.held_out) if hides and cells is not None]
    if scores is None or by == "value" or (by == "auto" and np.isinf(scores.power)):
        return _list_values(model, rows, k, hidden, allowed)
    step = max(1, CELLS_AT_ONCE // model.shape[1])
    found = []
    for at in range(0, len(rows), step):
        some = rows[at : at + step]
        choice = scores.draw(_known(model.seen, some))
        for cells in hidden:
            hide_cells(choice, some, cells)
        if allowed is not None:
            choice[:, ~allowed] = -np.inf
        found.append(_list_choices(model, scores, some, choice, k, by))
    return Best(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _list_values(
    model: CompletionModel,
    rows: Positions,
    k: int,
    hidden: list[Seen],
    allowed: NDArray[np.bool_] | None,
) -> Best:
    """Lists by value alone: screened in single precision, put in order in double."""
    A, biases, n = model.factors, model.biases, model.shape[1]
    wide = min(n, k + SPARE)
    step = max(1, min(CELLS_AT_ONCE // n, CELLS_AT_ONCE // max(1, wide * A.rank)))
    found = []
    for at in range(0, len(rows), step):
        some = rows[at : at + step]
        left = A.U[some] * A.s
        table = (left @ A.V.T).astype(np.float32, copy=False)
        table += (biases.col - biases.col.mean()).astype(np.float32)
        for cells in hidden:
            hide_cells(table, some, cells)
        if allowed is not None:
            table[:, ~allowed] = -np.inf
        columns, _ = _find_largest(table, wide)
        exact = np.einsum("ir,ikr->ik", left.astype(float), A.V[columns].astype(float))
        exact += biases.col[columns]
        values = model.respond(exact + (biases.mean + biases.row[some])[:, None])
        exact[np.isneginf(np.take_along_axis(table, columns, axis=1))] = -np.inf
        best = _sort_best(columns, exact, values, k)
        found.append(Best(best.columns, best.values))
    return Best(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _list_choices(
    model: CompletionModel, scores: ListScores, rows: Positions, choice: Array, k: int, by: str
) -> Best:
    """Lists by choice, or by choice and liking.

    Liking is at most 1, so that of the columns outside the first few by choice none can be listed
    if the draw of each is below the k-th score inside. Where it is not, all are looked at.
    """
    n, is_by_choice = choice.shape[1], by == "choice" or scores.power == 0
    wide = min(n, k if is_by_choice else CANDIDATES + 4 * k)
    some, least = _find_largest(choice, wide)
    drawn = np.take_along_axis(choice, some, axis=1)
    predicted = _predict_cells(model, rows, some)
    best = _sort_best(some, drawn if is_by_choice else scores.weigh(drawn, predicted), predicted, k)
    if is_by_choice or wide == n:
        return Best(best.columns, best.values)
    open_ = np.flatnonzero(best.last < np.maximum(least, 0))
    if len(open_):
        values = predict_rows(model, rows[open_])
        rest = pick_best(scores.weigh(choice[open_], values), values, k, None)
        best.columns[open_], best.values[open_] = rest
    return Best(best.columns, best.values)


class _Sorted(NamedTuple):
    columns: Positions
    values: Array
    last: Array  # the score of the last one listed


def _find_largest(table: Array, count: int) -> tuple[Positions, Array]:
    """Columns of the largest of each line, in any order, and the least of these numbers."""
    n = table.shape[1]
    if count == n:
        return np.tile(np.arange(n), (len(table), 1)), np.full(len(table), -np.inf)
    some = np.argpartition(table, n - count, axis=1)[:, n - count :]
    return some, np.take_along_axis(table, some, axis=1).min(axis=1)


def _sort_best(some: Positions, scores: Array, predicted: Array, k: int) -> _Sorted:
    """The k best of each line by score, of equals the first column."""
    order = np.lexsort((some, -scores), axis=1)[:, :k]
    lines = np.arange(len(some))[:, None]
    columns, best = some[lines, order], scores[lines, order]
    values = predicted[lines, order].astype(float)
    lost = np.isneginf(best)
    return _Sorted(np.where(lost, -1, columns), np.where(lost, -np.inf, values), best[:, -1])


def _predict_cells(model: CompletionModel, rows: Positions, columns: Positions) -> Array:
    """The values at some columns of each row."""
    A, biases = model.factors, model.biases
    z = np.einsum("ir,ikr->ik", A.U[rows] * A.s, A.V[columns])
    z = z + (biases.mean + biases.row[rows])[:, None] + biases.col[columns]
    return model.respond(z).astype(np.float32, copy=False)


def predict_rows(model: CompletionModel, rows: Positions) -> Array:
    """The values of all columns for these rows, (rows, n), in single precision."""
    biases = model.biases
    z = (model.factors.U[rows] * model.factors.s) @ model.factors.V.T
    z += (biases.mean + biases.row[rows])[:, None] + biases.col
    return model.respond(z).astype(np.float32, copy=False)


def pick_best(table: Array, predicted: Array, k: int, allowed: NDArray[np.bool_] | None) -> Best:
    """The k largest of each line, of equals the first, and what is predicted there."""
    if allowed is not None:
        table[:, ~allowed] = -np.inf
    some, _ = _find_largest(table, k)
    scores, values = (np.take_along_axis(part, some, axis=1) for part in (table, predicted))
    best = _sort_best(some, scores, values, k)
    return Best(best.columns, best.values)


def _known(seen: Seen, rows: Positions) -> Cells:
    counts = seen.pointers[rows + 1] - seen.pointers[rows]
    pointers = np.concatenate([[0], np.cumsum(counts)])
    starts = np.repeat(seen.pointers[rows] - pointers[:-1], counts)
    return Cells(pointers, seen.indices[starts + np.arange(pointers[-1])])
