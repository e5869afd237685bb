"""Predictions beside what was observed: errors, calibration, coverage, the worst cells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import host
from pygeco.arrays.low_rank import Array
from pygeco.clicks.lines import ClickLines
from pygeco.diagnostics.cells import MAX_CELLS, Cells, find_cells, predict_linear
from pygeco.diagnostics.completion import Completion
from pygeco.losses import Logistic, Loss, Ordinal, SmoothedHinge

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
# Half-widths, in deviations, of the central Gaussian intervals of these levels.
WIDTHS = (0.67449, 1.28155, 1.64485, 1.95996, 2.57583)


class Judged(NamedTuple):
    """Predictions beside what was observed, both on the scale of the data.

    Attributes
    ----------
    cells : Cells
        Where.
    observed, predicted : arrays
        One number per cell.
    losses : array
        The loss of what is predicted, at each cell.
    deviation : array or None
        The predicted standard deviation, where the model has one.
    residuals : array
        Observed minus predicted.
    rmse, mae, half_width : float
        Root mean squared and mean absolute error, and half of the 95 % interval of the former.
    """

    cells: Cells
    observed: Array
    predicted: Array
    losses: Array
    deviation: Array | None

    @property
    def residuals(self) -> Array:
        return self.observed - self.predicted

    @property
    def rmse(self) -> float:
        return float(np.sqrt(np.mean(self.residuals**2)))

    @property
    def mae(self) -> float:
        return float(np.mean(np.abs(self.residuals)))

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the RMSE: cells taken as independent, delta method."""
        squares = self.residuals**2
        if len(squares) < 2 or self.rmse == 0:
            return 0.0
        return float(1.96 * squares.std(ddof=1) / np.sqrt(len(squares)) / (2 * self.rmse))


class Bins(NamedTuple):
    """Cells by predicted value, in bins of equal count.

    Attributes
    ----------
    predicted, observed : arrays
        The means of each bin.
    half_width : array
        Of the 95 % interval of the observed mean.
    counts : int array
        The cells of each bin.
    """

    predicted: Array
    observed: Array
    half_width: Array
    counts: NDArray[np.int64]


def judge(model: Completion, data: object = None, most: int = MAX_CELLS) -> Judged:
    """Predict at the cells of `data`, or at the fitted ones. O(cells × rank).

    Parameters
    ----------
    model : MatrixCompletion
        A fitted model.
    data : cells as fit takes them, Cells or None, default=None
        None is the fitted cells.
    most : int, default=1_000_000
        If there are more cells, a random sample of this size is used.

    Returns
    -------
    Judged

    Examples
    --------
    >>> from pygeco import MatrixCompletion, diagnostics
    >>> from pygeco.data import make_ratings
    >>> model = MatrixCompletion(random_state=0).fit(make_ratings((40, 30), 500))
    >>> judged = diagnostics.judge(model)
    >>> len(judged.residuals), bool(judged.rmse < 1)
    (500, True)
    """
    refuse_clicks(model)
    cells = find_cells(model, data, most)
    z = predict_linear(model, cells, model.factors_)
    deviation = None
    if model.model_.likelihood is not None:
        return _judge_by_likelihood(model, cells, z)
    if model.posterior_ is not None:
        found = model.model_.deviation(cells.rows, cells.cols, cells.times)
        deviation = host(found).astype(float)
    predicted = model.model_.respond(z).astype(float)
    shown = predicted if model.loss_.regression else z  # at the ends of the scale where it clips
    return Judged(
        cells,
        to_data_scale(model.loss_, cells.targets),
        predicted,
        np.asarray(model.loss_.value(shown, cells.targets), dtype=float),
        deviation,
    )


def refuse_clicks(model: Completion) -> None:
    """An error for scores of clicks, which have no unit that a residual could be in."""
    if isinstance(model.model_, ClickLines):
        raise ValueError(
            "model: scores of clicks rank columns and predict no values; judge its lists by "
            "evaluate(model, held_out, protocol='all')."
        )


def _judge_by_likelihood(model: Completion, cells: Cells, z: Array) -> Judged:
    """Labels, levels and counts by the evidence: each prediction with its spread."""
    fitted, likelihood = model.model_, model.model_.likelihood
    assert likelihood is not None
    variance = host(fitted.spread(cells.rows, cells.cols)).astype(float)
    return Judged(
        cells,
        to_data_scale(model.loss_, cells.targets),
        np.asarray(fitted.respond(z, variance), dtype=float),
        np.asarray(likelihood.score_loss(cells.targets, z, variance), dtype=float),
        np.asarray(likelihood.deviate(z, variance), dtype=float),
    )


def to_data_scale(loss: Loss, targets: Array) -> Array:
    """Bring targets to the scale of the loss's response: 0/1 for probabilities, levels for levels.

    Parameters
    ----------
    loss : Loss
        Fitted.
    targets : array
        As the loss wants them.

    Returns
    -------
    array
    """
    if isinstance(loss, Ordinal) and loss.levels is not None:
        return np.asarray(loss.levels, dtype=float)[targets.astype(np.int64)]
    if isinstance(loss, Logistic):
        return (targets > 0).astype(float)
    return targets.astype(float)


SCALES = {
    "logistic": "in log-odds",
    "ordinal": "on the scale behind the levels",
    "poisson": "in logarithms of counts",
    "smoothed-hinge": "in margins",
}


def describe_scale(loss: Loss) -> str:
    """Say in which units the parts of a prediction are added, before the loss makes it one.

    Parameters
    ----------
    loss : Loss

    Returns
    -------
    str
        Words that follow "effects are".
    """
    return (
        "in units of the data" if loss.regression else SCALES.get(loss.name, "as before its link")
    )


def has_common_scale(loss: Loss) -> bool:
    """Check whether predictions and targets share a scale; a hinge's margin and label do not.

    Parameters
    ----------
    loss : Loss

    Returns
    -------
    bool
    """
    return not isinstance(loss, SmoothedHinge)


def measure_calibration(judged: Judged, bins: int = 12) -> Bins:
    """Compare mean observation with mean prediction, in bins of (nearly) equal count.

    Parameters
    ----------
    judged : Judged
    bins : int, default=12
        How many, at most.

    Returns
    -------
    Bins
    """
    order = np.argsort(judged.predicted, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    predicted = np.array([judged.predicted[part].mean() for part in parts])
    seen = np.array([judged.observed[part].mean() for part in parts])
    counts = np.array([len(part) for part in parts])
    spread = np.array([judged.observed[part].std() for part in parts])
    return Bins(predicted, seen, 1.96 * spread / np.sqrt(counts), counts)


def measure_coverage(judged: Judged) -> list[tuple[float, float]]:
    """Measure how many cells lie inside the predicted intervals.

    Parameters
    ----------
    judged : Judged

    Returns
    -------
    list of (float, float)
        A level, and the share of cells inside the interval of that level; empty without
        deviations.
    """
    if judged.deviation is None:
        return []
    z = np.abs(judged.residuals) / judged.deviation
    return [
        (level, float(np.mean(z <= width))) for level, width in zip(LEVELS, WIDTHS, strict=True)
    ]


def find_worst(judged: Judged, count: int = 12) -> NDArray[np.int64]:
    """Find the cells with the largest loss.

    Parameters
    ----------
    judged : Judged
    count : int, default=12
        How many.

    Returns
    -------
    int array
        Positions among the judged cells, worst first.
    """
    count = min(count, len(judged.losses))
    found = np.argpartition(-judged.losses, count - 1)[:count] if count else np.zeros(0, int)
    return found[np.argsort(-judged.losses[found], kind="stable")]
