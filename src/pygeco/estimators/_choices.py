"""What "auto" stands for in the settings of MatrixCompletion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.checks import check_rank, is_whole
from pygeco.arrays.coded import Coded
from pygeco.arrays.kinds import host, runs
from pygeco.arrays.low_rank import Array
from pygeco.bayes.likelihoods import has_likelihood
from pygeco.losses import Loss, Squared, find_loss
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import read_parts

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState

MAX_RANK = 200  # components that rank="auto" may reach
MAX_LEVELS = 21  # stars, halves and tenths of them, 0 … 20; more is taken for a plain number
SAMPLE_SIZE = 20_000  # cells from which the step between levels is guessed, before all are checked
# A scale ends where many values are: counts, whose largest one is rare, have no end.
MIN_END_CELLS, MIN_END_SHARE = 5, 1e-3
MAX_GRID_ERROR = 1e-4  # of a step, which float32 may lose


class Choices(NamedTuple):
    """What a fit goes by, and the model then: offsets, penalty, and whether it clips."""

    offsets: tuple[str, ...]
    penalty: str | Penalty | None
    clips: bool


def choose_parts(
    estimator: _CompletionState, entries: Entries, penalty: str | Penalty | None
) -> Choices:
    """What the settings stand for where these are the cells."""
    cells = entries.by_row
    clips = choose_clip(estimator.clip, entries.loss, cells.values, cells.weights)
    return Choices(choose_offsets(estimator.biases, penalty), penalty, clips)


def limit_rank(rank: int | str, shape: tuple[int, int]) -> int:
    """The highest rank of a fit: as given, or what "auto" may reach."""
    if rank == "auto":
        return min(MAX_RANK, *shape)
    return check_rank(rank, shape, instead=" or 'auto'")


def choose_penalty(estimator: _CompletionState) -> str | Penalty | None:
    """The penalty that "auto" stands for; an error where the evidence cannot be had."""
    penalty, loss, posterior = estimator.penalty, find_loss(estimator.loss), estimator.posterior
    served = isinstance(loss, Squared) or loss.robust or has_likelihood(loss)
    if isinstance(penalty, str) and penalty not in ("auto", "evidence"):
        raise ValueError(
            f"penalty: unknown name {penalty!r}; use 'auto', 'evidence', None or a penalty."
        )
    if penalty == "auto":
        penalty = "evidence" if served and estimator.solver is None else None
    if penalty == "evidence" and not served:
        raise ValueError(
            f"penalty: the evidence is not known for loss={loss.name!r}, only for 'squared', "
            "'huber', 'pseudo-huber', 'log-cosh', 'absolute', 'logistic', 'ordinal' and 'poisson'; "
            "use None or a penalty."
        )
    if posterior and penalty != "evidence":
        raise ValueError("posterior: draws need penalty='evidence'.")
    if not is_whole(posterior) or posterior < 0:
        raise ValueError(f"posterior: expected a number of sweeps, at least 0, not {posterior!r}.")
    return penalty


def choose_offsets(
    biases: bool | str | tuple[str, ...], penalty: str | Penalty | None
) -> tuple[str, ...]:
    """The offsets that the settings switch on."""
    return read_parts(penalty == "evidence" if biases == "auto" else biases)


def choose_clip(clip: bool | str, loss: Loss, values: Array, weights: Array) -> bool:
    """Whether predictions are clipped to the range of the values."""
    if clip != "auto":
        if not isinstance(clip, (bool, np.bool_)):
            raise ValueError(f"clip: expected 'auto', True or False, not {clip!r}.")
        return bool(clip)
    return (isinstance(loss, Squared) or loss.robust) and has_bounded_scale(values, weights)


def has_bounded_scale(values: Any, weights: Any) -> bool:
    """Whether all values of weight above zero are on one grid of few levels, with both ends in use.

    A few passes over the values, of any engine.
    """
    if len(weights):
        values = values[weights > 0]
    if not len(values):
        return False
    low, high = float(values.min()), float(values.max())
    levels = np.unique(host(values[:SAMPLE_SIZE]).astype(float))
    if not 2 <= len(levels) <= MAX_LEVELS or not np.isfinite(high - low):
        return False
    least = max(MIN_END_CELLS, MIN_END_SHARE * len(values))
    if min(_count_value(values, end) for end in (low, high)) < least:
        return False
    step = float(np.diff(levels).min())
    return any(_on_grid(values, low, high, part) for part in (step, step / 2))


def _on_grid(values: Any, low: float, high: float, step: float) -> bool:
    if (high - low) / step > MAX_LEVELS - 1 + MAX_GRID_ERROR:
        return False
    values = values.table if isinstance(values, Coded) else values  # all of it is in use
    for part in runs(values):
        places = (values[part] - low) / step
        if not bool((np.abs(places - np.rint(places)) <= MAX_GRID_ERROR).all()):
            return False
    return True


def _count_value(values: Any, wanted: float) -> int:
    if isinstance(values, Coded):
        return int(values.counts[values.table == wanted].sum())
    return sum(int((values[part] == wanted).sum()) for part in runs(values))
