"""What goes into a list: how much a row would like a column, and how likely it is to choose it.

Lists are screened by what draws rows, in single precision; what does not depend on the row is
multiplied once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.arrays.short_repr import show_fields
from pygeco.engines import choose_local_engine
from pygeco.engines.values import Largest
from pygeco.models.ranking import Best
from pygeco.models.seen import Positions, Seen, hide_cells

if TYPE_CHECKING:
    from pygeco.models.completion import CompletionModel

BY = ("auto", "value", "choice")
MIN_DEVIATION = 1e-30
LOGISTIC = 1.702  # a logistic curve of this steepness is the normal distribution's, to 0.01
CANDIDATES = 70  # columns by choice that are looked at first, beside three times the list
WIDER = 4  # times as many, for rows where these are not enough
MIN_ROWS = 8  # from which on the engine's kernels are worth their call
CELLS_AT_ONCE = 1 << 18  # whose values are predicted at a time: at rank 100, 100 MB


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


class KnownColumns(NamedTuple):
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

    def encode(self, known: KnownColumns) -> Array:
        """Coordinates of rows with these known columns."""
        ends = zip(known.pointers[:-1], known.pointers[1:], strict=True)
        sums = [self.encoder[known.columns[first:last]].sum(axis=0) for first, last in ends]
        return np.asarray(sums, np.float32).reshape(-1, self.encoder.shape[1])

    def draw(self, known: KnownColumns) -> Array:
        """How much each column draws rows with these known columns, (rows, n)."""
        return self.encode(known) @ self.right.T

    def weigh(self, choice: Array, predicted: Array, power: float) -> Array:
        """The draw times the probability of liking to a power; what draws nobody stays as it is."""
        steepness = np.float32(-LOGISTIC / max(self.deviation, MIN_DEVIATION))
        exponent = np.clip(steepness * (predicted - np.float32(self.threshold)), -50, 50)
        liking = np.exp(np.float32(-power) * np.log(np.float32(1) + np.exp(exponent)))
        return np.where(choice > 0, choice * liking, choice)


def make_list_scores(lists: ListWeights) -> ListScores:
    V = np.asarray(lists.vectors, np.float32)
    encoder = V * np.asarray(lists.inward, np.float32)[:, None]
    encoder *= np.asarray(lists.shrink, np.float32)
    return ListScores(
        encoder=encoder,
        right=V * np.asarray(lists.outward, np.float32)[:, None],
        power=lists.power,
        threshold=lists.threshold,
        deviation=lists.deviation,
    )


def list_by_choice(
    model: CompletionModel,
    scores: ListScores,
    rows: Positions,
    k: int,
    *,
    power: float,
    hidden: Sequence[Seen] = (),
    allowed: NDArray[np.bool_] | None = None,
) -> Best:
    """The k best columns of fitted rows by draw times liking^`power`, and the values there.

    Of equals the first column comes first; −1 and −∞ where there are too few.
    """
    n = model.shape[1]
    wide = min(n, k if power == 0 else CANDIDATES + 3 * k)
    step = max(1, CELLS_AT_ONCE // wide)
    found = [
        _list_some(model, scores, rows[at : at + step], (k, wide), power, hidden, allowed)
        for at in range(0, max(len(rows), 1), step)
    ]
    return Best(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _list_some(
    model: CompletionModel,
    scores: ListScores,
    rows: Positions,
    counts: tuple[int, int],
    power: float,
    hidden: Sequence[Seen],
    allowed: NDArray[np.bool_] | None,
) -> Best:
    """Lists of k columns, from as many candidates as counts[1] says.

    Liking is at most 1, so that of the columns outside the first few by choice none can be listed
    if the draw of each is below the k-th score inside. Where it is not, more are looked at.
    """
    k, wide = counts
    columns, drawn = _find_largest_draws(model, scores, rows, wide, hidden, allowed)
    predicted = _predict_cells(model, rows, np.maximum(columns, 0))
    scored = drawn if power == 0 else scores.weigh(drawn, predicted, power)
    order = order_best(scored, k)
    lines = np.arange(len(rows))[:, None]
    best, found = columns[lines, order], predicted[lines, order].astype(float)
    found[best < 0] = -np.inf
    if power == 0 or wide == model.shape[1]:
        return Best(best, found)
    least = drawn.min(axis=1)
    last = np.take_along_axis(scored, order[:, -1:], axis=1)[:, 0]
    open_ = np.flatnonzero((least > 0) & (last < least))
    if len(open_):
        wider = k, min(model.shape[1], WIDER * wide)
        rest = _list_some(model, scores, rows[open_], wider, power, hidden, allowed)
        best[open_], found[open_] = rest
    return Best(best, found)


def _find_largest_draws(
    model: CompletionModel,
    scores: ListScores,
    rows: Positions,
    count: int,
    hidden: Sequence[Seen],
    allowed: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.int64], Array]:
    """Columns that draw each row most, ascending, and their draws; −1 and −∞ for those missing."""
    seen = model.seen
    if len(rows) < MIN_ROWS:
        parts = [seen.indices[seen.pointers[i] : seen.pointers[i + 1]] for i in rows]
        pointers = np.cumsum([0, *map(len, parts)])
        left = scores.encode(
            KnownColumns(pointers, np.concatenate([np.zeros(0, np.int32), *parts]))
        )
    else:
        engine = choose_local_engine(scores.encoder)
        left = engine.sum_lines(scores.encoder, rows.astype(np.int64), seen.pointers, seen.indices)
    return find_largest(left, scores.right, rows, count, hidden, allowed)


def find_largest(
    left: Array,
    right: Array,
    rows: Positions,
    count: int,
    hidden: Sequence[Seen],
    allowed: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.int64], Array]:
    """Columns of the `count` largest ⟨left_t, right_j⟩ for row rows[t], ascending, and these.

    In single precision; −1 and −∞ where there are fewer. Arrays are on this machine.
    """
    if len(rows) >= MIN_ROWS:
        hides = tuple((cells.pointers, cells.indices) for cells in hidden)
        asked = Largest(left, right, rows.astype(np.int64), hides, allowed, count)
        found = choose_local_engine(right).largest_products(asked)
        assert found is not None
        return found
    table = left @ right.T
    for cells in hidden:
        hide_cells(table, rows, cells)
    if allowed is not None:
        table[:, ~allowed] = -np.inf
    return pick_largest(table, count)


def pick_largest(table: Array, count: int) -> tuple[NDArray[np.int64], Array]:
    """Columns of the largest of each line, ascending, and these; −1 and −∞ for those missing."""
    lines, n = np.arange(len(table))[:, None], table.shape[1]
    if count == n:
        columns = np.tile(np.arange(n), (len(table), 1))
    else:
        columns = np.sort(np.argpartition(table, n - count, axis=1)[:, n - count :], axis=1)
    found = table[lines, columns]
    return np.where(np.isneginf(found), -1, columns), found


def order_best(scores: Array, k: int) -> Positions:
    """Places of the k largest of each line, best first; of equals the first."""
    if len(scores) < MIN_ROWS or np.isneginf(scores).any():
        return np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return choose_local_engine(scores).top_k(scores, k)[0]


def _predict_cells(model: CompletionModel, rows: Positions, columns: Positions) -> Array:
    """The values at some columns of each row."""
    A, biases = model.factors, model.biases
    z = np.einsum("ir,ikr->ik", A.U[rows] * A.s.astype(A.U.dtype), A.V[columns])
    z = z + (biases.mean + biases.row[rows])[:, None] + biases.col[columns]
    return model.respond(z).astype(np.float32, copy=False)
