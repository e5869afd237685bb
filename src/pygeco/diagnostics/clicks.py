"""Lists of a model of clicks: at held-out clicks, beside popularity, and in the long tail."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host, on, parts
from pygeco.arrays.streams import Purpose, stream
from pygeco.clicks.judging import Judge, average, hold_out_clicks, hold_out_more
from pygeco.clicks.model import ClickModel
from pygeco.diagnostics.baselines import list_popular
from pygeco.diagnostics.cells import count_by_column
from pygeco.diagnostics.completion import Completion
from pygeco.diagnostics.list_metrics import Figures, ListTotals, find_hits, measure_hits
from pygeco.models.ranking import UNFITTED
from pygeco.objectives import Entries

LENGTHS = (10, 20)  # of lists
MAX_LISTED_ROWS = 10_000  # rows whose lists are looked at: a sample of these says the same
ROWS_AT_ONCE = 1024


class ClickLists(NamedTuple):
    """Lists at held-out clicks.

    Attributes
    ----------
    model, popular : dict of dicts
        Recall, nDCG and the like, by name and length, of the model and of the most popular columns.
    rows, clicks : int
        How many rows and clicks the means are over.
    """

    model: Figures
    popular: Figures
    rows: int
    clicks: int


class LongTail(NamedTuple):
    """Which columns are on the first 20 places of lists.

    Attributes
    ----------
    top_share, clicked_share : float
        The share of the most clicked tenth of the columns among what is listed, and among clicks.
    coverage : float
        The share of all columns that are on some list.
    rows : int
        The number of lists.
    """

    top_share: float
    clicked_share: float
    coverage: float
    rows: int


def judge_clicks(
    model: Completion, rows: NDArray[np.int64], cols: NDArray[np.int64]
) -> ClickLists | None:
    """Judge lists by held-out clicks, next to lists of the most popular columns.

    Parameters
    ----------
    model : ImplicitCompletion
        A fitted model.
    rows, cols : int arrays
        The clicks, as positions; those of the fit are left out, and so is −1, an unknown id.

    Returns
    -------
    ClickLists or None
        None where no click is left.
    """
    new = ~model.was_fitted(rows, cols) & (rows >= 0) & (cols >= 0)
    pairs = np.unique(np.stack([rows[new], cols[new]]), axis=1)
    users = _sample_rows(np.unique(pairs[0]))
    pairs = pairs[:, np.isin(pairs[0], users)]
    if not len(users):
        return None
    pointers = np.searchsorted(pairs[0], np.append(users, model.factors_.shape[0]))
    counts = count_by_column(model)
    totals = ListTotals(LENGTHS, counts), ListTotals(LENGTHS, counts)
    for part in parts(len(users), ROWS_AT_ONCE):
        own = users[part]
        ends = pointers[part.start : part.start + len(own) + 1]
        lists = _list_best(model, own), list_popular(model, own, max(LENGTHS))
        for total, columns in zip(totals, lists, strict=True):
            hits = find_hits(columns, ends - ends[0], pairs[1, ends[0] : ends[-1]])
            total.add(measure_hits(hits, np.diff(ends), LENGTHS))
            total.add_lists(columns)
    figures = [total.means() | {"coverage": total.coverage()} for total in totals]
    return ClickLists(figures[0], figures[1], len(users), pairs.shape[1])


def measure_long_tail(model: Completion) -> LongTail:
    """Measure how much of the lists is of the most clicked tenth of the columns.

    Parameters
    ----------
    model : ImplicitCompletion
        A fitted model.

    Returns
    -------
    LongTail
    """
    counts = count_by_column(model)
    order = np.argsort(-counts, kind="stable")
    is_top = np.zeros(len(counts), bool)
    is_top[order[: max(1, len(counts) // 10)]] = True
    rows = _sample_rows(np.arange(model.factors_.shape[0]))
    listed = np.zeros(len(counts), np.int64)
    for part in parts(len(rows), ROWS_AT_ONCE):
        columns = _list_best(model, rows[part])
        listed += np.bincount(columns[columns >= 0], minlength=len(counts))
    return LongTail(
        float(listed[is_top].sum() / max(1, listed.sum())),
        float(counts[is_top].sum() / max(1, counts.sum())),
        float(np.mean(listed > 0)),
        len(rows),
    )


def find_chosen_ndcg(model: ClickModel) -> float | None:
    """Find the nDCG@20 of the chosen settings at the clicks that chose them.

    Parameters
    ----------
    model : ClickModel

    Returns
    -------
    float or None
        None where nothing was tried.
    """
    trials: Any = model.trials
    chosen = (model.spectral_settings, model.squares_settings)
    own = [trial.ndcg for trial in trials if trial.share == model.share]
    own = own or [trial.ndcg for trial in trials if trial.settings in chosen]
    return max(own or [trial.ndcg for trial in trials], default=None)


def measure_popularity(model: Completion) -> float | None:
    """Measure the nDCG@20 of the most popular columns at the clicks that chose the settings.

    Parameters
    ----------
    model : ImplicitCompletion
        A fitted model.

    Returns
    -------
    float or None
        None where there was no choice, or no seed that tells which clicks these are.
    """
    seed = model.get_params(deep=False).get("random_state")
    if not isinstance(seed, (int, np.integer)):
        return None
    seen = model.seen_
    # In the types of a fit, whose kernels then serve here, too.
    triplets = seen.rows().astype(np.int32), host(seen.indices), host(seen.values)
    entries = Entries(*triplets, model.factors_.shape)
    split = hold_out_clicks(entries, int(seed))
    if split is None:
        return None
    every = split, *hold_out_more(entries, int(seed), split)
    return average([_judge_popular(*one) for one in every])[0]


def _judge_popular(fit: Entries, judge: Judge) -> list[float]:
    counts = fit.counts()[1].astype(np.float32)
    return judge.compare(lambda rows: [np.tile(counts, (len(rows), 1))], 1)


def _list_best(model: Completion, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first columns for each row, without those of the fit."""
    best = model.model_.best(on(rows, model.factors_.U), max(LENGTHS), UNFITTED)
    return np.asarray(host(best.columns), np.int64)


def _sample_rows(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    if len(rows) <= MAX_LISTED_ROWS:
        return rows
    return np.sort(stream(Purpose.SAMPLE).choice(rows, MAX_LISTED_ROWS, replace=False))
