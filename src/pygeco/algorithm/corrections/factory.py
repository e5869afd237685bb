"""Which correction: by its name, or for "auto" by what the objective and the penalty allow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pygeco.algorithm.corrections.base import Correction
from pygeco.algorithm.corrections.core import Core
from pygeco.algorithm.corrections.descent import Descent
from pygeco.algorithm.corrections.diagonal import Diagonal
from pygeco.algorithm.corrections.sweep import Sweep, is_separable
from pygeco.algorithm.penalties import Penalty
from pygeco.objectives.base import Objective

AUTO = "auto"
MAKERS: dict[str, Callable[[Penalty | None, float], Correction]] = {
    "core": lambda penalty, tol: Core(penalty),
    "descent": Descent,
    "diagonal": lambda penalty, tol: Diagonal(penalty),
    "sweep": Sweep,
}


def check_name(name: str) -> None:
    """Refuse what is neither a correction nor "auto"."""
    if name != AUTO and name not in MAKERS:
        raise ValueError(
            f"correction: unknown name {name!r}; use 'auto', 'core', 'descent', 'diagonal' or "
            "'sweep'."
        )


def make_correction(name: str, penalty: Penalty | None, tol: float = 1e-6) -> Correction:
    """The correction called `name`, which is not "auto"."""
    if name not in MAKERS:
        check_name(name)
        raise ValueError("correction: 'auto' is no correction yet; choose_name says which it is.")
    return MAKERS[name](penalty, tol)


def choose_name(name: str, objective: Objective, penalty: Penalty | None, rank: int) -> str:
    """What "auto" stands for: the objective's own, but no sweeps with a penalty that they lack.

    With a trace norm the core alone would stop short of the optimum, and a descent follows it.
    """
    if name != AUTO:
        return name
    if not (objective.can_sweep and is_separable(penalty)):
        return "descent" if penalty is not None and penalty.threshold > 0 else "core"
    penalized = penalty is not None and penalty.value(np.ones(1)) > 0
    return objective.default_correction(penalized=penalized, rank=rank)


def resolve_auto(name: str, default: str) -> str:
    """The name, or another default in place of "auto"."""
    return default if name == AUTO else name
