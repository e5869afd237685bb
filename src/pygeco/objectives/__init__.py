"""What is minimized: R(A) = loss ∘ measurement, one file a measurement."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pygeco.objectives.base import Gradient, Objective, Span
from pygeco.objectives.entries.objective import Entries

if TYPE_CHECKING:
    from pygeco.objectives.clicks.objective import Clicks
    from pygeco.objectives.custom import Custom
    from pygeco.objectives.dense.objective import Dense
    from pygeco.objectives.features import Features
    from pygeco.objectives.quadratic import Quadratic
    from pygeco.objectives.sensing import Sensing

# Each is imported when first used: a fitted model, which is asked, needs none of them.
_HOMES = {
    "Clicks": "clicks.objective",
    "Custom": "custom",
    "Dense": "dense.objective",
    "Features": "features",
    "Quadratic": "quadratic",
    "Sensing": "sensing",
}

__all__ = [
    "Clicks",
    "Custom",
    "Dense",
    "Entries",
    "Features",
    "Gradient",
    "Objective",
    "Quadratic",
    "Sensing",
    "Span",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pygeco.objectives' has no attribute {name!r}")
    found = getattr(import_module(f"pygeco.objectives.{_HOMES[name]}"), name)
    globals()[name] = found  # the next time it is found without this function
    return found
