"""A fitted model against ratings that it has not seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.kinds import host
from pygeco.diagnostics import metrics
from pygeco.diagnostics.metrics import Errors, Ranked
from pygeco.estimators._tables import rated


class Evaluation(NamedTuple):
    """Errors, the share inside 90 % intervals (None without the evidence), rankings, how many
    cells have an id that was not fitted, and how many were left out because the model was fitted
    to them.

    A value is relevant to its user if it is at or above `threshold`. Unknown ids count in the
    errors, as the average row or column, and not in the rankings.
    """

    errors: Errors
    coverage: float | None
    ranking: Ranked
    threshold: float
    unknown: int
    fitted: int = 0


def evaluate(
    model: Any,
    X: Any,
    *,
    k: int = 10,
    threshold: float | None = None,
    progress: Callable[[float], object] | None = None,
) -> Evaluation:
    """Judge a MatrixCompletion that was fitted from a table by another table of ratings.

    Cells that the model was fitted to say nothing about new ones: they are left out, and counted.
    `threshold` is the mean of the fitted values by default. Lists leave out what was fitted.
    """
    check_is_fitted(model)
    if model.row_ids_ is None:
        raise ValueError(
            "model: was not fitted from a table, so it has no ids to go by; use score."
        )
    given = rated(model, X)
    fitted = model.was_fitted(given.rows, given.cols)
    if fitted.all():
        raise ValueError(
            f"X: the model was fitted to all of its {len(fitted):,} cells; give cells that were "
            "held out of the fit, or use score."
        )
    new = ~fitted
    cells = given._replace(rows=given.rows[new], cols=given.cols[new])
    observed = given.values[new]
    predicted = host(model.model_.predict(cells.rows, cells.cols))
    covered = None
    if model.posterior_ is not None:
        deviation = host(model.model_.deviation(cells.rows, cells.cols))
        covered = metrics.coverage(predicted, deviation, observed)
    limit = float(model.seen_.values.mean(dtype=float)) if threshold is None else threshold
    known = (cells.rows >= 0) & (cells.cols >= 0)
    liked = known & (observed >= limit)
    users, row = np.unique(cells.rows[liked], return_inverse=True)
    lists = np.full((len(users), min(k, model.factors_.shape[1])), -1, np.int64)
    for at in range(0, len(users), 4096):
        part = slice(at, at + 4096)
        lists[part] = host(model.model_.best(users[part], k, hide_held_out=False).columns)
        if progress is not None:
            progress(min(1.0, (at + 4096) / len(users)))
    ranked = metrics.ranking(lists, row, cells.cols[liked])
    return Evaluation(
        metrics.errors(predicted, observed),
        covered,
        ranked,
        limit,
        int(np.sum(~known)),
        int(fitted.sum()),
    )
