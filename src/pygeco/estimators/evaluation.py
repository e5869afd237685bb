"""A fitted model against ratings that it has not seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.kinds import host
from pygeco.diagnostics import metrics
from pygeco.diagnostics.metrics import Errors, Ranked
from pygeco.estimators._tables import locate_ratings

if TYPE_CHECKING:
    from pygeco.estimators.completion import MatrixCompletion

USERS_AT_ONCE = 4096  # users ranked at once


class Evaluation(NamedTuple):
    """How a fitted model does at ratings that it has not seen.

    Attributes
    ----------
    errors : Errors
        RMSE with its interval, and mean absolute error. Unknown ids count as the average row or
        column.
    coverage : float or None
        The share of the values inside their 90 % intervals; None without the evidence.
    ranking : Ranked
        Precision, recall and NDCG of the lists. Unknown ids do not count.
    threshold : float
        From which on a value is relevant to its user.
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


def evaluate(
    model: MatrixCompletion,
    X: Any,
    *,
    k: int = 10,
    threshold: float | None = None,
    progress: Callable[[float], object] | None = None,
) -> Evaluation:
    """Judge a `MatrixCompletion` that was fitted from a table by another table of ratings.

    Cells that the model was fitted to say nothing about new ones: they are left out, and counted.
    Lists leave out what was fitted.

    Parameters
    ----------
    model : MatrixCompletion
        Fitted from a table.
    X : table
        Ratings, as `fit` takes them.
    k : int, default=10
        The length of the lists.
    threshold : float or None, default=None
        From which on a value is relevant; by default the mean of the fitted values.
    progress : callable or None, default=None
        Called with the share that is done.

    Returns
    -------
    Evaluation

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
    """
    check_is_fitted(model)
    if model.row_ids_ is None:
        raise ValueError(
            "model: was not fitted from a table, so it has no ids to go by; use score."
        )
    given = locate_ratings(model, X)
    fitted = model.was_fitted(given.rows, given.cols)
    if fitted.all():
        raise ValueError(
            f"X: the model was fitted to all of its {len(fitted):,} cells; give cells that were "
            "held out of the fit, or use score."
        )
    rows, cols, observed = (part[~fitted] for part in given)
    predicted = host(model.model_.predict(rows, cols))
    covered = None
    if model.posterior_ is not None:
        deviation = host(model.model_.deviation(rows, cols))
        covered = metrics.coverage(predicted, deviation, observed)
    limit = float(model.seen_.values.mean(dtype=float)) if threshold is None else threshold
    known = (rows >= 0) & (cols >= 0)
    liked = known & (observed >= limit)
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
        lists[part] = host(model.model_.best(users[part], k, hide_held_out=False).columns)
        if progress is not None:
            progress(min(1.0, (at + USERS_AT_ONCE) / len(users)))
    return lists
