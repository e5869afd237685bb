"""Lists for many rows at once, from arrays that a server keeps: by choice, and by value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.models.completion import CompletionModel
from pygeco.models.list_scores import (
    ListScores,
    find_largest,
    list_by_choice,
    order_best,
    pick_largest,
)
from pygeco.models.ranking import Best
from pygeco.models.seen import Positions, Seen

CELLS_AT_ONCE = 1 << 21  # numbers in memory at a time: 16 MB
SPARE = 32  # columns beside a list that rounding could bring into it


@dataclass(frozen=True, eq=False)
class ListParts:
    """What makes lists of a model: `choice`, where choices were learned, and else `right`, whose
    lines are the columns' vectors with their offsets behind, in single precision.
    """

    choice: ListScores | None
    right: Array


def make_list_parts(model: CompletionModel) -> ListParts:
    offsets = model.biases.col - model.biases.col.mean()
    right = np.column_stack([model.factors.V, offsets]).astype(np.float32, copy=False)
    return ListParts(None if model.lists is None else model.list_scores, right)


def list_rows(
    model: CompletionModel,
    parts: ListParts,
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
    scores = parts.choice
    if scores is None or by == "value" or (by == "auto" and np.isinf(scores.power)):
        return _list_values(model, parts.right, rows, k, hidden, allowed)
    power = 0.0 if by == "choice" else scores.power
    return list_by_choice(model, scores, rows, k, power=power, hidden=hidden, allowed=allowed)


def _list_values(
    model: CompletionModel,
    right: Array,
    rows: Positions,
    k: int,
    hidden: list[Seen],
    allowed: NDArray[np.bool_] | None,
) -> Best:
    """Lists by value alone: screened in single precision, put in order in double."""
    A, biases, n = model.factors, model.biases, model.shape[1]
    wide = min(n, k + SPARE)
    step = max(1, CELLS_AT_ONCE // max(1, wide * A.rank))
    found = []
    for at in range(0, len(rows), step):
        some = rows[at : at + step]
        left = np.asarray(A.U[some] * A.s, np.float32)
        line = np.column_stack([left, np.ones(len(some), np.float32)])
        columns, screened = find_largest(line, right, some, wide, hidden, allowed)
        exact = np.einsum("ir,ikr->ik", left, A.V[columns], dtype=float, optimize=False)
        exact += biases.col[columns]
        values = model.respond(exact + (biases.mean + biases.row[some])[:, None])
        exact[np.isneginf(screened)] = -np.inf
        found.append(_take_first(columns, exact, values, k))
    return Best(*(np.concatenate(part) for part in zip(*found, strict=True)))


def pick_best(table: Array, predicted: Array, k: int, allowed: NDArray[np.bool_] | None) -> Best:
    """The k largest of each line, of equals the first, and what is predicted there."""
    if allowed is not None:
        table[:, ~allowed] = -np.inf
    columns, scores = pick_largest(table, k)
    values = np.take_along_axis(predicted, np.maximum(columns, 0), axis=1)
    return _take_first(columns, scores, values, k)


def _take_first(columns: Positions, scores: Array, values: Array, k: int) -> Best:
    """The k best of each line by score; of equals the first column, as columns ascend."""
    order = order_best(scores, k)
    lines = np.arange(len(columns))[:, None]
    lost = np.isneginf(scores[lines, order])
    found = values[lines, order].astype(float)
    return Best(np.where(lost, -1, columns[lines, order]), np.where(lost, -np.inf, found))
