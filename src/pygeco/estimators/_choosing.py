"""What people choose, learned beside what they like: the lists of `MatrixCompletion`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from pygeco.arrays.kinds import moved
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.clicks.judging import Judge, hold_out_clicks, score_rows
from pygeco.clicks.lines import ClickLines
from pygeco.clicks.search import Found, Search
from pygeco.clicks.settings import SpectralSettings
from pygeco.clicks.spectral import find_spectrum, line_powers, shrink_values
from pygeco.engines import session
from pygeco.models import CompletionModel
from pygeco.models.list_scores import ListWeights, check_by
from pygeco.models.seen import Positions, Seen, find_row_cells
from pygeco.objectives import Entries

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState

MIN_CELLS = 10_000  # with fewer, held-out cells are too few to weigh values and choices by
SETTINGS = SpectralSettings(
    rank=512, row_power=0.3, column_power=0.3, fame=0.0
)  # the rest is searched for
HALVES = (0, 1, 2, 3, 4, 6)  # of a power of the probability of liking, that are tried
MAX_SEARCHED_CELLS = (
    2_000_000  # by which settings are chosen; more of them cost time and gain nothing
)
MIN_SEARCHED_ROWS = 3_000  # however many cells they have: as many are judged
CHOICE_SEED = 0  # lists of one model do not depend on when they are first asked for


def settle_lists(estimator: _CompletionState, by: str) -> str:
    """Learn what `by` needs, once; "value" where that is all there is."""
    check_by(by)
    if by == "value" or isinstance(estimator.model_, ClickLines):
        return "value"  # of clicks the scores are what is chosen
    if estimator.model_.lists is not None:
        return by
    found = learn_lists(estimator, required=by == "choice")
    if found is None:
        return "value"
    estimator.model_ = replace(estimator.model_, lists=found)
    return by


def learn_lists(estimator: _CompletionState, *, required: bool = False) -> ListWeights | None:
    """How likely rows are to choose columns, and what predicted values count beside that.

    Judged by a tenth of the cells: those whose value is at least the mean are to be listed. None
    where the model is on a cluster or there are too few cells, unless `required`.
    """
    model = estimator.model_
    if not isinstance(model, CompletionModel):
        if required:
            raise ValueError("by: lists by choice need the model on one machine; call to('cpu').")
        return None
    seen = moved(model.seen, np.zeros(0))
    count = len(seen.values)
    if (count < MIN_CELLS or not model.loss.regression) and not required:
        return None
    cells = _make_clicks(seen, model.shape)
    with session(cells):
        found = _learn_from(estimator, cells, seen)
    return None if found is None else moved(found, model.factors.V)


def _make_clicks(seen: Seen, shape: tuple[int, int]) -> Entries:
    """One for each cell, by rows as short as columns are: kernels for these are there already."""
    ones = np.ones(len(seen.values), np.float32)
    return Entries(_find_rows(seen), seen.indices, ones, shape, engine="cpu")


class Choice(NamedTuple):
    """What was found on some rows: settings, the columns' vectors, and what values count."""

    settings: SpectralSettings
    columns: Array
    power: float
    deviation: float


