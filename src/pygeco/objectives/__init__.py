"""What is minimized: R(A) = loss ∘ measurement, one file a measurement."""

from pygeco.objectives.base import Gradient, Objective, Span
from pygeco.objectives.clicks.objective import Clicks
from pygeco.objectives.custom import Custom
from pygeco.objectives.dense.objective import Dense
from pygeco.objectives.entries.objective import Entries
from pygeco.objectives.features import Features
from pygeco.objectives.quadratic import Quadratic
from pygeco.objectives.sensing import Sensing

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
