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

    def score(self, known: Cells, predicted: Array, by: str) -> Array:
        """Scores of lists, (rows, n), from the known columns and the predicted values."""
        count = len(known.pointers) - 1
        ones = np.ones(len(known.columns), np.float32)
        x = sp.csr_array(
            (ones, known.columns, known.pointers), shape=(count, len(self.encoder)), copy=False
        )
        choice = (x @ self.encoder) @ self.right.T
        power = 0.0 if by == "choice" else self.power
        if power == 0:
            return choice
        steepness = np.float32(-LOGISTIC / max(self.deviation, MIN_DEVIATION))
        exponent = np.clip(steepness * (predicted - np.float32(self.threshold)), -50, 50)
        liking = np.exp(np.float32(-power) * np.log(np.float32(1) + np.exp(exponent)))
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
    is_by_value = by == "value" or scores is None or (by == "auto" and np.isinf(scores.power))
    if scores is None or is_by_value:
        return model.best(
            rows, k, by="value", hide_seen=hides, hide_held_out=hides, allowed=allowed
        )
    step = max(1, CELLS_AT_ONCE // model.shape[1])
    hidden = [cells for cells in (model.seen, model.held_out) if hides and cells is not None]
    found = []
    for at in range(0, len(rows), step):
        some = rows[at : at + step]
        predicted = predict_rows(model, some)
        table = scores.score(_known(model.seen, some), predicted, by)
        for cells in hidden:
            hide_cells(table, some, cells)
        found.append(pick_best(table, predicted, k, allowed))
    return Best(*(np.concatenate(part) for part in zip(*found, strict=True)))


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
    n = table.shape[1]
    lines = np.arange(len(table))[:, None]
    some = (
        np.argpartition(table, n - k, axis=1)[:, n - k :]
        if k < n
        else np.tile(np.arange(n), (len(table), 1))
    )
    order = np.lexsort((some, -table[lines, some]), axis=1)
    columns = some[lines, order]
    values = predicted[lines, columns].astype(float)
    lost = np.isneginf(table[lines, columns])
    return Best(np.where(lost, -1, columns), np.where(lost, -np.inf, values))


def _known(seen: Seen, rows: Positions) -> Cells:
    counts = seen.pointers[rows + 1] - seen.pointers[rows]
    pointers = np.concatenate([[0], np.cumsum(counts)])
    starts = np.repeat(seen.pointers[rows] - pointers[:-1], counts)
    return Cells(pointers, seen.indices[starts + np.arange(pointers[-1])])
