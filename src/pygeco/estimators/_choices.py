"""What "auto" stands for in the settings of MatrixCompletion."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pygeco.algorithm.penalties import Penalty
from pygeco.arrays.checks import check_rank
from pygeco.arrays.low_rank import Array
from pygeco.bayes.likelihoods import has_likelihood
from pygeco.estimators._scale import has_bounded_scale
from pygeco.losses import Loss, Squared, find_loss
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import read_parts

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState

MAX_RANK = 200  # components that rank="auto" may reach


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
    if not isinstance(posterior, (int, np.integer)) or posterior < 0:
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
