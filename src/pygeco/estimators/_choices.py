"""What "auto" stands for in the settings of MatrixCompletion."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import Array
from pygeco.estimators._scale import has_bounded_scale
from pygeco.losses import Loss, Squared
from pygeco.objectives.entries.biases import parts


def choose_penalty(
    penalty: str | Penalty | None, loss: Loss, solver: Solver | None, posterior: Any
) -> str | Penalty | None:
    """The penalty that "auto" stands for; an error where the evidence cannot be had."""
    served = isinstance(loss, Squared) or loss.robust
    if isinstance(penalty, str) and penalty not in ("auto", "evidence"):
        raise ValueError(
            f"penalty: unknown name {penalty!r}; use 'auto', 'evidence', None or a penalty."
        )
    if penalty == "auto":
        penalty = "evidence" if served and solver is None else None
    if penalty == "evidence" and not served:
        raise ValueError(
            f"penalty: the evidence is not known for loss={loss.name!r}, only for 'squared', "
            "'huber', 'pseudo-huber', 'log-cosh' and 'absolute'; use None or a penalty."
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
    return parts(penalty == "evidence" if biases == "auto" else biases)


def choose_clip(clip: bool | str, loss: Loss, values: Array, weights: Array) -> bool:
    """Whether predictions are clipped to the range of the values."""
    if clip != "auto":
        if not isinstance(clip, (bool, np.bool_)):
            raise ValueError(f"clip: expected 'auto', True or False, not {clip!r}.")
        return bool(clip)
    return (isinstance(loss, Squared) or loss.robust) and has_bounded_scale(values, weights)
