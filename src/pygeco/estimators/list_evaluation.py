"""Lists of columns, judged by clicks that were held out, as published protocols do it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host, parts
from pygeco.diagnostics.list_metrics import (
    METRICS,
    ListTotals,
    count_ties,
    find_hits,
    measure_hits,
    measure_ranks,
)
from pygeco.estimators._judged_cells import (
    Clicks,
    find_clicks,
    find_scorer,
    find_seen,
    fold_in,
    list_negatives,
    number_new_rows,
)
from pygeco.io.tables import is_table, pyarrow
from pygeco.models.ranking import list_length
from pygeco.models.scoring import Scorer, list_best, score_cells
from pygeco.models.seen import Seen, has_cells

ROWS_AT_ONCE = 1 << 15  # rows whose lists are judged at once
LENGTHS = (10, 20)  # of lists, unless others are asked for

Progress = Callable[[float], object] | None


@dataclass(frozen=True)
class ListEvaluation:
    """How well lists predict held-out clicks: means over rows, for each length k.

    Each figure is a dict by length: `found.ndcg[20]`. `to_pandas` returns a line for each k.

    Attributes
    ----------
    protocol : str
        "all", "leave-one-out" or "new-rows".
    rows : int
        The number of rows with a held-out click; means are over these.
    held_out : int
        The number of held-out clicks.
    recall : dict
        Hits / held-out clicks of the row.
    capped_recall : dict
        Hits / min(k, held-out clicks).
    ndcg : dict
        Σ over hits of 1 / log₂(place + 1), divided by that of min(k, held-out) hits in front.
    precision : dict
        Hits / k.
    average_precision : dict
        Σ over hits of the precision at their place, divided by min(k, held-out clicks); its mean
        over rows is MAP.
    hit_rate : dict
        Whether there is a hit.
    coverage : dict or None
        The share of all columns that are on some list; None against given negatives.
    popularity : dict or None
        How often the columns on the lists were seen, on average.
    standard_errors : dict of dicts
        Of the means above, by name.
    ties : int
        Rows whose figures depend on the order of equal scores.
    fitted : int
        Held-out clicks that were left out because they were seen.
    unknown : int
        Those left out because of an id that was not fitted.
    """

    protocol: str
    rows: int
    held_out: int
    recall: dict[int, float]
    capped_recall: dict[int, float]
    ndcg: dict[int, float]
    precision: dict[int, float]
    average_precision: dict[int, float]
    hit_rate: dict[int, float]
    coverage: dict[int, float] | None = None
    popularity: dict[int, float] | None = None
    standard_errors: dict[str, dict[int, float]] = field(default_factory=dict)
    ties: int = 0
    fitted: int = 0
    unknown: int = 0

    def to_dict(self) -> dict[str, dict[int, float]]:
        """The figures by name, those that the protocol has."""
        figures = {name: getattr(self, name) for name in (*METRICS, "coverage", "popularity")}
        return {name: values for name, values in figures.items() if values is not None}

    def to_pandas(self) -> Any:
        """A pandas table: a line for each k, a column for each figure."""
        lines = {"k": list(self.recall)}
        figures = {name: list(values.values()) for name, values in self.to_dict().items()}
        return pyarrow().table(lines | figures).to_pandas().set_index("k")

    def __repr__(self) -> str:
        figures = self.to_dict()
        head = f"{self.protocol}: {self.rows:,} rows, {self.held_out:,} held-out clicks"
        lines = [head, "  ".join([f"{'k':>4}", *(f"{name:>{_width(name)}}" for name in figures)])]
        for k in self.recall:
            cells = (f"{values[k]:>{_width(name)}.4f}" for name, values in figures.items())
            lines.append("  ".join([f"{k:>4}", *cells]))
        counts = {"with ties": self.ties, "seen": self.fitted, "unknown": self.unknown}
        said = [f"{count:,} {name}" for name, count in counts.items() if count]
        return "\n".join([*lines, *([", ".join(said)] if said else [])])


def _width(name: str) -> int:
    return max(len(name), 9 if name == "popularity" else 6)


def judge_all_columns(
    model: Any,
    X: Any,
    k: int | Sequence[int] | None,
    *,
    seen: Any = None,
    threshold: float | None = None,
    progress: Progress = None,
) -> ListEvaluation:
    """Rank all columns that a row has not clicked; see `evaluate`."""
    scorer = find_scorer(model)
    hidden = find_seen(model, seen, scorer.shape)
    test = find_clicks(model, X, scorer.shape, threshold=threshold)
    return _judge_lists("all", scorer, test, hidden, hidden, check_lengths(k), progress)


def judge_new_rows(
    model: Any,
    X: Any,
    k: int | Sequence[int] | None,
    *,
    given: Any,
    threshold: float | None = None,
    progress: Progress = None,
) -> ListEvaluation:
    """Rank all columns for rows that are known by `given` alone; see `evaluate`."""
    if given is None:
        raise ValueError("given: protocol='new-rows' needs the clicks by which rows are known.")
    if is_table(given):
        given, test = number_new_rows(model, given, X, threshold)
        scorer = fold_in(model, given)
    else:
        scorer = fold_in(model, given)
        test = find_clicks(model, X, scorer.shape, threshold=threshold)
    known = find_clicks(model, given, scorer.shape, name="given").sort(scorer.shape)
    own = getattr(getattr(model, "model_", model), "seen", None)
    counted = known if own is None else own
    return _judge_lists("new-rows", scorer, test, known, counted, check_lengths(k), progress)


def judge_against_negatives(
    model: Any,
    X: Any,
    k: int | Sequence[int] | None,
    *,
    negatives: Any,
    progress: Progress = None,
) -> ListEvaluation:
    """Rank each held-out click among columns given with it; see `evaluate`."""
    if negatives is None:
        raise ValueError(
            "negatives: protocol='leave-one-out' needs columns for each held-out click; without "
            "them use protocol='all'."
        )
    scorer, ks = find_scorer(model), check_lengths(k)
    test = find_clicks(model, X, scorer.shape, drops_zeros=False)  # negatives are told of each
    pointers, others = list_negatives(model, negatives, len(test.rows), scorer.shape[1])
    known = (test.rows >= 0) & (test.cols >= 0)
    totals = ListTotals(ks, np.zeros(scorer.shape[1]))
    pairs = np.flatnonzero(known)
    for part in parts(len(pairs), ROWS_AT_ONCE):
        own = pairs[part]
        above, equal = _rank_pairs(scorer, test, own, pointers, others)
        totals.add(measure_ranks(above, equal, ks))
        totals.ties += int(np.sum(equal > 0))
        _tell(progress, part.stop, len(pairs))
    return ListEvaluation(
        "leave-one-out",
        len(np.unique(test.rows[known])),
        len(pairs),
        **_take_figures(totals),
        unknown=int(np.sum(~known)),
    )


def _judge_lists(
    protocol: str,
    scorer: Scorer,
    test: Clicks,
    hidden: Seen,
    counted: Seen,
    ks: tuple[int, ...],
    progress: Progress,
) -> ListEvaluation:
    """Lists of all rows with held-out clicks, a block at a time."""
    n = scorer.shape[1]
    known = (test.rows >= 0) & (test.cols >= 0)
    fitted = has_cells(hidden, n, test.rows, test.cols)
    held = test.take(known & ~fitted).sort(scorer.shape)
    counts = np.bincount(host(counted.indices), minlength=n)
    totals = ListTotals(ks, counts)
    users = np.flatnonzero(np.diff(held.pointers))
    longest = list_length(max(ks) + 1, n)
    for part in parts(len(users), ROWS_AT_ONCE):
        best = list_best(scorer, users[part], longest, hidden=(hidden,))
        columns, scores = host(best.columns), host(best.scores)
        pointers = held.pointers[users[part]], held.pointers[users[part] + 1]
        own = held.indices[pointers[0][0] : pointers[1][-1]]
        starts = np.append(pointers[0], pointers[1][-1]) - pointers[0][0]
        hits = find_hits(columns, starts, own)
        totals.add(measure_hits(hits, np.diff(starts), ks))
        totals.add_lists(columns)
        totals.ties += count_ties(scores, hits, max(ks))
        _tell(progress, part.stop, len(users))
    return ListEvaluation(
        protocol,
        len(users),
        len(held.indices),
        **_take_figures(totals),
        coverage=totals.coverage(),
        popularity=totals.mean_popularity(),
        fitted=int(fitted.sum()),
        unknown=int(np.sum(~known)),
    )


def _take_figures(totals: ListTotals) -> dict[str, Any]:
    return totals.means() | {"standard_errors": totals.errors(), "ties": totals.ties}


def _rank_pairs(
    scorer: Scorer,
    test: Clicks,
    own: NDArray[np.int64],
    pointers: NDArray[np.int64],
    others: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many negatives of each held-out click score higher, and how many the same."""
    counts = np.diff(pointers)[own]
    line = np.repeat(np.arange(len(own)), counts)
    starts = np.repeat(pointers[own] - (np.cumsum(counts) - counts), counts)
    cols = others[starts + np.arange(len(line))]
    rows = np.concatenate([test.rows[own], test.rows[own][line]])
    scores = score_cells(scorer, rows, np.concatenate([test.cols[own], cols]))
    scores = np.where(np.isnan(scores), -np.inf, scores)
    right, wrong = scores[: len(own)], scores[len(own) :]
    counted = cols != test.cols[own][line]  # the click itself is no negative
    above, equal = (
        np.bincount(line[counted & beats], minlength=len(own))
        for beats in (wrong > right[line], wrong == right[line])
    )
    return above, equal


def check_lengths(k: int | Sequence[int] | None) -> tuple[int, ...]:
    """The lengths of lists, ascending, each once."""
    given: Any = LENGTHS if k is None else [k] if np.ndim(k) == 0 else k
    found = tuple(sorted({list_length(each, np.iinfo(np.int64).max) for each in given}))
    if not found:
        raise ValueError("k: give at least one length of a list.")
    return found


def _tell(progress: Progress, done: int, count: int) -> None:
    if progress is not None:
        progress(done / count)
