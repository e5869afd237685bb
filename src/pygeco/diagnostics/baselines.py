"""What simple rules would have predicted and recommended: the figures to beat."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host, moved, on, parts
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.diagnostics import metrics
from pygeco.diagnostics.cells import Cells, count_by_column
from pygeco.diagnostics.completion import Completion
from pygeco.diagnostics.judging import Judged, to_data_scale
from pygeco.diagnostics.metrics import Ranked
from pygeco.models.ranking import UNFITTED
from pygeco.models.seen import Seen, hide_cells

DAMPING_CELLS = 5.0  # cells of the overall mean that each row's and column's own is given
MAX_JUDGED_ROWS = 4000  # whose lists are judged: more say the same
LIST_LENGTH = 10  # columns of a list
ROWS_AT_ONCE = 64  # whose popular columns are listed


class Rule(NamedTuple):
    """A rule and its predictions at the judged cells, on the scale of the data.

    Attributes
    ----------
    name : str
        In words.
    predicted : array
        One prediction per cell.
    losses : array
        The loss at each cell.
    """

    name: str
    predicted: Array
    losses: Array


class Group(NamedTuple):
    """Judged cells whose row (or column) has a like number of fitted cells.

    Attributes
    ----------
    low, high : int
        From how many to how many fitted cells.
    cells : int
        The number of judged ones.
    error : float
        Of the model.
    rule : float
        The error of the rule beside it.
    """

    low: int
    high: int
    cells: int
    error: float
    rule: float


class Lists(NamedTuple):
    """Lists of the model and of the most popular columns, judged by held-out cells.

    Attributes
    ----------
    model, popular : Ranked
        The two lists.
    threshold : float
        Values at or above this are relevant.
    """

    model: Ranked
    popular: Ranked
    threshold: float


def predict_by_rules(model: Completion, judged: Judged, kinds: tuple[str, str, str]) -> list[Rule]:
    """Predict by simple rules: the best constant; for numbers, means of columns, and of both sides.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.
    judged : Judged
        The cells.
    kinds : tuple of three str
        Words for a row, a column and a cell.

    Returns
    -------
    list of Rule
    """
    cells, values = judged.cells, host(model.seen_.values)
    rules = [_predict_constant(model, cells, values)]
    if not model.loss_.regression:
        return rules
    pointers, cols = host(model.seen_.pointers), host(model.seen_.indices)
    rows = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    values = to_data_scale(model.loss_, values)
    mean = float(values.mean())
    m, n = model.factors_.shape
    own = mean + _damp_means(cols, values - mean, n)
    taste = _damp_means(rows, values - own[cols], m)
    by_column, by_both = own[cells.cols], own[cells.cols] + taste[cells.rows]
    names = (f"mean of the {kinds[1]}", f"means of the {kinds[1]} and the {kinds[0]}")
    for name, predicted in zip(names, (by_column, by_both), strict=True):
        losses = np.asarray(model.loss_.value(predicted, cells.targets), dtype=float)
        rules.append(Rule(name, predicted, losses))
    return rules


def _predict_constant(model: Completion, cells: Cells, targets: Array) -> Rule:
    """The linear prediction with the lowest mean loss at the fitted cells."""
    loss, some = model.loss_, targets[:: max(1, len(targets) // 200_000)].astype(float)
    if loss.name == "squared":
        z = float(targets.mean(dtype=float))
    else:
        from scipy.optimize import minimize_scalar  # takes as long as the rest of a report

        z = float(
            minimize_scalar(lambda z: float(np.mean(loss.value(np.full(len(some), z), some)))).x
        )
    everywhere = np.full(len(cells.targets), z)
    losses = np.asarray(loss.value(everywhere, cells.targets), dtype=float)
    return Rule("overall mean", np.asarray(loss.response(everywhere), dtype=float), losses)


def _damp_means(index: NDArray[Any], values: Array, size: int) -> Array:
    total = np.bincount(index, values, size)
    return total / (np.bincount(index, minlength=size) + DAMPING_CELLS)


def measure_error_by_activity(
    model: Completion, judged: Judged, rule: Rule, side: str, groups: int = 4
) -> list[Group]:
    """Measure errors of cells by how many fitted cells their row or column has.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.
    judged : Judged
        The cells.
    rule : Rule
        What the model is compared with.
    side : "row" or "column"
        Whose fitted cells count.
    groups : int, default=4
        How many, of like size.

    Returns
    -------
    list of Group
    """
    by_row = side == "row"
    known = np.diff(host(model.seen_.pointers)) if by_row else count_by_column(model)
    known = known[judged.cells.rows if by_row else judged.cells.cols]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, groups + 1)[1:-1], method="lower"))
    group = np.searchsorted(edges, known, side="left")
    found = []
    for t in range(len(edges) + 1):
        own = group == t
        if own.any():
            errors = (measure_mean_error(model, x, own, judged) for x in (judged, rule))
            ends = int(known[own].min()), int(known[own].max())
            found.append(Group(*ends, int(own.sum()), *errors))
    return found


def measure_mean_error(
    model: Completion, found: Judged | Rule, own: NDArray[np.bool_], judged: Judged
) -> float:
    """Root mean squared error over some cells; the mean loss where values are no numbers."""
    if not model.loss_.regression:
        return float(found.losses[own].mean())
    off = found.predicted[own] - judged.observed[own]
    return float(np.sqrt(np.mean(off**2)))


def judge_lists(model: Completion, judged: Judged, k: int = LIST_LENGTH) -> Lists | None:
    """Measure precision, recall and NDCG of the first k columns of each row.

    A cell is relevant at or above the mean fitted value. Lists leave out the fitted cells.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.
    judged : Judged
        Held-out cells.
    k : int, default=10
        The length of a list.

    Returns
    -------
    Lists or None
        None where no held-out cell is relevant.
    """
    limit = float(to_data_scale(model.loss_, host(model.seen_.values)).mean())
    liked = np.flatnonzero(judged.observed >= limit)
    rows = np.unique(judged.cells.rows[liked])
    if not len(rows):
        return None
    if len(rows) > MAX_JUDGED_ROWS:
        rows = np.sort(stream(Purpose.SAMPLE).choice(rows, MAX_JUDGED_ROWS, replace=False))
        liked = liked[np.isin(judged.cells.rows[liked], rows)]
    user = np.searchsorted(rows, judged.cells.rows[liked])
    pair = np.unique(np.stack([user, judged.cells.cols[liked]]), axis=1)
    best = host(model.model_.best(on(rows, model.factors_.U), k, UNFITTED).columns)
    by_model = metrics.ranking(best, pair[0], pair[1])
    return Lists(by_model, metrics.ranking(list_popular(model, rows, k), pair[0], pair[1]), limit)


def list_popular(model: Completion, rows: NDArray[Any], k: int) -> NDArray[np.int64]:
    """The k columns with the most cells that each row does not know; −1 where there are fewer."""
    order = np.argsort(-count_by_column(model), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    seen = moved(model.seen_, np.zeros(0))
    known = Seen(seen.pointers, place[seen.indices], seen.values)
    lists = np.full((len(rows), min(k, len(order))), -1, np.int64)
    # Rows that know as many are listed together: of those that know c, k + c columns are enough.
    counts = np.diff(seen.pointers)[rows]
    by_count = np.argsort(counts, kind="stable")
    for part in parts(len(rows), ROWS_AT_ONCE):
        lines = by_count[part]
        width = min(len(order), k + int(counts[lines].max()))
        free = np.ones((len(lines), len(order)), bool)
        hide_cells(free, rows[lines], known, False)
        listed = np.cumsum(free[:, :width], axis=1, dtype=np.int32)
        t, at = np.nonzero(free[:, :width] & (listed <= k))
        lists[lines[t], listed[t, at] - 1] = order[at]
    return lists


def find_typical_rows(model: Completion) -> list[int]:
    """Find rows with few, with the usual number and with many cells.

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.

    Returns
    -------
    list of int
        At most three positions.
    """
    known = np.diff(host(model.seen_.pointers))
    order = np.argsort(known, kind="stable")
    order = order[known[order] > 0]
    places = (len(order) * np.array([0.1, 0.5, 0.9])).astype(int)
    return list(dict.fromkeys(int(order[at]) for at in places))
