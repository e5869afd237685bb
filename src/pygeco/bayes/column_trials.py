"""What masked cells of a column say of a model: its error, its trust, and widths of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # scipy.special is imported when used

from pygeco.arrays.low_rank import Array
from pygeco.bayes.column_codes import Code, ValueCode
from pygeco.bayes.mixed_table import COVERAGES, Belief, MixedTable

TRUSTS = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0])
TRUST_PRIOR = 2.0  # of (log trust)², so that few cells move it little
WIDTH_PRIOR = 50.0  # masked cells' worth of the table's widths in those of a column


class ColumnTrial(NamedTuple):
    """What the masked cells of one column say.

    error and null are sums: of squares of the error of a number or level and of that of the mean;
    of misses of a category and of the most frequent one. residuals are in deviations of the
    Gaussian's belief.
    """

    cells: int = 0
    error: float = 0.0
    null: float = 0.0
    residuals: Array = np.zeros(0)
    likelihoods: Array = np.zeros(len(TRUSTS))
    null_likelihood: float = 0.0
    absolute: float = 0.0
    null_absolute: float = 0.0

    def __add__(self, other: ColumnTrial) -> ColumnTrial:  # type: ignore[override]
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in self._fields
            if name != "residuals"
        }
        return ColumnTrial(residuals=np.concatenate([self.residuals, other.residuals]), **sums)

    @property
    def loss(self) -> float:
        """The log-loss relative to that of the shares; or the error relative to that of the mean,
        by squares and absolutely, for squares alone say little of heavy tails.
        """
        if self.null_likelihood:
            return float(self.likelihoods.max() / self.null_likelihood)
        if not (0 < self.null < np.inf and self.null_absolute > 0):
            return 1.0
        return 0.5 * (self.error / self.null + (self.absolute / self.null_absolute) ** 2)


def mean_loss(trials: Sequence[ColumnTrial]) -> float:
    """Of the columns with masked cells, each alike."""
    return float(np.mean([t.loss for t in trials if t.cells] or [1.0]))


def pool_losses(trials: Sequence[ColumnTrial], spreads: Array) -> float:
    """The mean loss of a masked cell: of numbers its square over the column's variance.

    Of values, the log-loss relative to that of the shares. Ratios of columns with few masked cells
    would say little.
    """
    total, count = 0.0, 0
    for trial, spread in zip(trials, spreads, strict=True):
        if trial.null_likelihood:
            total += trial.cells * trial.loss
            count += trial.cells
        elif trial.cells and spread > 0:
            total += trial.error / float(spread)
            count += trial.cells
    return total / max(1, count)


def compare_column(
    table: MixedTable, k: int, belief: Belief, truth: Array, middle: Array
) -> ColumnTrial:
    """What the masked cells `truth` say of column k; `middle` is mean and median of the others."""
    code = table.codes[k]
    if isinstance(code, ValueCode):
        return _compare_values(table, k, belief, truth)
    mean, deviation = belief.mean[:, 0], np.sqrt(belief.covariance[:, 0, 0])
    error = code.moments(mean, deviation)[0] - truth
    residuals = (code.encode(truth)[:, 0] - mean) / deviation
    return ColumnTrial(
        len(truth),
        _add_squares(error),
        _add_squares(middle[0] - truth),
        residuals,
        absolute=float(np.abs(code.decode(mean) - truth).sum()),
        null_absolute=float(np.abs(middle[1] - truth).sum()),
    )


def _add_squares(error: Array) -> float:
    with np.errstate(over="ignore"):
        return float(np.sum(error**2))


def _compare_values(table: MixedTable, k: int, belief: Belief, truth: Array) -> ColumnTrial:
    code = table.codes[k]
    if not isinstance(code, ValueCode) or code.width == 0:
        return ColumnTrial()
    at = code.find(truth)
    belief, truth, at = belief.take(at >= 0), truth[at >= 0], at[at >= 0]
    if not len(at):
        return ColumnTrial()
    with np.errstate(divide="ignore"):
        logs = np.log(code.shares)
    said = code.discriminate(belief.mean, belief.covariance, table.prior(k))
    scores = logs + TRUSTS[:, None, None] * said
    scores -= scores.max(axis=2, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=2, keepdims=True))
    likelihoods = scores[:, np.arange(len(at)), at].sum(axis=1)
    best = scores[np.argmax(likelihoods)]
    if code.is_ordered:
        error = _add_squares(np.exp(best) @ code.values - truth)
        null = _add_squares(code.shares @ code.values - truth)
    else:
        error = float(np.sum(at != best.argmax(axis=1)))
        null = float(np.sum(at != code.shares.argmax()))
    return ColumnTrial(len(at), error, null, np.zeros(0), likelihoods, float(logs[at].sum()))


def trust_code(code: Code, trial: ColumnTrial) -> Code:
    """The code with what other cells say of its values weighed as the trial has it."""
    if not isinstance(code, ValueCode):
        return code
    best = np.argmax(trial.likelihoods - TRUST_PRIOR * np.log(TRUSTS) ** 2)
    return code._replace(trust=float(TRUSTS[best]))


def measure_widths(trials: Sequence[ColumnTrial]) -> Array:
    """Quantiles of the residuals over a normal's, those of few cells drawn to the table's."""
    normal = scipy.special.ndtri(0.5 + COVERAGES / 2)
    pool = np.concatenate([t.residuals for t in trials])
    if len(pool) < WIDTH_PRIOR:
        return np.ones((len(trials), len(COVERAGES)))
    table = _take_widths(pool, normal)
    found = [
        (t.cells * _take_widths(t.residuals, normal) + WIDTH_PRIOR * table)
        / (t.cells + WIDTH_PRIOR)
        if len(t.residuals)
        else table
        for t in trials
    ]
    return np.array(found)


def _take_widths(residuals: Array, normal: Array) -> Array:
    shares = np.minimum(COVERAGES * (1 + 1 / len(residuals)), 1)
    return np.quantile(np.abs(residuals), shares) / normal
