"""A fitted model against ratings that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.kinds import host
from pygeco.diagnostics import metrics
from pygeco.diagnostics.judging import to_data_scale
from pygeco.diagnostics.metrics import Errors, Ranked
from pygeco.estimators._choosing import settle_lists
from pygeco.estimators._tables import Rated, find_given_cells, locate_ratings
from pygeco.estimators.list_evaluation import (
    ListEvaluation,
    judge_against_negatives,
    judge_all_columns,
    judge_new_rows,
)
from pygeco.io.tables import is_table
from pygeco.models.ranking import UNFITTED

if TYPE_CHECKING:
    from pygeco.estimators.completion import MatrixCompletion

USERS_AT_ONCE = 1 << 15  # users ranked at once


class Evaluation(NamedTuple):
    """How well a fitted model predicts ratings that it has not seen.

    Attributes
    ----------
    errors : Errors
        RMSE with its interval, and mean absolute error. Unknown ids count as the average row or
        column.
    coverage : float or None
        The share of the values inside their 90 % intervals; None without the evidence, and of
        labels.
    ranking : Ranked
        Precision, recall and NDCG of the lists. Unknown ids do not count.
    threshold : float
        Values at or above this are relevant to their user.
    unknown : int
        Cells with an id that was not fitted.
    fitted : int
        Cells that were left out because the model was fitted to them.
    """

    errors: Errors
    coverage: float | None
    ranking: Ranked
    threshold: float
    unknown: int
    fitted: int = 0


@overload
def evaluate(
    model: MatrixCompletion,
    X: Any,
    *,
    protocol: Literal["ratings"] = "ratings",
    k: int | None = None,
    threshold: float | None = None,
    progress: Callable[[float], object] | None = None,
) -> Evaluation: ...


@overload
def evaluate(
    model: Any,
    X: Any,
    *,
    protocol: Literal["all", "leave-one-out", "new-rows"],
    k: int | Sequence[int] | None = None,
    threshold: float | None = None,
    seen: Any = None,
    negatives: Any = None,
    given: Any = None,
    progress: Callable[[float], object] | None = None,
) -> ListEvaluation: ...


def evaluate(
    model: Any,
    X: Any,
    *,
    protocol: str = "ratings",
    k: Any = None,
    threshold: float | None = None,
    seen: Any = None,
    negatives: Any = None,
    given: Any = None,
    progress: Callable[[float], object] | None = None,
) -> Evaluation | ListEvaluation:
    """Judge a model by cells that it was not fitted to.

    Cells that the model was fitted to are left out and counted, because they say nothing about new
    ones. Lists leave out what was fitted.

    Parameters
    ----------
    model : MatrixCompletion, pair of arrays, or object with shape and score_rows
        For "ratings", a fitted `MatrixCompletion`. For the other protocols, anything that
        scores columns: a fitted estimator, factors U (m, r) and V (n, r), or an
        object whose `score_rows(rows)` returns the scores of all columns for these rows, (rows, n).
    X : table, sparse matrix, tuple (rows, cols) or CellList
        The held-out cells: ratings, as `fit` takes them, or clicks.
    protocol : str, default="ratings"
        "ratings": errors of predicted values, and lists of length k, in which values at or above
        `threshold` are relevant. "all": for every row with a held-out click, all columns that it
        has not clicked before are ranked. "leave-one-out": each held-out click is ranked among the
        columns that `negatives` lists for it. "new-rows": like "all", for rows that were not in the
        fit and are folded in from the clicks in `given`.
    k : int, sequence of ints or None, default=None
        The lengths of lists. "ratings" takes one length, by default 10; the other protocols use 10
        and 20 by default.
    threshold : float or None, default=None
        Values at or above this are relevant. By default this is the mean of the fitted values for
        "ratings"; for the other protocols every cell is relevant.
    seen : sparse matrix, tuple or None, default=None
        The clicks that lists leave out; by default those of the fit.
    negatives : sequence of arrays or None, default=None
        For each held-out click, in the order of X, the columns to rank it among; ids if the model
        was fitted from a table.
    given : sparse matrix, table or None, default=None
        The known clicks of new rows, in the numbering of X, or with its ids.
    progress : callable or None, default=None
        Called with the share of the work that is done.

    Returns
    -------
    Evaluation or ListEvaluation
        The former for "ratings".

    Examples
    --------
    >>> import pandas as pd
    >>> from pygeco import MatrixCompletion, evaluate
    >>> from pygeco.data import make_ratings, split_cells
    >>> user, item, rating, _ = make_ratings((40, 30), 500)
    >>> table = pd.DataFrame({"user": user, "item": item, "rating": rating})
    >>> held_out = split_cells(500)
    >>> model = MatrixCompletion(random_state=0).fit(table[~held_out])
    >>> found = evaluate(model, table[held_out])
    >>> bool(found.errors.cells == held_out.sum()), found.fitted
    (True, 0)

    Lists of any scores, by clicks that were held out:

    >>> import numpy as np
    >>> U, V = np.array([[1.0], [1.0]]), np.array([[3.0], [2.0], [1.0]])
    >>> seen, held = (np.array([0, 1]), np.array([0, 1])), (np.array([0, 1]), np.array([1, 2]))
    >>> evaluate((U, V), held, protocol="all", seen=seen, k=[1, 2]).recall
    {1: 0.5, 2: 1.0}
    """
    settings = {"threshold": threshold, "seen": seen, "negatives": negatives, "given": given}
    _check_settings(protocol, settings)
    if protocol == "all":
        return judge_all_columns(model, X, k, seen=seen, threshold=threshold, progress=progress)
    if protocol == "leave-one-out":
        return judge_against_negatives(model, X, k, negatives=negatives, progress=progress)
    if protocol == "new-rows":
        return judge_new_rows(model, X, k, given=given, threshold=threshold, progress=progress)
    return _judge_ratings(model, X, 10 if k is None else k, threshold, progress)


PROTOCOLS = {  # and what goes with each
    "ratings": ("threshold",),
    "all": ("threshold", "seen"),
    "leave-one-out": ("negatives",),
    "new-rows": ("threshold", "given"),
}


def _check_settings(protocol: str, settings: dict[str, Any]) -> None:
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol: expected one of {tuple(PROTOCOLS)}, not {protocol!r}.")
    for name, value in settings.items():
        if value is not None and name not in PROTOCOLS[protocol]:
            fits = [each for each, names in PROTOCOLS.items() if name in names]
            raise ValueError(f"{name}: is for protocol={' or '.join(map(repr, fits))}.")


def _judge_ratings(
    model: MatrixCompletion,
    X: Any,
    k: int,
    threshold: float | None,
    progress: Callable[[float], object] | None,
) -> Evaluation:
    """Errors of predicted values, and lists by those that are relevant."""
    check_is_fitted(model)
    given = _find_rated(model, X)
    fitted = model.was_fitted(given.rows, given.cols)
    if fitted.all():
        raise ValueError(
            f"X: the model was fitted to all of its {len(fitted):,} cells; give cells that were "
            "held out of the fit, or use score."
        )
    rows, cols, targets = (part[~fitted] for part in (given.rows, given.cols, given.values))
    observed = to_data_scale(model.loss_, targets)  # a fit keeps codes of labels and of levels
    times = None if given.times is None else given.times[~fitted]
    predicted = host(model.model_.predict(rows, cols, times))
    covered = None
    if model.posterior_ is not None and model.loss_.name != "logistic":
        deviation = host(model.model_.deviation(rows, cols, times))
        covered = metrics.coverage(predicted, deviation, observed)
    limit = _find_mean(model) if threshold is None else threshold
    known = (rows >= 0) & (cols >= 0)
    liked = known & (observed >= limit)
    settle_lists(model, "auto")
    users, row = np.unique(rows[liked], return_inverse=True)
    ranked = metrics.ranking(_list_best(model, users, k, progress), row, cols[liked])
    return Evaluation(
        metrics.errors(predicted, observed),
        covered,
        ranked,
        limit,
        int(np.sum(~known)),
        int(fitted.sum()),
    )


def _find_mean(model: MatrixCompletion) -> float:
    """Of the fitted values."""
    values = model.seen_.values
    if not model.loss_.regression:
        values = to_data_scale(model.loss_, host(values))
    return float(values.mean(dtype=float))


def _find_rated(model: MatrixCompletion, X: Any) -> Rated:
    """Cells by the ids of the fit, −1 for an unknown one, or by position where it had none."""
    if model.row_ids_ is None:
        if is_table(X):
            raise ValueError(
                "X: a table of ids needs a model that was fitted from one; give cells by position, "
                "(rows, cols, values)."
            )
        return find_given_cells(model, X)
    return locate_ratings(model, X)


def _list_best(
    model: MatrixCompletion,
    users: NDArray[np.int64],
    k: int,
    progress: Callable[[float], object] | None,
) -> NDArray[np.int64]:
    """The best columns of each user, in blocks, without those that were fitted."""
    lists = np.full((len(users), min(k, model.factors_.shape[1])), -1, np.int64)
    for at in range(0, len(users), USERS_AT_ONCE):
        part = slice(at, at + USERS_AT_ONCE)
        lists[part] = host(model.model_.best(users[part], k, UNFITTED).columns)
        if progress is not None:
            progress(min(1.0, (at + USERS_AT_ONCE) / len(users)))
    return lists