def _learn_from(estimator: _CompletionState, cells: Entries, seen: Seen) -> ListWeights | None:
    """What was learned on this machine; None where no row has cells enough to hold some out.

    Settings are searched for on rows of limited size, vectors are of all.
    """
    threshold = float(seen.values.mean(dtype=float))
    some = _sample_rows(seen)
    own = cells if some is seen else _make_clicks(some, (len(some.pointers) - 1, cells.shape[1]))
    rank = min(SETTINGS.rank or 1, max(1, min(cells.shape) // 4))
    found = _choose(estimator, own, some, rank, threshold)
    if found is None:
        return None
    wanted = replace(SETTINGS, rank=rank)
    spectrum = find_spectrum(cells, wanted, seed=CHOICE_SEED, start=found.columns)
    settings = found.settings
    inward = line_powers(cells, 0.0, -(settings.column_power or 0))[1]
    outward = line_powers(cells, 0.0, settings.popularity or 0)[1]
    return ListWeights(
        spectrum.vectors,
        inward.astype(np.float32),
        outward.astype(np.float32),
        shrink_values(spectrum.values, settings.ridge or 0).astype(np.float32),
        found.power,
        threshold,
        found.deviation,
    )


def _sample_rows(seen: Seen) -> Seen:
    """The cells of rows drawn at random, as many as are worth the time; all where they are few."""
    counts = np.diff(seen.pointers)
    order = stream(Purpose.LISTED_ROWS, CHOICE_SEED).permutation(len(counts))
    kept = int(np.searchsorted(np.cumsum(counts[order]), MAX_SEARCHED_CELLS, side="right"))
    kept = max(kept, MIN_SEARCHED_ROWS)
    if kept >= len(counts):
        return seen
    rows = np.sort(order[:kept])
    _, at = find_row_cells(seen, rows)
    ends = np.cumsum(counts[rows])
    return Seen(np.concatenate([[0], ends]), seen.indices[at], seen.values[at])


def _choose(
    estimator: _CompletionState, cells: Entries, seen: Seen, rank: int, threshold: float
) -> Choice | None:
    """Settings, and what predicted values count, judged by a tenth of these cells."""
    split = hold_out_clicks(cells, CHOICE_SEED)
    if split is None:
        return None
    at = _find_places(split.judge, seen)
    held = seen.values[at].astype(float)
    found = Search(split, CHOICE_SEED).choose_spectral(replace(SETTINGS, rank=rank))
    rest = _model_rest(estimator, split.judge, np.delete(seen.values, at))
    power, deviation = _choose_power(split.judge, found, rest, held, threshold)
    return Choice(found.settings, found.columns, power, deviation)


def _find_rows(cells: Seen) -> Positions:
    """The row of each cell."""
    return cells.rows().astype(np.int32)


def _find_places(judge: Judge, seen: Seen) -> Positions:
    """Where the held-out cells are among all, in their order."""
    every, held = (
        cells.rows() * np.int64(judge.shape[1] + 1) + cells.indices for cells in (seen, judge.held)
    )
    return np.searchsorted(every, held)


def _model_rest(estimator: _CompletionState, judge: Judge, values: Array) -> CompletionModel:
    """A model of the judged rows by the cells that were not held out."""
    if judge.shape == estimator.model_.shape:
        return _fit_rest(estimator, judge, values)
    # Of so many cells, columns are the same with and without those that were held out of some rows.
    assert isinstance(estimator.model_, CompletionModel)
    model = estimator.model_.move_to(np.zeros(0))
    given = _find_rows(judge.seen), judge.seen.indices, values, judge.shape
    found = model.fold_rows(Entries(*given, allow_empty=True, engine="cpu").with_loss(model.loss))
    factors = LowRank.product(found.coordinates, model.factors.V)
    return replace(model, factors=factors, biases=replace(model.biases, row=found.offsets))


def _fit_rest(estimator: _CompletionState, judge: Judge, values: Array) -> CompletionModel:
    """The model of the cells that were not held out, without the pattern: values alone."""
    settings: dict[str, Any] = {
        "pattern": False,
        "posterior": 0,
        "callback": None,
        "observer": None,
    }
    settings |= {"engine": "cpu", "verbose": 0, "random_state": CHOICE_SEED}
    settings |= {"missing_values": None, "duplicates": "error"}
    other = clone(estimator).set_params(**settings)
    given = _find_rows(judge.seen), judge.seen.indices, values, judge.shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return other.fit(given).model_


def _choose_power(
    judge: Judge,
    found: Found[SpectralSettings],
    rest: CompletionModel,
    held: Array,
    threshold: float,
) -> tuple[float, float]:
    """The power of the probability of liking that makes the best lists, and the deviation."""
    predicted = rest.predict(judge.held.rows(), judge.held.indices.astype(np.int64))
    deviation = float(np.sqrt(np.mean((predicted - held) ** 2)))
    weights = ListWeights(
        found.right, found.right[:, 0], found.right[:, 0], found.right[0], 0.0, threshold, deviation
    )

    def tables(rows: Positions) -> Iterator[Array]:
        scores, values = score_rows(found.left, rows, found.right), rest.predict_lines(rows)
        root = np.sqrt(weights.like(values.astype(scores.dtype, copy=False)))
        root[scores <= 0] = 1
        for more in np.diff(HALVES, prepend=0):  # in place: a power itself takes far longer
            for _ in range(more):
                scores *= root  # what is hidden stays at −∞
            yield scores
        yield values

    powers = [*(half / 2 for half in HALVES), np.inf]
    scores = judge.compare(tables, len(powers), (held >= threshold).astype(float))
    return powers[int(np.argmax(scores))], deviation
